#include "host/buffer.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "host/device.h"

namespace featherstorm {

Buffer::Buffer(Precision precision, long instances, long components, int device, void* stream)
    : precision_(precision),
      instances_(instances),
      components_(components),
      stride_(padded_stride(instances, precision, device)),
      device_(device) {
  const std::size_t bytes = bytes_of(precision) * static_cast<std::size_t>(stride_) * static_cast<std::size_t>(components);
  if (device != on_host) {
    data_ = device_memory(device, bytes, stream);
    return;
  }
  if (bytes == 0) return;
  void* p = std::aligned_alloc(batch_alignment, (bytes + batch_alignment - 1) / batch_alignment * batch_alignment);
  if (!p) throw std::bad_alloc();
  std::memset(p, 0, bytes);
  data_ = std::shared_ptr<void>(p, std::free);
}

}  // namespace featherstorm
