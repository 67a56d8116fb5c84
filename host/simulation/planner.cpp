#include "host/simulation/planner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "host/memory/device.h"
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

// As numbers of the rollout's precision are.
double rounded(double x, Precision p) {
  return p == Precision::float32 ? static_cast<double>(static_cast<float>(x)) : x;
}

// A column of numbers of an array on any device, after the work on its stream.
std::vector<double> numbers_of(const Buffer& from, void* stream) {
  const ArrayRef a = from.ref();
  Buffer here = from;
  if (a.device != on_host) here = Buffer(a.precision, a.instances, 1), copy(a, here.ref(), stream);
  std::vector<double> x(static_cast<std::size_t>(a.instances));
  for (long i = 0; i < a.instances; i++)
    x[static_cast<std::size_t>(i)] = a.precision == Precision::float32
                                         ? static_cast<double>(here.component<float>(0)[i])
                                         : here.component<double>(0)[i];
  return x;
}

}  // namespace

Planner::Planner(const Rollout& rollout, PlannerOptions options)
    : rollout_(rollout), options_(std::move(options)), n_(rollout.controls()) {
  PlannerOptions& o = options_;
  constexpr long most = std::numeric_limits<std::int32_t>::max();
  check_count("horizon", o.horizon, 1, most), check_count("samples", o.samples, 1, most);
  check_count("iterations", o.iterations, 1, most), check_count("knots", o.knots, 0, o.horizon);
  if (o.update == PlanUpdate::EliteMean) check_count("elites", o.elites, 1, o.samples);
  if (!(o.temperature > 0))
    throw Error("Planner: temperature is " + std::to_string(o.temperature) + ", expected a positive number");
  o.sigma = per_control("sigma", o.sigma, n_), o.sigma_min = per_control("sigma_min", o.sigma_min, n_);
  o.lower = per_control("lower", o.lower, n_), o.upper = per_control("upper", o.upper, n_);
  for (const double x : o.sigma)
    if (!(x >= 0) || !std::isfinite(x))
      throw Error("Planner: sigma is " + std::to_string(x) + ", expected a number of 0 or more");
  if (o.knots > 0 && o.knots < o.horizon)
    weights_of_knots_ = interpolation_weights(o.horizon, o.knots, o.interpolation);
  const long T = o.horizon, B = o.samples;
  const Precision p = rollout.precision();
  reduction_ = Reduction::on(o.device, rollout.threads());
  costs_ = Buffer(p, B, 1, o.device), samples_ = Buffer(p, B, T * n_, o.device);
  weights_ = Buffer(Precision::float64, B, 1, o.device);
  mean_ = Buffer(p, T * n_, 1, o.device), spread_ = Buffer(p, T * n_, 1, o.device);
  ArrayRef step = samples_.ref();
  step.components = n_;
  used_ = {"u", step, true, n_ * samples_.stride()};
  reset();
  check(noise(o.sigma, 0), T, B, n_, p);
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
  if (calls_ > 0) {
    // the last control is held
    std::copy(plan_.begin() + n_, plan_.end(), plan_.begin());
    if (options_.horizon > 1) std::copy_n(plan_.end() - 2 * n_, n_, plan_.end() - n_);
  }
  improve(state, t0, stream);
  return {plan_.begin(), plan_.begin() + n_};
}

const std::vector<double>& Planner::improve(const RolloutArrays& state, double t0, void* stream) {
  std::vector<double> sigma = options_.sigma;
  for (int i = 0; i < options_.iterations; i++) {
    const Controls controls = noise(sigma, i);
    RolloutArrays arrays{.q = state.q, .v = state.v, .act = state.act, .made = &controls, .p = state.p};
    arrays.parameters = state.parameters;
    arrays.costs = costs_.ref(), arrays.used = used_;
    rollout_.run(options_.horizon, options_.samples, arrays, t0, stream);
    reduction_->least(costs_.ref(), stream);
    const Least best = reduction_->best(stream);
    cost_ = best.value;
    if (best.index < 0) throw Error("Planner: no sample has a finite cost; is the state finite?");
    switch (options_.update) {
      case PlanUpdate::Best: choose({best.index}, stream); break;
      case PlanUpdate::SoftmaxMean:
        reduction_->softmax_weights(costs_.ref(), options_.temperature, weights_.ref(), stream);
        break;
      case PlanUpdate::EliteMean: choose(elites(stream), stream); break;
    }
    plan_ = weighted_mean(stream, false);
    if (options_.update == PlanUpdate::EliteMean) {
      sigma = weighted_mean(stream, true);
      for (std::size_t k = 0; k < sigma.size(); k++) {
        const double least = options_.sigma_min.empty() ? 0.0 : options_.sigma_min[k % options_.sigma_min.size()];
        sigma[k] = std::max(std::sqrt(sigma[k]), least);
      }
    }
    clip(plan_);
  }
  calls_++;
  return plan_;
}

Controls Planner::noise(const std::vector<double>& sigma, int iteration) const {
  Controls c;
  c.name = "u", c.mean = plan_, c.sigma = sigma, c.lower = options_.lower, c.upper = options_.upper;
  c.weights = weights_of_knots_, c.keep_mean = true;
  c.key = {options_.seed, static_cast<std::uint32_t>(calls_ * options_.iterations + iteration)};
  return c;
}

// Gives the samples equal weights that add up to 1, and all others 0.
void Planner::choose(const std::vector<long>& samples, void* stream) {
  const Buffer weights(Precision::float64, options_.samples, 1);
  for (const long i : samples) weights.component<double>(0)[i] = 1.0 / static_cast<double>(samples.size());
  if (options_.device == on_host) weights_ = weights;
  else copy(weights.ref(), weights_.ref(), stream);
}

// The weighted mean of the samples, or of the squares of their distances from the mean computed before.
std::vector<double> Planner::weighted_mean(void* stream, bool spread) {
  const ArrayRef center = mean_.ref();
  const Buffer& to = spread ? spread_ : mean_;
  reduction_->weighted_mean(used_, options_.horizon, weights_.ref(), to.ref(), stream, spread ? &center : nullptr);
  return numbers_of(to, stream);
}

// The samples with the least finite costs, by number.
std::vector<long> Planner::elites(void* stream) const {
  const std::vector<double> cost = numbers_of(costs_, stream);
  std::vector<long> order(cost.size());
  std::iota(order.begin(), order.end(), 0L);
  std::erase_if(order, [&](long i) { return !std::isfinite(cost[static_cast<std::size_t>(i)]); });
  const auto count = std::min(order.size(), static_cast<std::size_t>(options_.elites));
  const auto less = [&](long a, long b) {
    const double x = cost[static_cast<std::size_t>(a)], y = cost[static_cast<std::size_t>(b)];
    return x != y ? x < y : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<long>(count), order.end(), less);
  order.resize(count);
  return order;
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
