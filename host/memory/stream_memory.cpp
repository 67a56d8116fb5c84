#include "host/memory/stream_memory.h"

#include <algorithm>

#include "host/memory/cuda_backend.h"
#include "host/memory/device.h"
#include "host/system/error.h"

namespace featherstorm {

void require_no_capture(const CudaTable& table, const StreamUser& user, int device, void* stream) {
  bool captured = false;
  if (!table.capturing(device, stream, &captured)) throw_cuda_error(table, user.name, device);
  if (captured) throw Error(user.captured);
}

StreamMemory::~StreamMemory() {
  for (const auto& [at, m] : of_) cuda_backend()->release(at.first, nullptr, m.memory);
  for (const auto& [device, memory] : outgrown_) cuda_backend()->release(device, nullptr, memory);
}

StreamMemory::Memory StreamMemory::find(int device, void* stream) const {
  std::lock_guard lock(mutex_);
  const auto at = of_.find({device, stream});
  return at == of_.end() ? Memory{} : at->second;
}

void StreamMemory::synchronise() const {
  std::lock_guard lock(mutex_);
  for (const auto& [at, m] : of_) cuda_backend()->synchronise(at.first, at.second);
}

StreamMemory::Memory StreamMemory::get(const CudaTable& table, int device, void* stream, unsigned long bytes) {
  std::lock_guard lock(mutex_);
  Memory& m = of_[{device, stream}];
  if (m.bytes >= bytes) return m;
  require_no_capture(table, user_, device, stream);
  // grow in large steps, so that slowly growing batches leave little outgrown memory
  bytes = std::max(bytes, m.bytes + std::min(m.bytes, 1ul << 28));
  void* memory = nullptr;
  if (!table.allocate(device, stream, bytes, &memory)) throw_cuda_error(table, user_.name, device);
  if (m.memory) outgrown_.push_back({device, m.memory});
  return m = {memory, bytes};
}

}  // namespace featherstorm
