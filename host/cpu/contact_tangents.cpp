// Tangents of a step's acceleration through contacts (host/solver/contact_tangents.h), over packs of instances, for one instruction set.
#include "host/solver/contact_tangents.h"
#include "host/cpu/over_packs.h"
#include "host/cpu/pack_instances.h"
#include "host/memory/cpu_library.h"

namespace featherstorm {
namespace {

// Arrays in the order of the structure.
template <class Real>
void tangents(const void* model, const Array* in, const Array* out, long, long first, long count) {
  const auto& solver = *static_cast<const ContactSolver<Real>*>(model);
  using View = WholePackView<Real>;
  over_packs<Real>(in, out, first, count, [&](const auto& x, const auto& y) {
    const TangentInputs<View> from{x(0), x(1), x(2),  x(3),  x(4),  x(5),  x(6), x(7),
                                   x(8), x(9), x(10), x(11), x(12), x(13), x(14)};
    contact_tangents<WholePack<Real>>(solver, from, y(0));
  });
}

}  // namespace
}  // namespace featherstorm

extern "C" __attribute__((visibility("default"))) const featherstorm::SolverTable* featherstorm_contact_tangents() {
  using namespace featherstorm;
  static const SolverTable table{tangents<float>, tangents<double>, FEATHERSTORM_WIDTH, FEATHERSTORM_WIDTH / 2};
  return &table;
}
