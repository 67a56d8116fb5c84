#include "cuda/kernels/launcher.h"
#include "cuda/kernels/strided_copy.h"

namespace featherstorm {
namespace {

template <class Real>
__global__ void __launch_bounds__(copy_threads_per_block) strided_copy_kernel(const __grid_constant__ StridedCopy a) {
  __shared__ CopyTile<Real> tile;
  read_tile(a, blockIdx.x, threadIdx.x, tile);
  __syncthreads();
  write_tile(a, blockIdx.x, threadIdx.x, tile);
}

}  // namespace

cudaError_t launch_strided_copy(const StridedCopy& a, bool double_precision, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>(a.blocks());
  if (double_precision) strided_copy_kernel<double><<<blocks, copy_threads_per_block, 0, stream>>>(a);
  else strided_copy_kernel<float><<<blocks, copy_threads_per_block, 0, stream>>>(a);
  return cudaGetLastError();
}

}  // namespace featherstorm
