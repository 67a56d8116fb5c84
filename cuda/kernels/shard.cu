// The kernels of part FEATHERSTORM_SHARD of the operations (shard_of in host/table/ops.h; the numbers of parts in launcher.h),
// for models of at most FEATHERSTORM_MAX degrees of freedom in precision FEATHERSTORM_REAL, so that the library compiles in
// parallel.
#include "cuda/kernels/kernels.cuh"

#define FEATHERSTORM_JOIN2(a, b, c, d) a##b##_##c##_##d
#define FEATHERSTORM_JOIN(a, b, c, d) FEATHERSTORM_JOIN2(a, b, c, d)

namespace featherstorm {
namespace {

// Every shard has its own: a function of one name for all would be one function to the linker.
template <int i> void enter(KernelLauncher* entries) {
  if constexpr (i < op_count) {
    if constexpr (shard_of(i, cuda_shards, cuda_book_shards) == FEATHERSTORM_SHARD && info_of(i).cuda)
      entries[i] = launcher<std::tuple_element_t<i, Ops>, FEATHERSTORM_REAL, FEATHERSTORM_MAX>();
    enter<i + 1>(entries);
  }
}

}  // namespace

void FEATHERSTORM_JOIN(enter_, FEATHERSTORM_REAL, FEATHERSTORM_MAX, FEATHERSTORM_SHARD)(KernelLauncher* entries) {
  enter<0>(entries);
}

}  // namespace featherstorm
