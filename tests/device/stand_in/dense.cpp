// The kernel of networks of dense layers, as cuda/kernels/dense.cu has it, on the host.
#include "cuda/kernels/dense.h"

#include "cuda/kernels/launcher.h"
#include "tests/device/stand_in/runtime.h"

namespace featherstorm {
namespace {

template <class Real>
cudaError_t launch(const DenseNetwork& n, const Array* in, const Array* out, int instances, void* work, long stride,
                   cudaStream_t stream) {
  for (int l = 0; l < n.layers; l++) {
    const DenseArguments<Real> a = dense_arguments<Real>(n, l, in, out, instances, work, stride);
    const cudaError_t error = stand_in_launch(stream, [a] {
      for (int tile = tiles_of(a.outputs) - 1; tile >= 0; tile--)
        for (int block = a.blocks() - 1; block >= 0; block--)
          for (int thread = dense_threads - 1; thread >= 0; thread--) dense_body(a, block, tile, thread);
    });
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t launch_dense(const DenseNetwork& network, const Array* in, const Array* out, int instances, void* work,
                         long stride, bool double_precision, cudaStream_t stream) {
  return double_precision ? launch<double>(network, in, out, instances, work, stride, stream)
                          : launch<float>(network, in, out, instances, work, stride, stream);
}

}  // namespace featherstorm
