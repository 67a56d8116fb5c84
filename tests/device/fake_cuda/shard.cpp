// The kernels of one shard, with the entry points of cuda/kernels/shard.cu, launched on the host: all blocks of the
// grid, last thread first.
#include "cuda/kernels/kernels.cuh"
#include "cuda/kernels/launcher.h"
#include "tests/device/fake_cuda/runtime.h"

namespace featherstorm {

template <class Op, class Real, int limit>
cudaError_t launch(const void* model, const Array* in, const Array* out, const LaunchOptions& o, cudaStream_t stream) {
  using M = DeviceModel<Real, limit>;
  // a launch copies its parameters, as for a kernel
  const M m = *static_cast<const M*>(model);
  const Arguments<Op, Real> a = arguments<Op, Real>(m, in, out, o);
  return fake_cuda_launch(stream, [m, a] {
    const int blocks = (a.count + threads_per_block - 1) / threads_per_block;
    for (int block = blocks - 1; block >= 0; block--)
      for (int thread = threads_per_block - 1; thread >= 0; thread--) kernel_body(m, a, block, thread);
  });
}
template <class Op, class Real, int limit>
KernelLauncher launcher() {
  return {launch<Op, Real, limit>, reinterpret_cast<const void*>(launch<Op, Real, limit>)};
}

}  // namespace featherstorm

#include "cuda/kernels/shard.cu"
