#include "host/planning/planner.h"

#include <algorithm>
#include <chrono>
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

// Copy what is given of a state, in the memory of the copy.
void copy_state(const RolloutArrays& from, RolloutArrays& to) {
  to.q = from.q, to.v = from.v, to.act = from.act, to.warm = from.warm, to.p = from.p;
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!std::equal(from.parameters.begin(), from.parameters.end(), to.parameters.begin(), to.parameters.end(), same))
    to.parameters = from.parameters;
  for (const auto& [name, array] : from.parameters) to.parameters.find(name)->second = array;
}

// Every parameter has a row for all models or one for each, and with several models one has.
void check_rows(const RolloutArrays& state, long models) {
  bool differ = models == 1;
  for (const auto& [name, array] : state.parameters) {
    if (array.instances != 1 && array.instances != models)
      throw Error("Planner: the parameter " + name + " has " + std::to_string(array.instances) +
                  " rows, expected 1 or " + std::to_string(models) + ", the models");
    differ = differ || array.instances == models;
  }
  if (!differ)
    throw Error("Planner: models is " + std::to_string(models) + ", but no parameter has " + std::to_string(models) +
                " rows");
}

ArrayRef rows_of(ArrayRef a, long first, long count) {
  a.data = static_cast<char*>(a.data) + first * a.instance_stride * static_cast<long>(bytes_of(a.precision));
  a.instances = count, a.padded = false;
  return a;
}

}  // namespace

Planner::Planner(const Rollout& rollout, const PlannerOptions& options)
    : rollout_(rollout),
      plan_(options, rollout.controls(), rollout.precision()),
      draw_(rollout.precision(), rollout.threads()),
      updater_(plan_.options().update, options.samples, plan_.knot_count(), rollout.controls(), rollout.precision(),
               options.device, rollout.threads()) {
  const long n = rollout.controls();
  costs_ = Buffer(rollout.precision(), options.models * options.samples, 1, options.device);
  samples_ = Buffer(rollout.precision(), options.samples, plan_.knot_count() * n, options.device);
  ArrayRef step = samples_.ref();
  step.components = n;
  knots_ = {{"u", step, true, n * samples_.stride()}};
  draw_.array("u", n);
  made_ = plan_.interpolated(knots_[0]);
  if (plan_.interpolates()) arrays_.made = &made_;
  else arrays_.u = knots_[0];
  controls_.resize(static_cast<std::size_t>(plan_.options().horizon * n));
  plan_.controls(controls_.data());
}

void Planner::reset(const std::vector<double>& plan) {
  plan_.reset(plan);
  plan_.controls(controls_.data());
}

void Planner::warm(const RolloutArrays& state) {
  plan_.make_memory();
  plan_.begin(0);
  try {
    iterate(state, 0, nullptr);
  } catch (...) {
    plan_.cancel();
    throw;
  }
  plan_.cancel();
  warm_ = true;
}

std::span<const double> Planner::command(const RolloutArrays& state, std::optional<double> t,
                                         const CommandOptions& options) {
  const double elapsed = plan_.calls() == 0 ? 0 : t ? (*t - t_) / rollout_.dt() : 1;
  improve(elapsed, state, t.value_or(0), options);
  return {controls_.data(), static_cast<std::size_t>(plan_.control_size())};
}

const std::vector<double>& Planner::improve(const RolloutArrays& state, double t, void* stream) {
  improve(0, state, t, {.stream = stream});
  return controls_;
}

void Planner::improve(double elapsed, const RolloutArrays& state, double t, const CommandOptions& o) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  double spent = 0;
  plan_.begin(elapsed);
  try {
    const int most = plan_.iterations();
    if (o.iterations < 0 || o.iterations > most)
      throw Error("Planner: iterations is " + std::to_string(o.iterations) + ", expected 0 to " + std::to_string(most));
    for (done_ = 0; done_ < (o.iterations > 0 ? o.iterations : most); done_++) {
      if (done_ > 0 && o.iterations == 0 && spent + iteration_.seconds(2) > o.budget) break;
      if (!iterate(state, t, o.stream))
        throw PlanningError("Planner: no sample has a finite cost; is the state finite?");
      const double now = std::chrono::duration<double>(Clock::now() - begin).count();
      if (warm_) iteration_.add(now - spent);
      spent = now, warm_ = true;
    }
  } catch (...) {
    plan_.cancel();
    throw;
  }
  plan_.commit(t, t);
  t_ = t, plan_.controls(controls_.data());
}

// Draw the samples, simulate them, and update the plan; false if no cost is finite.
bool Planner::iterate(const RolloutArrays& state, double t, void* stream) {
  const long B = plan_.options().samples;
  draw_.run(plan_.knot_count(), B, {}, {}, knots_, &plan_.samples(), stream);
  copy_state(state, arrays_);
  const long models = plan_.options().models;
  check_rows(state, models);
  for (long m = 0; m < models; m++) {
    arrays_.costs = models > 1 ? rows_of(costs_.ref(), m * B, B) : costs_.ref();
    for (const auto& [name, array] : state.parameters)
      if (array.instances == models) arrays_.parameters.find(name)->second = rows_of(array, m, 1);
    rollout_.run(plan_.options().horizon, B, arrays_, t, stream);
  }
  return plan_.update(updater_, costs_.ref(), knots_[0], stream);
}

void Planner::control(double t, std::span<double> u) const {
  if (static_cast<long>(u.size()) != plan_.control_size())
    throw Error("Planner: u has " + std::to_string(u.size()) + " numbers, expected " +
                std::to_string(plan_.control_size()));
  plan_.acting(t, rollout_.dt(), u.data());
}

Predictor::Predictor(Evaluator& evaluator, const RolloutOptions& options)
    : rollout_(evaluator, of_substeps(evaluator, options)) {
  const Model<double>& m = evaluator.robot().model;
  const Precision p = options.precision;
  q_ = Buffer(p, 1, m.nq), v_ = Buffer(p, 1, m.nv), act_ = Buffer(p, 1, m.world.na);
  controls_.name = "u", controls_.sigma.assign(static_cast<std::size_t>(rollout_.controls()), 0.0);
  arrays_.made = &controls_, arrays_.q_final = q_.ref(), arrays_.v_final = v_.ref();
  if (m.world.na > 0) arrays_.act_final = act_.ref();
}

void Predictor::warm(const Planner& planner, const RolloutArrays& state) {
  this->state(planner, state, 0, std::max(0.25, rollout_.dt()));
}

const RolloutArrays& Predictor::state(const Planner& planner, const RolloutArrays& state, double t, double latency) {
  if (!(latency >= 0) || !std::isfinite(latency))
    throw Error("Predictor: latency is " + std::to_string(latency) + ", expected 0 or more");
  copy_state(state, after_);
  const long steps = std::lround(latency / rollout_.dt()), n = rollout_.controls();
  if (steps == 0) return after_;
  controls_.mean.resize(static_cast<std::size_t>(steps * n));
  for (long k = 0; k < steps; k++)
    planner.control(t + rollout_.dt() * static_cast<double>(k),
                    std::span(controls_.mean).subspan(static_cast<std::size_t>(k * n), static_cast<std::size_t>(n)));
  copy_state(state, arrays_);
  for (auto& [name, array] : arrays_.parameters) array = rows_of(array, 0, 1);
  if (const auto np = static_cast<std::size_t>(rollout_.parameters()); arrays_.p.size() > np) arrays_.p.resize(np);
  rollout_.run(steps, 1, arrays_, t);
  after_.q = arrays_.q_final, after_.v = arrays_.v_final;
  if (arrays_.act_final.data) after_.act = arrays_.act_final;
  return after_;
}

}  // namespace featherstorm
