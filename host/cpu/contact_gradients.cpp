// What contacts contribute to derivatives (host/solver/contact_gradients.h), over packs of instances, for one instruction set.
#include "host/solver/contact_gradients.h"
#include "host/cpu/pack_instances.h"
#include "host/cpu/pack_view.h"
#include "host/memory/cpu_library.h"

namespace featherstorm {
namespace {

// Arrays in the order of the structures.
template <class Real>
void gradients(const void* model, const Array* in, const Array* out, long, long first, long count) {
  constexpr int W = FEATHERSTORM_WIDTH * static_cast<int>(sizeof(float)) / static_cast<int>(sizeof(Real));
  using T = Pack<Real, W>;
  using View = PackView<T, Real>;
  const auto& solver = *static_cast<const ContactSolver<Real>*>(model);
  for (long i = first; i < first + count; i += W) {
    const auto view = [&](const Array& a) { return View{static_cast<Real*>(a.data) + i, a.stride}; };
    const GradientInputs<View> from{view(in[0]), view(in[1]), view(in[2]), view(in[3]), view(in[4]),  view(in[5]),
                                    view(in[6]), view(in[7]), view(in[8]), view(in[9]), view(in[10]), view(in[11])};
    const GradientOutputs<View> to{view(out[0]), view(out[1]), view(out[2]), view(out[3]), view(out[4])};
    contact_gradients<T>(solver, from, to);
  }
}

}  // namespace
}  // namespace featherstorm

extern "C" __attribute__((visibility("default"))) const featherstorm::SolverTable* featherstorm_contact_gradients() {
  using namespace featherstorm;
  static const SolverTable table{gradients<float>, gradients<double>, FEATHERSTORM_WIDTH, FEATHERSTORM_WIDTH / 2};
  return &table;
}
