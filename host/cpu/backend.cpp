// The table of one instruction set's library.
#include "host/kernel.h"
#include "host/ops.h"

namespace featherstorm {

#define FEATHERSTORM_SHARD_LIST(X) X(0) X(1) X(2) X(3)
#define X(k) void enter_shard_##k(KernelEntry*);
FEATHERSTORM_SHARD_LIST(X)
#undef X

}  // namespace featherstorm

extern "C" __attribute__((visibility("default"))) const featherstorm::KernelTable* featherstorm_backend() {
  using namespace featherstorm;
  constexpr int count = std::tuple_size_v<Ops>;
  static KernelEntry entries[count];
  static const KernelTable table = [] {
#define X(k) enter_shard_##k(entries);
    FEATHERSTORM_SHARD_LIST(X)
#undef X
    return KernelTable{FEATHERSTORM_ISA, FEATHERSTORM_WIDTH, FEATHERSTORM_WIDTH / 2, count, entries};
  }();
  return &table;
}
