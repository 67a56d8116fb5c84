// What a launch of a float kernel is told as JSON: bytes, and the results expected in double with a tolerance.
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

// The outputs of all instances. Their tolerance: what the host's float form is off by, times 4, plus some rounding.
class Expected {
 public:
  explicit Expected(int outputs) : error_(outputs), scale_(outputs) {}

  // One instance by the host in double and in float; at(k, c) is the place of component c of output k, in floats.
  template <class Place>
  void add(const std::vector<std::vector<double>>& exact, const std::vector<std::vector<float>>& rounded, Place at) {
    for (std::size_t k = 0; k < exact.size(); k++)
      for (std::size_t c = 0; c < exact[k].size(); c++) {
        error_[k] = std::max(error_[k], std::abs(rounded[k][c] - exact[k][c]));
        scale_[k] = std::max(scale_[k], std::abs(exact[k][c]));
        char text[100];
        std::snprintf(text, sizeof text, "%s[%zu, %zu, %.17g]", values_.empty() ? "" : ", ", k,
                      static_cast<std::size_t>(at(k, c)) * 4, exact[k][c]);
        values_ += text;
      }
  }
  // [output, byte, value], ...
  const std::string& values() const { return values_; }
  // of each output
  std::string tolerances() const {
    std::string text;
    for (std::size_t k = 0; k < error_.size(); k++)
      text += (k ? ", " : "") + std::to_string(4 * error_[k] + 5e-6 * scale_[k] + 1e-6);
    return text;
  }

 private:
  std::vector<double> error_, scale_;
  std::string values_;
};

}  // namespace featherstorm::testing
