#include "host/gradients/world_gradients.h"

#include <algorithm>

#include "host/gradients/world_residual.h"
#include "host/gradients/world_stage.h"
#include "host/system/error.h"

namespace featherstorm {

std::string no_derivatives(const World<double>& w, bool all_candidates) {
  if (w.is_discrete())
    return "the step of the integrator discrete has no derivatives, expected Euler, implicitfast, implicit or RK4";
  if (w.constraints.exact_inertia)
    return "a step with the flag diagexact has no derivatives, expected a model without the flag";
  if (const int n = w.no_slip.iterations; n > 0)
    return "option noslip_iterations is " + std::to_string(n) + ": steps with it have no derivatives, expected 0";
  for (const Geom<double>& g : w.contacts.geom)
    if (g.surface_moves && !all_candidates)
      return "a step in which surfaces move (geom surfacevel) has no derivatives, expected surfaces at rest";
  return "";
}

WorldGradients world_gradients(const Model<double>& model, const WorldPrograms& step, Derivative derivative,
                               Candidates candidates, int most, const Parameters& parameters) {
  const bool all = candidates == Candidates::All;
  WorldGradients out;
  out.residual = trace_residual(model, step, all, parameters, most);
  if (step.stages.empty()) out.integration = trace_integration(model, parameters);
  const int stages = static_cast<int>(step.stages.size());
  for (int i = 0; i < std::max(stages, 1); i++) {
    const stage::Texts texts{model,        step,
                             out.residual, stages == 0 ? out.integration : step.stages[static_cast<std::size_t>(i)],
                             parameters,   most,
                             i == 0,       i + 1 >= stages,
                             stages > 0,   takes_slopes(step)};
    const bool forward = derivative == Derivative::jvp;
    if (all) {
      out.steps.push_back(forward ? stage::trace_jvp(texts) : stage::trace_vjp(texts));
    } else {
      out.before.push_back(forward ? stage::tangents_before(texts) : stage::cotangents_before(texts));
      out.after.push_back(forward ? stage::tangents_after(texts) : stage::cotangents_after(texts));
    }
  }
  return out;
}

}  // namespace featherstorm
