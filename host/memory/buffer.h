// Arrays of a batch: Buffer owns aligned memory in the engine's layout, ArrayRef refers to an array of any layout.
// Both may be on the host or on a CUDA device.
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

// A device is the number of a CUDA device, or
inline constexpr int on_host = -1;

// Stride between components in the engine's memory, in elements, for this number of instances.
// - Device: a multiple of 128 bytes, so that a warp reads one line, but not of 1024 elements.
// - Host: an odd multiple of 16, the widest pack. Components a power of two apart share few sets of the first-level
//   cache and would displace each other.
inline long padded_stride(long instances, Precision p, int device) {
  const long step = device == on_host ? 16 : static_cast<long>(128 / bytes_of(p));
  const long steps = (instances + step - 1) / step;
  if (device == on_host) return instances > 0 ? (steps | 1) * step : 0;
  const long stride = steps * step;
  return stride > 0 && stride % 1024 == 0 ? stride + step : stride;
}

// Reference to an array of shape (instances, components); strides in elements, any sign.
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

// Words for messages: "float32", "the host" or "CUDA device 1", "(4096, 12)".
std::string words(Precision p);
std::string place(int device);
std::string shape_words(long instances, long components);

// An array exceeds the machine's memory or the free memory. The message gives the number of bytes. In Python
// MemoryError.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

// Owned memory [component][stride], instance fastest; the stride is padded_stride.
class Buffer {
 public:
  Buffer() = default;
  // components >= 0, instances >= 0; zero-filled. On a device, memory is allocated, cleared and released in the order
  // of `stream` (a cudaStream_t, null: the default stream). The stream must outlive the Buffer, and the caller orders
  // the work of other streams. Throws OutOfMemory; throws Error with CUDA's reason if a device refuses the memory.
  Buffer(Precision precision, long instances, long components, int device = on_host, void* stream = nullptr);
  ArrayRef ref() const { return {data_.get(), precision_, instances_, components_, 1, stride_, true, device_}; }
  int device() const { return device_; }
  // The numbers of a component; on a device, an address in device memory.
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
