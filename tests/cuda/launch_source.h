// What a launch of a kernel is told as JSON: bytes, and the results expected with a tolerance.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace featherstorm::testing {

constexpr unsigned long base = 0x700000000000;  // address of the memory block as the kernel sees it

inline std::string hex(const void* data, std::size_t bytes) {
  std::string s;
  char two[3];
  for (std::size_t i = 0; i < bytes; i++) {
    std::snprintf(two, sizeof two, "%02x", static_cast<const unsigned char*>(data)[i]);
    s += two;
  }
  return s;
}

// The outputs of all instances. Their tolerance: what the host's form of the same precision is off by, times 4, plus some rounding:
// `digits` of the greatest numbers.
template <class Real = float> class Expected {
 public:
  explicit Expected(int outputs, double digits = sizeof(Real) == 4 ? 1e-6 : 5e-14)
      : digits_(digits), error_(outputs), scale_(outputs) {}

  // One instance by the host in more digits and in those of the kernel; at(k, c) is the place of component c of output k, in numbers.
  template <class Exact, class Place>
  void add(const std::vector<std::vector<Exact>>& exact, const std::vector<std::vector<Real>>& rounded, Place at) {
    for (std::size_t k = 0; k < exact.size(); k++)
      for (std::size_t c = 0; c < exact[k].size(); c++) {
        const double value = static_cast<double>(exact[k][c]);
        error_[k] = std::max(error_[k], static_cast<double>(std::abs(rounded[k][c] - exact[k][c])));
        scale_[k] = std::max(scale_[k], std::abs(value));
        char text[100];
        std::snprintf(text, sizeof text, "%s[%zu, %zu, %.17g]", values_.empty() ? "" : ", ", k,
                      static_cast<std::size_t>(at(k, c)) * sizeof(Real), value);
        values_ += text;
      }
  }
  // That output k may be off by so much.
  void allow(std::size_t k, double error) { error_[k] = std::max(error_[k], error / 4); }
  // [output, byte, value], ...
  const std::string& values() const { return values_; }
  // of each output
  std::string tolerances() const {
    std::string text;
    for (std::size_t k = 0; k < error_.size(); k++) {
      char one[40];
      std::snprintf(one, sizeof one, "%s%.6g", k ? ", " : "", 4 * error_[k] + digits_ * (5 * scale_[k] + 1));
      text += one;
    }
    return text;
  }

 private:
  double digits_;
  std::vector<double> error_, scale_;
  std::string values_;
};

}  // namespace featherstorm::testing
