#include "cuda/strided_copy.h"

#include "cuda/launcher.h"
#include "tests/device/stand_in/runtime.h"

namespace featherstorm {

cudaError_t launch_strided_copy(const StridedCopy& a, bool double_precision, cudaStream_t stream) {
  return stand_in_launch(stream, [a, double_precision] {
    for (long block = a.blocks() - 1; block >= 0; block--)
      for (int thread = copy_threads_per_block - 1; thread >= 0; thread--)
        double_precision ? strided_copy_body<double>(a, block, thread) : strided_copy_body<float>(a, block, thread);
  });
}

}  // namespace featherstorm
