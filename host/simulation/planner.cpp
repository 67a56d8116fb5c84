#include "host/simulation/planner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/system/error.h"

namespace featherstorm {
namespace {

// A number for each control.
std::vector<double> per_control(const char* what, std::vector<double> x, long n) {
  if (x.size() == 1) x.assign(static_cast<std::size_t>(n), x[0]);
  if (!x.empty() && static_cast<long>(x.size()) != n)
    throw Error("Planner: " + std::string(what) + " has " + std::to_string(x.size()) + " numbers, expected 1 or " +
                std::to_string(n));
  return x;
}

void check_count(const char* what, long value, long least, long most) {
  if (value >= least && value <= most) return;
  throw Error("Planner: " + std::string(what) + " is " + std::to_string(value) + ", expected " + std::to_string(least) +
              " to " + std::to_string(most));
}

// Rounds x to a precision.
double rounded(double x, Precision p) {
  return p == Precision::float32 ? static_cast<double>(static_cast<float>(x)) : x;
}

PlanUpdater updater_of(const Rollout& rollout, const PlannerOptions& o) {
  constexpr long most = std::numeric_limits<std::int32_t>::max();
  check_count("horizon", o.horizon, 1, most), check_count("samples", o.samples, 1, most);
  check_count("iterations", o.iterations, 1, most), check_count("knots", o.knots, 0, o.horizon);
  return {o.update, o.samples, o.horizon, rollout.controls(), rollout.precision(), o.device, rollout.threads()};
}

}  // namespace

Planner::Planner(const Rollout& rollout, PlannerOptions options)
    : rollout_(rollout), options_(std::move(options)), n_(rollout.controls()), updater_(updater_of(rollout, options_)) {
  PlannerOptions& o = options_;
  o.sigma = per_control("sigma", o.sigma, n_), o.sigma_min = per_control("sigma_min", o.sigma_min, n_);
  o.lower = per_control("lower", o.lower, n_), o.upper = per_control("upper", o.upper, n_);
  for (const double x : o.sigma)
    if (!(x >= 0) || !std::isfinite(x))
      throw Error("Planner: sigma is " + std::to_string(x) + ", expected a number of 0 or more");
  if (o.knots > 0 && o.knots < o.horizon)
    weights_of_knots_ = interpolation_weights(o.horizon, o.knots, o.interpolation);
  const long T = o.horizon, B = o.samples;
  const Precision p = rollout.precision();
  costs_ = Buffer(p, B, 1, o.device), samples_ = Buffer(p, B, T * n_, o.device);
  ArrayRef step = samples_.ref();
  step.components = n_;
  used_ = {"u", step, true, n_ * samples_.stride()};
  reset();
  check(noise(plan_, o.sigma, 0), T, B, n_, p);
}

void Planner::reset(std::vector<double> plan) {
  if (plan.empty()) plan.assign(static_cast<std::size_t>(options_.horizon * n_), 0.0);
  if (static_cast<long>(plan.size()) != options_.horizon * n_)
    throw Error("Planner: the plan has " + std::to_string(plan.size()) + " numbers, expected " +
                std::to_string(options_.horizon * n_));
  clip(plan);
  plan_ = std::move(plan), calls_ = 0, cost_ = std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> Planner::command(const RolloutArrays& state, double t0, void* stream) {
  std::vector<double> plan = plan_;
  if (calls_ > 0) std::copy(plan_.begin() + n_, plan_.end(), plan.begin());  // the last control stays
  improve(std::move(plan), state, t0, stream);
  return {plan_.begin(), plan_.begin() + n_};
}

const std::vector<double>& Planner::improve(const RolloutArrays& state, double t0, void* stream) {
  improve(plan_, state, t0, stream);
  return plan_;
}

void Planner::improve(std::vector<double> plan, const RolloutArrays& state, double t0, void* stream) {
  std::vector<double> sigma = options_.sigma;
  double cost = 0;
  for (int i = 0; i < options_.iterations; i++) {
    const Controls controls = noise(plan, sigma, i);
    RolloutArrays arrays{.q = state.q, .v = state.v, .act = state.act, .made = &controls, .p = state.p};
    arrays.parameters = state.parameters;
    arrays.costs = costs_.ref(), arrays.used = used_;
    rollout_.run(options_.horizon, options_.samples, arrays, t0, stream);
    NextPlan next = updater_.update(costs_.ref(), used_, stream);
    cost = next.best.value;
    if (next.best.index < 0) throw Error("Planner: no sample has a finite cost; is the state finite?");
    plan = std::move(next.mean);
    clip(plan);
    if (next.deviation.empty()) continue;
    sigma = std::move(next.deviation);
    for (std::size_t k = 0; k < sigma.size() && !options_.sigma_min.empty(); k++)
      sigma[k] = std::max(sigma[k], options_.sigma_min[k % options_.sigma_min.size()]);
  }
  plan_ = std::move(plan), cost_ = cost, calls_++;
}

Controls Planner::noise(const std::vector<double>& plan, const std::vector<double>& sigma, int iteration) const {
  Controls c;
  c.name = "u", c.mean = plan, c.sigma = sigma, c.lower = options_.lower, c.upper = options_.upper;
  c.weights = weights_of_knots_, c.keep_mean = true;
  c.key = {options_.seed, static_cast<std::uint32_t>(calls_ * options_.iterations + iteration)};
  return c;
}

void Planner::clip(std::vector<double>& plan) const {
  for (std::size_t k = 0; k < plan.size(); k++) {
    const std::size_t i = k % static_cast<std::size_t>(n_);
    if (!options_.lower.empty()) plan[k] = std::max(plan[k], options_.lower[i]);
    if (!options_.upper.empty()) plan[k] = std::min(plan[k], options_.upper[i]);
    plan[k] = rounded(plan[k], rollout_.precision());
  }
}

}  // namespace featherstorm
