#include "host/memory/stream_memory.h"

#include <algorithm>

#include "host/memory/cuda_backend.h"
#include "host/memory/device.h"
#include "host/system/error.h"

namespace featherstorm {

void require_no_capture(const CudaTable& table, int device, void* stream) {
  bool captured = false;
  if (!table.capturing(device, stream, &captured)) throw_cuda_error(table, "rollout", device);
  if (captured)
    throw Error(
        "a rollout that is captured into a graph must have run before, with the same choice of arrays, as many "
        "steps and on the same stream");
}

StreamMemory::~StreamMemory() {
  for (const auto& [at, m] : of_) cuda_backend()->release(at.first, nullptr, m.memory);
  for (const auto& [device, memory] : outgrown_) cuda_backend()->release(device, nullptr, memory);
}

void* StreamMemory::get(const CudaTable& table, const char* caller, int device, void* stream, unsigned long bytes) {
  std::lock_guard lock(mutex_);
  Memory& m = of_[{device, stream}];
  if (m.bytes >= bytes) return m.memory;
  require_no_capture(table, device, stream);
  // batches that grow little by little shall not leave much behind
  bytes = std::max(bytes, m.bytes + std::min(m.bytes, 1ul << 28));
  void* memory = nullptr;
  if (!table.allocate(device, stream, bytes, &memory)) throw_cuda_error(table, caller, device);
  if (m.memory) outgrown_.push_back({device, m.memory});
  m = {memory, bytes};
  return memory;
}

}  // namespace featherstorm
