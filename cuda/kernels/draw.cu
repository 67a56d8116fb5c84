#include "cuda/kernels/draw.h"

#include "cuda/kernels/launcher.h"

namespace featherstorm {
namespace {

template <class Real>
__global__ void __launch_bounds__(draw_threads) draw_kernel(const __grid_constant__ DrawArguments<Real> a) {
  draw_body(a, static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x));
}

template <class Real>
void launch(const UniformDraw& draw, const Array* in, const Array* out, int instances, cudaStream_t stream) {
  const int blocks = (instances - 1) / draw_threads + 1;
  draw_kernel<Real><<<blocks, draw_threads, 0, stream>>>(draw_arguments<Real>(draw, in, out, instances));
}

}  // namespace

cudaError_t launch_draw(const UniformDraw& draw, const Array* in, const Array* out, int instances,
                        bool double_precision, cudaStream_t stream) {
  if (double_precision) launch<double>(draw, in, out, instances, stream);
  else launch<float>(draw, in, out, instances, stream);
  return cudaGetLastError();
}

}  // namespace featherstorm
