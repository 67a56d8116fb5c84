// The kernel of stages that draw random numbers (cuda/kernels/draw.cu) on the host.
#include "cuda/kernels/draw.h"

#include "cuda/kernels/launcher.h"
#include "tests/device/fake_cuda/runtime.h"

namespace featherstorm {
namespace {

template <class Real> cudaError_t launch(const DrawArguments<Real>& a, cudaStream_t stream) {
  return fake_cuda_launch(stream, [a] {
    for (int block = (a.instances - 1) / draw_threads; block >= 0; block--)
      for (int thread = draw_threads - 1; thread >= 0; thread--) draw_body(a, block, thread);
  });
}

}  // namespace

cudaError_t launch_draw(const UniformDraw& draw, const Array* in, const Array* out, int instances,
                        bool double_precision, cudaStream_t stream) {
  return double_precision ? launch(draw_arguments<double>(draw, in, out, instances), stream)
                          : launch(draw_arguments<float>(draw, in, out, instances), stream);
}

}  // namespace featherstorm
