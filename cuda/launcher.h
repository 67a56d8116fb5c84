// How the table of the backend sees a kernel.
#pragma once
#include <cuda_runtime_api.h>

#include "cuda/backend.h"

namespace featherstorm {

struct StridedCopy;

// The arguments were checked by the caller; at least one element.
cudaError_t launch_strided_copy(const StridedCopy& copy, bool double_precision, cudaStream_t stream);

struct KernelLauncher {
  // model: the bytes of a DeviceModel, on the host
  cudaError_t (*launch)(const void* model, const Array* in, const Array* out, const LaunchOptions& options,
                        cudaStream_t stream) = nullptr;
  const void* kernel = nullptr;
};

// Fills in the kernels of one shard for float models of at most 16, 32 and 64 degrees of freedom, double of at most 64.
#define FEATHERSTORM_CUDA_SHARDS(X, real, limit) X(real, limit, 0) X(real, limit, 1)
#define FEATHERSTORM_CUDA_CLASSES(X)                                              \
  FEATHERSTORM_CUDA_SHARDS(X, float, 16) FEATHERSTORM_CUDA_SHARDS(X, float, 32)   \
  FEATHERSTORM_CUDA_SHARDS(X, float, 64) FEATHERSTORM_CUDA_SHARDS(X, double, 64)
#define FEATHERSTORM_DECLARE(real, limit, shard) void enter_##real##_##limit##_##shard(KernelLauncher* entries);
FEATHERSTORM_CUDA_CLASSES(FEATHERSTORM_DECLARE)
#undef FEATHERSTORM_DECLARE

}  // namespace featherstorm
