// What contacts contribute to derivatives (host/solver/contact_gradients.h), over packs of instances, for one instruction set.
#include "host/solver/contact_gradients.h"
#include "host/cpu/over_packs.h"
#include "host/cpu/pack_instances.h"
#include "host/memory/cpu_library.h"

namespace featherstorm {
namespace {

// Arrays in the order of the structures.
template <class Real>
void gradients(const void* model, const Array* in, const Array* out, long, long first, long count) {
  const auto& solver = *static_cast<const ContactSolver<Real>*>(model);
  using View = WholePackView<Real>;
  over_packs<Real>(in, out, first, count, [&](const auto& x, const auto& y) {
    const GradientInputs<View> from{x(0), x(1), x(2), x(3), x(4), x(5), x(6), x(7), x(8), x(9), x(10), x(11)};
    const GradientOutputs<View> to{y(0), y(1), y(2), y(3), y(4)};
    contact_gradients<WholePack<Real>>(solver, from, to);
  });
}

}  // namespace
}  // namespace featherstorm

extern "C" __attribute__((visibility("default"))) const featherstorm::SolverTable* featherstorm_contact_gradients() {
  using namespace featherstorm;
  static const SolverTable table{gradients<float>, gradients<double>, FEATHERSTORM_WIDTH, FEATHERSTORM_WIDTH / 2};
  return &table;
}
