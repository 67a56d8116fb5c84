// The table of one instruction set's library.
#include "host/kernel.h"
#include "host/ops.h"

namespace featherstorm {

static_assert(FEATHERSTORM_SHARDS == 4 && (FEATHERSTORM_BOOK_SHARDS == 0 || FEATHERSTORM_BOOK_SHARDS == 4));
#if FEATHERSTORM_BOOK_SHARDS
#define FEATHERSTORM_SHARD_LIST(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#else
#define FEATHERSTORM_SHARD_LIST(X) X(0) X(1) X(2) X(3)
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
