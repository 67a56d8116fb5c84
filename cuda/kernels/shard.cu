// The kernels of parts FEATHERSTORM_SHARD to FEATHERSTORM_LAST_SHARD of the operations (shard_of in host/table/ops.h;
// the numbers of parts are in launcher.h), for models of at most FEATHERSTORM_MAX degrees of freedom in precision
// FEATHERSTORM_REAL. With one part in each file the library compiles in parallel; with several parts in a file their
// common headers are read once.
#include "cuda/kernels/kernels.cuh"

#define FEATHERSTORM_JOIN2(a, b, c, d) a##b##_##c##_##d
#define FEATHERSTORM_JOIN(a, b, c, d) FEATHERSTORM_JOIN2(a, b, c, d)

namespace featherstorm {
namespace {

// Every file has its own copy, because the linker would merge functions of the same name.
template <int shard, int i> void enter(KernelLauncher* entries) {
  if constexpr (i < op_count) {
    if constexpr (shard_of(i, cuda_shards, cuda_book_shards) == shard && info_of(i).cuda)
      entries[i] = launcher<Element<i, Ops>, FEATHERSTORM_REAL, FEATHERSTORM_MAX>();
    enter<shard, i + 1>(entries);
  }
}

}  // namespace

#define FEATHERSTORM_ENTER(shard)                                                                        \
  void FEATHERSTORM_JOIN(enter_, FEATHERSTORM_REAL, FEATHERSTORM_MAX, shard)(KernelLauncher * entries) { \
    enter<shard, 0>(entries);                                                                            \
  }
#define FEATHERSTORM_HAS(shard) (FEATHERSTORM_SHARD <= shard && shard <= FEATHERSTORM_LAST_SHARD)

#if FEATHERSTORM_HAS(0)
FEATHERSTORM_ENTER(0)
#endif
#if FEATHERSTORM_HAS(1)
FEATHERSTORM_ENTER(1)
#endif
#if FEATHERSTORM_HAS(2)
FEATHERSTORM_ENTER(2)
#endif
#if FEATHERSTORM_HAS(3)
FEATHERSTORM_ENTER(3)
#endif
#if FEATHERSTORM_HAS(4)
FEATHERSTORM_ENTER(4)
#endif
#if FEATHERSTORM_HAS(5)
FEATHERSTORM_ENTER(5)
#endif

}  // namespace featherstorm
