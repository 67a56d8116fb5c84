#include "host/planning/planner.h"

#include <cmath>

#include "host/system/error.h"

namespace featherstorm {
namespace {

// The options of a rollout whose control steps are the substeps of another.
RolloutOptions of_substeps(const Evaluator& evaluator, RolloutOptions o) {
  const Stepping stepping = stepping_of(evaluator, "Predictor", o.stepping);
  o.stepping.dt = stepping.pass_time, o.stepping.substeps = 1;
  o.cost = {}, o.terminal = {}, o.observe = {};
  return o;
}

}  // namespace

Planner::Planner(const Rollout& rollout, const PlannerOptions& options)
    : rollout_(rollout),
      plan_(options, rollout.controls(), rollout.precision()),
      draw_(rollout.precision(), rollout.threads()),
      updater_(plan_.options().update, options.samples, plan_.knot_count(), rollout.controls(), rollout.precision(),
               options.device, rollout.threads()) {
  const long n = rollout.controls();
  costs_ = Buffer(rollout.precision(), options.samples, 1, options.device);
  samples_ = Buffer(rollout.precision(), options.samples, plan_.knot_count() * n, options.device);
  ArrayRef step = samples_.ref();
  step.components = n;
  knots_ = {"u", step, true, n * samples_.stride()};
  draw_.array("u", n);
  controls_ = plan_.controls();
}

void Planner::reset(const std::vector<double>& plan) {
  plan_.reset(plan);
  controls_ = plan_.controls();
}

std::vector<double> Planner::command(const RolloutArrays& state, std::optional<double> t, void* stream) {
  const double elapsed = plan_.calls() == 0 ? 0 : t ? (*t - t_) / rollout_.dt() : 1;
  improve(elapsed, state, t.value_or(0), stream);
  return {controls_.begin(), controls_.begin() + plan_.control_size()};
}

const std::vector<double>& Planner::improve(const RolloutArrays& state, double t, void* stream) {
  improve(0, state, t, stream);
  return controls_;
}

void Planner::improve(double elapsed, const RolloutArrays& state, double t, void* stream) {
  const long K = plan_.knot_count(), T = plan_.options().horizon, B = plan_.options().samples;
  plan_.begin(elapsed);
  try {
    for (int i = 0; i < plan_.iterations(); i++) {
      const Controls samples = plan_.samples();
      draw_.run(K, B, {}, {}, {knots_}, &samples, stream);
      RolloutArrays arrays{.q = state.q, .v = state.v, .act = state.act, .p = state.p};
      arrays.parameters = state.parameters, arrays.warm = state.warm;
      const Controls controls = plan_.interpolated(knots_);
      if (plan_.interpolates()) arrays.made = &controls;
      else arrays.u = knots_;
      arrays.costs = costs_.ref();
      rollout_.run(T, B, arrays, t, stream);
      if (!plan_.update(updater_, costs_.ref(), knots_, stream))
        throw Error("Planner: no sample has a finite cost; is the state finite?");
    }
  } catch (...) {
    plan_.cancel();
    throw;
  }
  plan_.commit(t, t);
  t_ = t, controls_ = plan_.controls();
}

Predictor::Predictor(Evaluator& evaluator, const RolloutOptions& options)
    : rollout_(evaluator, of_substeps(evaluator, options)) {
  const Model<double>& m = evaluator.robot().model;
  const Precision p = options.precision;
  q_ = Buffer(p, 1, m.nq), v_ = Buffer(p, 1, m.nv), act_ = Buffer(p, 1, m.world.na);
}

RolloutArrays Predictor::state(const Planner& planner, const RolloutArrays& state, double t, double latency) {
  if (!(latency >= 0) || !std::isfinite(latency))
    throw Error("Predictor: latency is " + std::to_string(latency) + ", expected 0 or more");
  const long steps = std::lround(latency / rollout_.dt()), n = rollout_.controls();
  if (steps == 0) return state;
  Controls controls;  // without noise
  controls.name = "u";
  for (long k = 0; k < steps; k++)
    for (const double u : planner.control(t + rollout_.dt() * static_cast<double>(k))) controls.mean.push_back(u);
  controls.sigma.assign(static_cast<std::size_t>(n), 0.0);
  RolloutArrays arrays = state;
  arrays.made = &controls, arrays.q_final = q_.ref(), arrays.v_final = v_.ref();
  const bool has_act = act_.ref().components > 0;
  if (has_act) arrays.act_final = act_.ref();
  rollout_.run(steps, 1, arrays, t);
  RolloutArrays after{.q = q_.ref(), .v = v_.ref(), .p = state.p};
  if (has_act) after.act = act_.ref();
  after.parameters = state.parameters;
  return after;
}

}  // namespace featherstorm
