// The launchers of uploads and reductions on the host. CUB's part, adding in any order, is replaced by a loop from the
// end and a tree, both with the algorithm of cuda/kernels/reduce.h.
#include "cuda/kernels/launcher.h"
#include "cuda/kernels/reduce.h"
#include "cuda/kernels/upload.h"
#include "tests/device/fake_cuda/runtime.h"

namespace featherstorm {
namespace {

constexpr unsigned long imitated_work = 1024;  // bytes of work memory that the reductions request in addition

template <class Real>
void mean_of(const SampleArray& a, const double* weights, Real* mean) {
  for (long k = a.steps * a.components - 1; k >= 0; k--) {
    Real part[mean_threads];
    for (int thread = mean_threads - 1; thread >= 0; thread--) part[thread] = part_of_mean<Real>(a, weights, k, thread);
    for (int width = mean_threads / 2; width > 0; width /= 2)
      for (int thread = 0; thread < width; thread++) part[thread] += part[thread + width];
    mean[k] = part[0];
  }
}

}  // namespace

cudaError_t launch_upload(const UploadPiece& piece, cudaStream_t stream) {
  return fake_cuda_launch(stream, [piece] {
    for (int thread = upload_threads - 1; thread >= 0; thread--) upload_body(piece, thread);
  });
}

cudaError_t reduction_bytes(long, unsigned long* bytes) { return *bytes = sum_room + imitated_work, cudaSuccess; }

cudaError_t launch_least(const CostArray& costs, DeviceLeast* result, void*, unsigned long, cudaStream_t stream) {
  return fake_cuda_launch(stream, [costs, result] {
    DeviceLeast all{HUGE_VAL, -1};
    for (long i = costs.count - 1; i >= 0; i--) all = Lesser{}(all, CostAt{costs}(i));
    *result = all;
  });
}

cudaError_t launch_softmax(const CostArray& costs, double temperature, DeviceLeast* result, double* weights, void* work,
                           unsigned long bytes, cudaStream_t stream) {
  if (const cudaError_t e = launch_least(costs, result, work, bytes, stream); e != cudaSuccess) return e;
  const ExponentialAt e{{costs}, result, temperature};
  double* sum = static_cast<double*>(work);
  if (const cudaError_t error = fake_cuda_launch(stream,
                                                 [e, sum] {
                                                   *sum = 0;
                                                   for (long i = e.cost.costs.count - 1; i >= 0; i--)
                                                     *sum = Plus{}(*sum, e(i));
                                                 });
      error != cudaSuccess)
    return error;
  return fake_cuda_launch(stream, [e, sum, weights] {
    for (long i = 0; i < e.cost.costs.count; i++) weights[i] = weight_of(e, *sum, i);
  });
}

cudaError_t launch_mean(const SampleArray& a, const double* weights, void* mean, cudaStream_t stream) {
  return fake_cuda_launch(stream, [a, weights, mean] {
    if (a.double_precision) mean_of(a, weights, static_cast<double*>(mean));
    else mean_of(a, weights, static_cast<float*>(mean));
  });
}

}  // namespace featherstorm
