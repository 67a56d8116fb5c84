// Arrays of a batch: owned, aligned buffers in the engine's layout, and references to arrays of any layout, on the host or
// on a CUDA device.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <string>

#include "host/memory/kernel.h"

namespace featherstorm {

enum class Precision { float32, float64 };
template <class Real> constexpr Precision precision_of() {
  return sizeof(Real) == 4 ? Precision::float32 : Precision::float64;
}
inline std::size_t bytes_of(Precision p) { return p == Precision::float32 ? 4 : 8; }

// Where memory lies: a CUDA device's number, or
inline constexpr int on_host = -1;

// Elements from one component to the next in memory of the engine, for so many instances. On a device a multiple of 128
// bytes, so that the access of a warp is one line, but not of 1024 elements. On the host an odd multiple of 16, the widest
// pack: components that lie a power of two apart share few sets of the first cache, and would displace each other.
inline long padded_stride(long instances, Precision p, int device) {
  const long step = device == on_host ? 16 : static_cast<long>(128 / bytes_of(p));
  const long steps = (instances + step - 1) / step;
  if (device == on_host) return instances > 0 ? (steps | 1) * step : 0;
  const long stride = steps * step;
  return stride > 0 && stride % 1024 == 0 ? stride + step : stride;
}

// An array of shape (instances, components) somewhere in memory; strides in elements, any sign.
struct ArrayRef {
  void* data = nullptr;
  Precision precision = Precision::float32;
  long instances = 0;
  long components = 0;
  long instance_stride = 1;
  long component_stride = 0;
  bool padded = false;  // aligned memory whose padding up to the next full pack may be overwritten
  int device = on_host;
};

// For messages: "float32", "the host" or "CUDA device 1", "(4096, 12)".
std::string words(Precision p);
std::string place(int device);
std::string shape_words(long instances, long components);

// An array that is larger than the machine's memory, or than what is left of it; says how many bytes. In Python MemoryError.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

// Owned memory [component][stride], instance fastest, its stride that of padded_stride.
class Buffer {
 public:
  Buffer() = default;
  // components >= 0, instances >= 0; zero-filled. On a device memory is taken, cleared and given back in the order of
  // `stream` (a cudaStream_t, null: the default stream), which must outlive the Buffer; the caller orders the work of other
  // streams.
  // Throws OutOfMemory; Error with CUDA's reason where a device's memory cannot be had.
  Buffer(Precision precision, long instances, long components, int device = on_host, void* stream = nullptr);
  ArrayRef ref() const { return {data_.get(), precision_, instances_, components_, 1, stride_, true, device_}; }
  int device() const { return device_; }
  // The numbers of a component; on a device an address there.
  template <class Real> Real* component(long c) const { return static_cast<Real*>(data_.get()) + c * stride_; }
  long stride() const { return stride_; }
  std::shared_ptr<void> memory() const { return data_; }

 private:
  std::shared_ptr<void> data_;
  Precision precision_ = Precision::float32;
  long instances_ = 0, components_ = 0, stride_ = 0;
  int device_ = on_host;
};

}  // namespace featherstorm
