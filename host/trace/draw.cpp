#include "host/trace/draw.h"

#include <cmath>

#include "core/dynamics/crba.h"
#include "core/linear/ltdl.h"
#include "host/load/sample_q.h"

namespace featherstorm {

Draw::Draw(const Model<double>& model, unsigned seed, Positions positions)
    : model_(model), positions_(positions), engine_(seed) {
  inertia_ = natural_inertia(model, engine_);
}

std::vector<double> Draw::position() {
  return positions_ == Positions::anywhere ? sample_q(model_, engine_) : starting_q(model_, engine_);
}

std::vector<double> Draw::operator()(const Sample& sample, int components) {
  const Model<double>& m = model_;
  if (sample.kind == Sample::position) return position();
  std::vector<double> x(static_cast<std::size_t>(components));
  if (sample.kind == Sample::inertia || sample.kind == Sample::ltdl || sample.kind == Sample::ltl) {
    crba(m, position().data(), x.data());
    if (sample.kind == Sample::ltdl) ltdl(m, x.data());
    if (sample.kind == Sample::ltl) ltl(m, x.data());
    return x;
  }
  // forces are those that accelerate each joint or body by about 10: larger ones would make light robots fly apart
  for (int c = 0; c < components; c++) switch (sample.kind) {
      case Sample::joint_force: x[c] = 10 * inertia_[c] * uniform(-1, 1); break;
      case Sample::joint_gain: x[c] = inertia_[c] * uniform(0.5, 1.5); break;
      case Sample::body_force: x[c] = std::abs(m.body[1 + c / 6].I.m) * (c % 6 < 3 ? 0.1 : 10) * uniform(-1, 1); break;
      case Sample::positive: x[c] = uniform(0.5, 1.5); break;
      case Sample::odd: x[c] = c % 2; break;
      case Sample::even: x[c] = (c + 1) % 2; break;
      case Sample::all_but_two: x[c] = c + 2 < components; break;
      case Sample::fixed: x[c] = sample.value; break;
      default: x[c] = uniform(-1, 1);
    }
  return x;
}

}  // namespace featherstorm
