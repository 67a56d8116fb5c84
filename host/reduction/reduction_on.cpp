// Separate from reduction.cpp, so that a program that only uses a device is linked without the host's threads.
#include "host/reduction/cpu_reduction.h"
#include "host/reduction/cuda_reduction.h"

namespace featherstorm {

std::unique_ptr<Reduction> Reduction::on(int device, int threads) {
  if (device == on_host) return std::make_unique<CpuReduction>(threads);
  return std::make_unique<CudaReduction>(device);
}

}  // namespace featherstorm
