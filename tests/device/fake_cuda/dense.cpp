// The kernel of networks of dense layers (cuda/kernels/dense.cu) on the host.
#include "cuda/kernels/dense.h"

#include "cuda/kernels/launcher.h"
#include "tests/device/fake_cuda/runtime.h"

namespace featherstorm {
namespace {

template <class Real> cudaError_t launch(const DenseArguments<Real>& a, cudaStream_t stream) {
  return fake_cuda_launch(stream, [a] {
    for (int tile = tiles_of(a.outputs) - 1; tile >= 0; tile--)
      for (int block = a.blocks() - 1; block >= 0; block--)
        for (int thread = dense_threads - 1; thread >= 0; thread--) dense_body(a, block, tile, thread);
  });
}

}  // namespace

cudaError_t launch_dense(const DenseNetwork& network, const Array* in, const Array* out, int instances, void* work,
                         long stride, bool double_precision, cudaStream_t stream) {
  return launch_layers(network, in, out, instances, work, stride, double_precision,
                       [stream](const auto& layer) { return launch(layer, stream); });
}

}  // namespace featherstorm
