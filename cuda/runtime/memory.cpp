#include "cuda/runtime/memory.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <mutex>

#include "cuda/runtime/error.h"

namespace featherstorm {
namespace {

// Return the pool of a device, created at its first use and kept until the process ends; null on failure.
cudaMemPool_t pool_of(int device) {
  static std::mutex mutex;
  static std::map<int, cudaMemPool_t> pools;
  std::lock_guard lock(mutex);
  if (auto found = pools.find(device); found != pools.end()) return found->second;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  std::uint64_t keep = UINT64_MAX;
  if (!FEATHERSTORM_CUDA(cudaMemPoolCreate(&pool, &properties)) ||
      !FEATHERSTORM_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep)))
    return nullptr;
  return pools[device] = pool;
}

}  // namespace

bool pool_allocate(int device, void* stream, unsigned long bytes, void** memory) {
  *memory = nullptr;
  OnDevice on(device);
  if (!on) return false;
  cudaMemPool_t pool = pool_of(device);
  return pool &&
         FEATHERSTORM_CUDA(cudaMallocFromPoolAsync(memory, bytes ? bytes : 1, pool, static_cast<cudaStream_t>(stream)));
}

bool pool_release(int device, void* stream, void* memory) {
  if (!memory) return true;
  OnDevice on(device);
  return on && FEATHERSTORM_CUDA(cudaFreeAsync(memory, static_cast<cudaStream_t>(stream)));
}

}  // namespace featherstorm
