#include "cuda/kernels/strided_copy.h"

#include <cstring>

#include "cuda/kernels/launcher.h"
#include "tests/device/fake_cuda/runtime.h"

namespace featherstorm {
namespace {

template <class Real>
void copy_blocks(const StridedCopy& a) {
  for (long block = a.blocks() - 1; block >= 0; block--) {
    CopyTile<Real> tile;
    std::memset(&tile, 0xff, sizeof tile);
    for (int thread = copy_threads_per_block - 1; thread >= 0; thread--) read_tile(a, block, thread, tile);
    for (int thread = 0; thread < copy_threads_per_block; thread++) write_tile(a, block, thread, tile);
  }
}

}  // namespace

cudaError_t launch_strided_copy(const StridedCopy& a, bool double_precision, cudaStream_t stream) {
  return fake_cuda_launch(stream,
                          [a, double_precision] { double_precision ? copy_blocks<double>(a) : copy_blocks<float>(a); });
}

}  // namespace featherstorm
