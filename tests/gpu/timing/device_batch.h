// The arrays of a row's batch on the device: the distinct instances again and again, outputs and all padding NaN; and
// the comparison of what a kernel wrote with the host's numbers, of which the greater part is done on the device.
#pragma once
#include <cstring>

#include "tests/gpu/timing/program.h"
#include "tests/gpu/timing/row_case.h"

namespace featherstorm::testing {

// Finds words of an array that are not those of its first block, and padding that is not NaN as fill() made it.
class Repetitions {
 public:
  Repetitions()
      : kernel_("const unsigned* data, unsigned* found, long stride, long components, long words, long block",
                "  for (long c = 0; c < components; c++) {\n"
                "    const unsigned x = data[c * stride + i];\n"
                "    const unsigned expected = i < words ? data[c * stride + i % block] : 0xffffffffu;\n"
                "    if (x != expected) found[0] = 1;\n"
                "  }\n"),
        found_(Precision::float32, 1, 1, 0) {
    // it must see one wrong word among many, and one in the padding
    const Buffer b(Precision::float32, 1001, 3, 0);
    const auto set = [&](long i, int value) {
      succeed(device_table().fill(0, nullptr, b.component<float>(2) + i, value, 4));
    };
    for (int c = 0; c < 3; c++)
      succeed(device_table().fill(0, nullptr, b.component<float>(c) + 1001, 255, 4 * (b.stride() - 1001)));
    const bool clean = hold(b, 100, nullptr);
    set(1000, 3);
    const bool wrong = hold(b, 100, nullptr);
    set(1000, 0), set(1001, 0);
    if (!clean || wrong || hold(b, 100, nullptr))
      throw std::runtime_error("the comparison on the device does not see what is wrong");
  }
  // Whether instances `block`.. of the array repeat those before.
  bool hold(const Buffer& b, long block, void* stream) const {
    const ArrayRef a = b.ref();
    if (a.components == 0 || a.instances == 0) return true;
    const long w = a.precision == Precision::float32 ? 1 : 2;
    unsigned* found = reinterpret_cast<unsigned*>(found_.component<float>(0));
    succeed(device_table().fill(0, stream, found, 0, 4));
    kernel_.launch(b.stride() * w, 256, stream, static_cast<const unsigned*>(a.data), found, b.stride() * w,
                   a.components, a.instances * w, block * w);
    unsigned there = 0;
    succeed(device_table().copy(CopyKind::to_host, stream, &there, 4, found, 4, 4, 1));
    succeed(device_table().synchronise(0, stream));
    return there == 0;
  }

 private:
  SmallKernel kernel_;
  Buffer found_;
};

template <class Real>
bool same_bits(const std::vector<std::vector<Real>>& a, const std::vector<std::vector<Real>>& b) {
  for (std::size_t k = 0; k < a.size(); k++)
    if (std::memcmp(a[k].data(), b[k].data(), a[k].size() * sizeof(Real)) != 0) return false;
  return true;
}

template <class Real>
class DeviceBatch {
 public:
  DeviceBatch(const RowCase& row, long count, void* stream) : row_(row), count_(count), stream_(stream) {
    constexpr Precision p = precision_of<Real>();
    uniform_ = row.uniforms<Real>();
    std::size_t numbers = 0;
    for (const auto& a : row.in) {
      if (a.uniform) {  // read on the host by kernels for any robot, not at all by a robot's own
        in_.push_back({uniform_.data() + numbers, 0}), numbers += a.size;
        continue;
      }
      const Buffer& b = own_.emplace_back(p, count, a.size, 0, stream);
      const std::size_t k = own_.size() - 1;
      poison(b);
      std::vector<Real> first(static_cast<std::size_t>(block()) * a.size);
      for (int c = 0; c < a.size; c++)
        for (long i = 0; i < block(); i++) first[c * block() + i] = static_cast<Real>(row.inputs[i][k][c]);
      copy_rows(CopyKind::to_device, b.component<Real>(0), b.stride(), first.data(), block(), block(), a.size);
      succeed(device_table().synchronise(0, stream));
      for (long n = block(); n < count; n *= 2)  // what is there, once more behind itself
        copy_rows(CopyKind::on_device, b.component<Real>(0) + n, b.stride(), b.component<Real>(0), b.stride(),
                  std::min(n, count - n), a.size);
      in_.push_back({b.component<Real>(0), b.stride()});
    }
    for (const auto& a : row.out) {
      const Buffer& b = out_.emplace_back(p, count, a.size, 0, stream);
      out_arrays_.push_back({b.component<Real>(0), b.stride()});
    }
  }
  DeviceBatch(const DeviceBatch&) = delete;
  DeviceBatch& operator=(const DeviceBatch&) = delete;
  const std::vector<Array>& in() const { return in_; }
  const std::vector<Array>& out() const { return out_arrays_; }
  const void* uniform() const { return uniform_.data(); }
  long count() const { return count_; }
  long block() const { return std::min<long>(count_, row_.instances); }

  void poison() const {
    for (const Buffer& b : out_) poison(b);
  }
  // The first instances of all outputs.
  std::vector<std::vector<Real>> results() const {
    std::vector<std::vector<Real>> all;
    for (const Buffer& b : out_) {
      const long n = b.ref().components;
      all.emplace_back(static_cast<std::size_t>(n * block()));
      copy_rows(CopyKind::to_host, all.back().data(), block(), b.component<Real>(0), b.stride(), block(), n);
    }
    succeed(device_table().synchronise(0, stream_));
    return all;
  }
  bool repeats(const Repetitions& check) const {
    for (const Buffer& b : out_)
      if (!check.hold(b, block(), stream_)) return false;
    return true;
  }
  // The greatest difference from the host, relative to the array's greatest number; `ok`: within the tolerance.
  double error(const std::vector<std::vector<Real>>& found, bool* ok) const {
    const std::vector<double>& tolerance = sizeof(Real) == 4 ? row_.tolerance_float : row_.tolerance_double;
    double worst = 0;
    *ok = true;
    for (std::size_t k = 0; k < found.size(); k++) {
      const long n = block();
      for (std::size_t at = 0; at < found[k].size(); at++) {
        const double e = std::abs(double(found[k][at]) - row_.exact[at % n][k][at / n]);
        if (!(e <= tolerance[k])) *ok = false;
        const double relative = std::isnan(e) ? std::numeric_limits<double>::infinity() : e / (row_.scale[k] + 1e-30);
        worst = std::max(worst, relative);
      }
    }
    return worst;
  }

 private:
  void poison(const Buffer& b) const {
    const ArrayRef a = b.ref();
    succeed(device_table().fill(0, stream_, a.data, 255, sizeof(Real) * b.stride() * a.components));
  }
  void copy_rows(CopyKind kind, void* to, long to_stride, const void* from, long from_stride, long numbers,
                 long rows) const {
    if (rows > 0)
      succeed(device_table().copy(kind, stream_, to, sizeof(Real) * to_stride, from, sizeof(Real) * from_stride,
                                  sizeof(Real) * numbers, rows));
  }
  const RowCase& row_;
  long count_;
  void* stream_;
  std::vector<Buffer> own_, out_;  // inputs, outputs
  std::vector<Array> in_, out_arrays_;
  std::vector<Real> uniform_;
};

}  // namespace featherstorm::testing
