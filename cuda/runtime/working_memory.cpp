#include "cuda/runtime/working_memory.h"

#include <map>
#include <mutex>

#include "cuda/runtime/error.h"

namespace featherstorm {

bool set_aside_by(int device, const void* kernel, unsigned long* bytes, cudaFuncAttributes* a) {
  cudaDeviceProp p;
  if (!FEATHERSTORM_CUDA(cudaFuncGetAttributes(a, kernel)) || !FEATHERSTORM_CUDA(cudaGetDeviceProperties(&p, device)))
    return false;
  *bytes = static_cast<unsigned long>(a->localSizeBytes) * p.maxThreadsPerMultiProcessor * p.multiProcessorCount;
  return true;
}

bool can_set_aside(int device, const void* kernel, const std::string& whose, const std::string& instead) {
  static std::mutex mutex;
  static std::map<int, unsigned long> largest;  // granted to this process
  std::lock_guard lock(mutex);
  cudaFuncAttributes a;
  unsigned long wanted = 0;
  std::size_t free = 0, total = 0;
  if (!set_aside_by(device, kernel, &wanted, &a) || !FEATHERSTORM_CUDA(cudaMemGetInfo(&free, &total))) return false;
  if (wanted <= largest[device]) return true;
  const auto gigabytes = [](unsigned long bytes) {
    const unsigned long tenths = (bytes + 50'000'000) / 100'000'000;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GB";
  };
  if (wanted > free + largest[device])
    return cuda_failed(whose + " needs " + gigabytes(wanted) +
                       " of working memory on the device for the rest of the process; " +
                       gigabytes(free + largest[device]) + " are free. " + instead);
  largest[device] = wanted;
  return true;
}

}  // namespace featherstorm
