// The table of operations.
//
// One structure per operation, in a file for each subject: its name, equation, arrays and properties (operation.h),
// and the call of the core function. Dispatch, tracing, the kernels for any robot of every backend, the Python
// functions, test_ops and the benchmarks iterate over the list `Ops` of their forms (form.h). A new operation consists
// of its algorithm in core/, its test, and its entry here.
#pragma once
#include "host/table/ops/contacts.h"
#include "host/table/ops/couplings.h"
#include "host/table/ops/derivatives.h"
#include "host/table/ops/dynamics.h"
#include "host/table/ops/floating.h"
#include "host/table/ops/higher_derivatives.h"
#include "host/table/ops/inertia.h"
#include "host/table/ops/integration.h"
#include "host/table/ops/kinematics.h"
#include "host/table/ops/loops.h"
#include "host/table/ops/matrices.h"
#include "host/table/ops/maximal.h"
#include "host/table/ops/momentum.h"
#include "host/table/ops/operational.h"
#include "host/table/ops/regressors.h"
#include "host/table/ops/variable_step.h"
#include "host/table/ops/world.h"

namespace featherstorm {

using Subjects =
    List<table::Dynamics, table::Inertia, table::Kinematics, table::Momentum, table::Integration, table::Derivatives,
         table::Matrices, table::Operational, table::Regressors, table::Floating, table::Loops, table::Couplings,
         table::Contacts, table::HigherDerivatives, table::Maximal, table::VariableStep, table::Worlds>;

template <class>
struct RowsOf;
template <class... Subject>
struct RowsOf<List<Subject...>> {
  using type = Joined<typename Subject::Rows...>;
};
using Rows = RowsOf<Subjects>::type;  // the operations that a user calls
using Ops = FormsOf<Rows>::type;      // the forms that kernels are made of
inline constexpr int op_count = Ops::size;

// The properties of all forms.
inline constexpr auto op_infos = []<class... Op>(List<Op...>*) {
  return std::array<OpInfo, sizeof...(Op)>{Op::info...};
}(static_cast<Ops*>(nullptr));
constexpr const OpInfo& info_of(int op) { return op_infos[static_cast<std::size_t>(op)]; }

// The index of a form in `Ops`; -1 if there is none of this name.
constexpr int op_named(std::string_view name) {
  for (int op = 0; op < op_count; op++)
    if (info_of(op).name == name) return op;
  return -1;
}

constexpr bool carries(const OpInfo& info) {
  return info.needs == Needs::loops || info.needs == Needs::coupling || info.needs == Needs::contacts ||
         info.needs == Needs::world;
}
// The number of preceding operations of the same kind: common, or not common.
constexpr int rank_of(int op) {
  int rank = 0;
  for (int i = 0; i < op; i++) rank += info_of(i).common == info_of(op).common;
  return rank;
}

// The part of the CUDA library that has the operation. Common operations are distributed over the first `parts` parts,
// others over the `other_parts` parts after them; -1 if there are none.
constexpr int shard_of(int op, int parts, int other_parts) {
  if (info_of(op).common) return rank_of(op) % parts;
  return other_parts == 0 ? -1 : parts + rank_of(op) % other_parts;
}

// The part of the CPU libraries that has the operation:
// - 0 to 3: common operations, for every instruction set;
// - 4: operations of robots with loops, couplings, contacts or a world, in the base set;
// - 5 to 8: the others, also for the base set, but in the library libfeatherstorm_cpu_book.so, which is built and
//   loaded on request (host/memory/cpu_library.h).
constexpr int cpu_part(int op) {
  if (info_of(op).common) return rank_of(op) % 4;
  return carries(info_of(op)) ? 4 : 5 + rank_of(op) % 4;
}

}  // namespace featherstorm
