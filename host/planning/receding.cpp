#include "host/planning/receding.h"

#include <chrono>

#include "host/system/error.h"

namespace featherstorm {
namespace {

template <class Real> void fill(const Buffer& to, const double* from) {
  for (long c = 0; c < to.ref().components; c++) *to.component<Real>(c) = static_cast<Real>(from[c]);
}

}  // namespace

Receding::Receding(Planner& planner, Evaluator& evaluator, const RolloutOptions& rollout,
                   const RecedingOptions& options)
    : planner_(planner),
      predictor_(evaluator, rollout),
      loop_({.plan = [this](const MeasuredState& m, double latency, double budget) { return plan(m, latency, budget); },
             .warm =
                 [this](const MeasuredState& m) {
                   set_state(m), planner_.warm(state_), predictor_.warm(planner_, state_);
                 }},
            options) {
  if (planner.device() != on_host) throw Error("Receding: the planner is on a device, expected the host");
  if (planner.robots() != 1)
    throw Error("Receding: the planner has " + std::to_string(planner.robots()) + " robots, expected 1");
  const Model<double>& m = evaluator.robot().model;
  q_ = Buffer(rollout.precision, 1, m.nq), v_ = Buffer(rollout.precision, 1, m.nv);
  act_ = Buffer(rollout.precision, 1, m.world.na);
  state_.q = q_.ref(), state_.v = v_.ref(), state_.parameters = options.parameters;
  if (m.world.na > 0) state_.act = act_.ref();
  n_ = static_cast<std::size_t>(long{m.nq} + m.nv + m.world.na);
  loop_.make_memory(n_);
  loop_.start();
}

void Receding::submit(std::span<const double> x, double t, std::span<const double> p) {
  loop_.check();
  if (x.size() != n_)
    throw Error("Receding: x has " + std::to_string(x.size()) + " numbers, expected " + std::to_string(n_) +
                ", those of q, v and act");
  loop_.submit(x, t, p);
}

void Receding::set_state(const MeasuredState& m) {
  const double* x = m.x.data();
  for (const Buffer* part : {&q_, &v_, &act_}) {
    if (q_.ref().precision == Precision::float32) fill<float>(*part, x);
    else fill<double>(*part, x);
    x += part->ref().components;
  }
  state_.p = m.p;
}

int Receding::plan(const MeasuredState& m, double latency, double budget) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  set_state(m);
  const RolloutArrays& then = predictor_.state(planner_, state_, m.t, latency);
  planner_.command(then, m.t + latency,
                   {.budget = budget - std::chrono::duration<double>(Clock::now() - begin).count()});
  return planner_.iterations();
}

}  // namespace featherstorm
