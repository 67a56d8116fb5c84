#include "cuda/kernels/dense.h"

#include "cuda/kernels/launcher.h"

namespace featherstorm {
namespace {

template <class Real>
__global__ void __launch_bounds__(dense_threads) dense_kernel(const __grid_constant__ DenseArguments<Real> a) {
  dense_body(a, static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), static_cast<int>(threadIdx.x));
}

template <class Real> cudaError_t launch(const DenseArguments<Real>& a, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>(a.blocks()), static_cast<unsigned>(tiles_of(a.outputs)));
  dense_kernel<Real><<<blocks, dense_threads, 0, stream>>>(a);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_dense(const DenseNetwork& network, const Array* in, const Array* out, int instances, void* work,
                         long stride, bool double_precision, cudaStream_t stream) {
  return launch_layers(network, in, out, instances, work, stride, double_precision,
                       [stream](const auto& layer) { return launch(layer, stream); });
}

}  // namespace featherstorm
