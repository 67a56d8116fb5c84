// The kernels of part FEATHERSTORM_SHARD of the operations (cpu_part in ops.h), so that a backend compiles in parallel.
#include "host/cpu/kernels.h"

#define FEATHERSTORM_JOIN2(a, b) a##b
#define FEATHERSTORM_JOIN(a, b) FEATHERSTORM_JOIN2(a, b)

namespace featherstorm {
namespace {

// Every shard has its own copy, because the linker would merge functions of the same name.
template <int i> void enter(KernelEntry* entries) {
  if constexpr (i < op_count) {
    if constexpr (cpu_part(i) == FEATHERSTORM_SHARD) {
      using Op = Element<i, Ops>;
      entries[i] = {Op::info.name.data(), pack_kernel<Op, float>(), pack_kernel<Op, double>()};
    }
    enter<i + 1>(entries);
  }
}

}  // namespace

void FEATHERSTORM_JOIN(enter_shard_, FEATHERSTORM_SHARD)(KernelEntry* entries) { enter<0>(entries); }

}  // namespace featherstorm
