// The table of one library of kernels.
#include "host/memory/kernel.h"
#include "host/table/ops.h"

namespace featherstorm {

// the parts of ops.h
#if FEATHERSTORM_FIRST_SHARD == 0 && FEATHERSTORM_LAST_SHARD == 3
#define FEATHERSTORM_SHARD_LIST(X) X(0) X(1) X(2) X(3)
#elif FEATHERSTORM_FIRST_SHARD == 0 && FEATHERSTORM_LAST_SHARD == 4
#define FEATHERSTORM_SHARD_LIST(X) X(0) X(1) X(2) X(3) X(4)
#elif FEATHERSTORM_FIRST_SHARD == 5 && FEATHERSTORM_LAST_SHARD == 8
#define FEATHERSTORM_SHARD_LIST(X) X(5) X(6) X(7) X(8)
#endif
#define X(k) void enter_shard_##k(KernelEntry*);
FEATHERSTORM_SHARD_LIST(X)
#undef X

}  // namespace featherstorm

extern "C" __attribute__((visibility("default"))) const featherstorm::KernelTable* featherstorm_backend() {
  using namespace featherstorm;
  static KernelEntry entries[op_count];
  static const KernelTable table = [] {
#define X(k) enter_shard_##k(entries);
    FEATHERSTORM_SHARD_LIST(X)
#undef X
    return KernelTable{FEATHERSTORM_ISA, FEATHERSTORM_WIDTH, FEATHERSTORM_WIDTH / 2, op_count, entries};
  }();
  return &table;
}
