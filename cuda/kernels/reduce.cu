#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>

#include "cuda/kernels/launcher.h"
#include "cuda/kernels/reduce.h"

namespace featherstorm {
namespace {

template <class F>
auto numbers_of(const F& f) {
  return thrust::make_transform_iterator(thrust::counting_iterator<long>(0), f);
}
cudaError_t reduce_least(void* work, std::size_t& bytes, const CostAt& cost, DeviceLeast* result, cudaStream_t stream) {
  return cub::DeviceReduce::Reduce(work, bytes, numbers_of(cost), result, cost.costs.count, Lesser{},
                                   DeviceLeast{HUGE_VAL, -1}, stream);
}
cudaError_t reduce_sum(void* work, std::size_t& bytes, const ExponentialAt& e, double* sum, cudaStream_t stream) {
  return cub::DeviceReduce::Reduce(work, bytes, numbers_of(e), sum, e.cost.costs.count, Plus{}, 0.0, stream);
}

__global__ void __launch_bounds__(mean_threads) weights_kernel(ExponentialAt e, const double* sum, double* weights) {
  const long i = static_cast<long>(blockIdx.x) * mean_threads + threadIdx.x;
  if (i < e.cost.costs.count) weights[i] = weight_of(e, *sum, i);
}
template <class Real>
__global__ void __launch_bounds__(mean_threads) mean_kernel(SampleArray a, const double* weights, Real* mean) {
  using Reduce = cub::BlockReduce<Real, mean_threads>;
  __shared__ typename Reduce::TempStorage shared;
  const Real sum = Reduce(shared).Sum(part_of_mean<Real>(a, weights, blockIdx.x, threadIdx.x));
  if (threadIdx.x == 0) mean[blockIdx.x] = sum;
}

}  // namespace

cudaError_t reduction_bytes(long count, unsigned long* bytes) {
  const CostAt cost{{nullptr, count, 1, true}};
  std::size_t least = 0, sum = 0;
  cudaError_t e = reduce_least(nullptr, least, cost, nullptr, nullptr);
  if (e == cudaSuccess) e = reduce_sum(nullptr, sum, {cost, nullptr, 1}, nullptr, nullptr);
  *bytes = sum_room + (least > sum ? least : sum);
  return e;
}
cudaError_t launch_least(const CostArray& costs, DeviceLeast* result, void* work, unsigned long bytes,
                         cudaStream_t stream) {
  std::size_t room = bytes - sum_room;
  return reduce_least(static_cast<char*>(work) + sum_room, room, {costs}, result, stream);
}
cudaError_t launch_softmax(const CostArray& costs, double temperature, DeviceLeast* result, double* weights, void* work,
                           unsigned long bytes, cudaStream_t stream) {
  cudaError_t e = launch_least(costs, result, work, bytes, stream);
  if (e != cudaSuccess) return e;
  const ExponentialAt exponential{{costs}, result, temperature};
  double* sum = static_cast<double*>(work);
  std::size_t room = bytes - sum_room;
  e = reduce_sum(static_cast<char*>(work) + sum_room, room, exponential, sum, stream);
  if (e != cudaSuccess) return e;
  const unsigned blocks = static_cast<unsigned>((costs.count + mean_threads - 1) / mean_threads);
  weights_kernel<<<blocks, mean_threads, 0, stream>>>(exponential, sum, weights);
  return cudaGetLastError();
}
cudaError_t launch_mean(const SampleArray& a, const double* weights, void* mean, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>(a.steps * a.components);
  if (a.double_precision) mean_kernel<<<blocks, mean_threads, 0, stream>>>(a, weights, static_cast<double*>(mean));
  else mean_kernel<<<blocks, mean_threads, 0, stream>>>(a, weights, static_cast<float*>(mean));
  return cudaGetLastError();
}

}  // namespace featherstorm
