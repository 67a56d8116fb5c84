#include "host/buffer.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace featherstorm {

Buffer::Buffer(Precision precision, long instances, long components)
    : precision_(precision), instances_(instances), components_(components) {
  stride_ = (instances + 15) / 16 * 16;
  if (stride_ % 1024 == 0 && stride_ > 0) stride_ += 16;
  const std::size_t bytes = bytes_of(precision) * static_cast<std::size_t>(stride_) * static_cast<std::size_t>(components);
  if (bytes == 0) return;
  void* p = std::aligned_alloc(batch_alignment, (bytes + batch_alignment - 1) / batch_alignment * batch_alignment);
  if (!p) throw std::bad_alloc();
  std::memset(p, 0, bytes);
  data_ = std::shared_ptr<void>(p, std::free);
}

}  // namespace featherstorm
