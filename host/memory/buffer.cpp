#include "host/memory/buffer.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "host/memory/device.h"

namespace featherstorm {
namespace {

std::string array_words(Precision p, long instances, long components) {
  return "an array of " + shape_words(instances, components) + " " + words(p);
}

// Some systems grant memory that they do not have, and end the process once it is written. Therefore the total is checked
// first.
std::size_t checked_bytes(Precision p, long instances, long components, long stride, int device) {
  std::size_t bytes = 0;
  const bool fits =
      !__builtin_mul_overflow(static_cast<std::size_t>(stride), static_cast<std::size_t>(components), &bytes) &&
      !__builtin_mul_overflow(bytes, bytes_of(p), &bytes);
  const std::size_t all =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (!fits || (device == on_host && bytes > all))
    throw OutOfMemory(array_words(p, instances, components) + " needs " + (fits ? std::to_string(bytes) : "over 2^64") +
                      " bytes, this machine has " + std::to_string(all) + ": use several smaller batches");
  return bytes;
}

}  // namespace

std::string words(Precision p) { return p == Precision::float32 ? "float32" : "float64"; }
std::string place(int device) { return device == on_host ? "the host" : "CUDA device " + std::to_string(device); }
std::string shape_words(long instances, long components) {
  std::string s = "(";  // g++ 12 gives a false warning for a sum that begins with a literal
  return s.append(std::to_string(instances)).append(", ").append(std::to_string(components)).append(")");
}

Buffer::Buffer(Precision precision, long instances, long components, int device, void* stream)
    : precision_(precision),
      instances_(instances),
      components_(components),
      stride_(padded_stride(instances, precision, device)),
      device_(device) {
  const std::size_t bytes = checked_bytes(precision, instances, components, stride_, device);
  if (device != on_host) {
    data_ = device_memory(device, bytes, stream);
    return;
  }
  if (bytes == 0) return;
  void* p = std::aligned_alloc(batch_alignment, (bytes + batch_alignment - 1) / batch_alignment * batch_alignment);
  if (!p)
    throw OutOfMemory(array_words(precision, instances, components) + " needs " + std::to_string(bytes) +
                      " bytes, which the system refused");
  std::memset(p, 0, bytes);
  data_ = std::shared_ptr<void>(p, std::free);
}

}  // namespace featherstorm
