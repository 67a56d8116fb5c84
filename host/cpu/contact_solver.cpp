// The solver of host/solver/contact_solve.h over packs of instances, for one instruction set.
#include "host/cpu/over_packs.h"
#include "host/cpu/pack_instances.h"
#include "host/memory/cpu_library.h"
#include "host/solver/contact_solve.h"

namespace featherstorm {
namespace {

// Arrays as host/solver/contact_solver.h has them.
template <class Real>
void solve(const void* model, const Array* in, const Array* out, long, long first, long count) {
  const auto& solver = *static_cast<const ContactSolver<Real>*>(model);
  using View = WholePackView<Real>;
  over_packs<Real>(in, out, first, count, [&](const auto& x, const auto& y) {
    const SolverInputs<View> from{x(0), x(1), x(2), x(3), x(4), x(5), x(6), x(7), x(8), x(9), x(10), x(11)};
    const SolverOutputs<View> to{y(0), y(3), y(6), y(1), y(2), y(4), y(5), y(7)};
    solve_contacts<WholePack<Real>>(solver, from, to);
  });
}

}  // namespace
}  // namespace featherstorm

extern "C" __attribute__((visibility("default"))) const featherstorm::SolverTable* featherstorm_contact_solver() {
  using namespace featherstorm;
  static const SolverTable table{solve<float>, solve<double>, FEATHERSTORM_WIDTH, FEATHERSTORM_WIDTH / 2};
  return &table;
}
