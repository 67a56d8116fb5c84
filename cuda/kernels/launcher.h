// Functions that launch kernels, for the table of the backend.
#pragma once
#include <cuda_runtime_api.h>

#include "host/memory/cuda_table.h"

namespace featherstorm {

struct UniformDraw;
struct DenseNetwork;
struct StridedCopy;
struct UploadPiece;

// The caller has checked the arguments; there is at least one element.
cudaError_t launch_strided_copy(const StridedCopy& copy, bool double_precision, cudaStream_t stream);
cudaError_t launch_upload(const UploadPiece& piece, cudaStream_t stream);
cudaError_t launch_draw(const UniformDraw& draw, const Array* in, const Array* out, int instances,
                        bool double_precision, cudaStream_t stream);
cudaError_t launch_dense(const DenseNetwork& network, const Array* in, const Array* out, int instances, void* work,
                         long stride, bool double_precision, cudaStream_t stream);
// Reductions of cuda_table.h, for at least one cost, with work memory of the size from reduction_bytes.
cudaError_t reduction_bytes(long count, unsigned long* bytes);
cudaError_t launch_least(const CostArray& costs, DeviceLeast* result, void* work, unsigned long bytes,
                         cudaStream_t stream);
cudaError_t launch_softmax(const CostArray& costs, double temperature, DeviceLeast* result, double* weights, void* work,
                           unsigned long bytes, cudaStream_t stream);
cudaError_t launch_mean(const SampleArray& samples, const double* weights, void* mean, cudaStream_t stream);

// Arguments of the contact solver (contact_solver.h): its arrays and its memory.
struct SolverLaunch {
  const Array *in, *out;
  void* numbers;
  unsigned char* bytes;
  int most_numbers, most_bytes;  // of a thread
  int count, blocks;
};
struct SolverLauncher {
  // solver: the bytes of a DeviceSolver, on the host
  cudaError_t (*launch)(const void* solver, const SolverLaunch& launch, cudaStream_t stream) = nullptr;
  const void* kernel = nullptr;
};
SolverLauncher solver_launcher_float_solution();
SolverLauncher solver_launcher_float_gradients();
SolverLauncher solver_launcher_float_tangents();
SolverLauncher solver_launcher_float_soft();
SolverLauncher solver_launcher_double_solution();
SolverLauncher solver_launcher_double_gradients();
SolverLauncher solver_launcher_double_tangents();
SolverLauncher solver_launcher_double_soft();

struct KernelLauncher {
  // model: the bytes of a DeviceModel, on the host
  cudaError_t (*launch)(const void* model, const Array* in, const Array* out, const LaunchOptions& options,
                        cudaStream_t stream) = nullptr;
  const void* kernel = nullptr;
};

// X(class, real, limit, shard) for every part of the library. Classes 0 to 2 are float models of at most 16, 32 and 64
// degrees of freedom, class 3 double models of at most 64. Parts 0 and 1 hold the engine's operations. Parts 2 to 5
// hold those of the books, only for the largest models; their kernels serve the smaller models, too.
inline constexpr int cuda_shards = 2, cuda_book_shards = 4;
#define FEATHERSTORM_CUDA_ENGINE(X, class, real, limit) X(class, real, limit, 0) X(class, real, limit, 1)
#define FEATHERSTORM_CUDA_BOOK(X, class, real, limit) \
  X(class, real, limit, 2) X(class, real, limit, 3) X(class, real, limit, 4) X(class, real, limit, 5)
// A build for tests has no parts for classes 0 and 1: the kernels of class 2 serve these models, too.
#ifdef FEATHERSTORM_CUDA_TO_CHECK
inline constexpr bool has_small_classes = false;
#define FEATHERSTORM_CUDA_SMALL(X)
#else
inline constexpr bool has_small_classes = true;
#define FEATHERSTORM_CUDA_SMALL(X) FEATHERSTORM_CUDA_ENGINE(X, 0, float, 16) FEATHERSTORM_CUDA_ENGINE(X, 1, float, 32)
#endif
// clang-format off
#define FEATHERSTORM_CUDA_PARTS(X)                                                        \
  FEATHERSTORM_CUDA_SMALL(X)                                                              \
  FEATHERSTORM_CUDA_ENGINE(X, 2, float, 64) FEATHERSTORM_CUDA_ENGINE(X, 3, double, 64)    \
  FEATHERSTORM_CUDA_BOOK(X, 2, float, 64) FEATHERSTORM_CUDA_BOOK(X, 3, double, 64)
// clang-format on
#define FEATHERSTORM_DECLARE(class, real, limit, shard) void enter_##real##_##limit##_##shard(KernelLauncher* entries);
FEATHERSTORM_CUDA_PARTS(FEATHERSTORM_DECLARE)
#undef FEATHERSTORM_DECLARE

}  // namespace featherstorm
