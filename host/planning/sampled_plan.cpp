#include "host/planning/sampled_plan.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "host/memory/device.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

void check_count(const char* what, long value, long least, long most) {
  if (value >= least && value <= most) return;
  throw Error("Planner: " + std::string(what) + " is " + std::to_string(value) + ", expected " + std::to_string(least) +
              " to " + std::to_string(most));
}

void check_positive(const char* what, const std::vector<double>& all) {
  for (const double x : all)
    if (!(x >= 0) || !std::isfinite(x))
      throw Error("Planner: " + std::string(what) + " is " + std::to_string(x) + ", expected a number of 0 or more");
}

// Return an array on the host, after the work on its stream.
ArrayRef on_the_host(const ArrayRef& from, Buffer& memory, void* stream) {
  if (from.device == on_host) return from;
  memory = Buffer(from.precision, from.instances, from.components);
  copy(from, memory.ref(), stream);
  return memory.ref();
}
double number(const ArrayRef& a, long at) {
  return a.precision == Precision::float32 ? static_cast<double>(static_cast<const float*>(a.data)[at])
                                           : static_cast<const double*>(a.data)[at];
}

constexpr double no_cost = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::vector<double> per_control(const std::string& what, std::vector<double> x, long n) {
  if (x.size() == 1) x.assign(static_cast<std::size_t>(n), x[0]);
  if (!x.empty() && static_cast<long>(x.size()) != n)
    throw Error(what + " has " + std::to_string(x.size()) + " numbers, expected 1 or " + std::to_string(n));
  return x;
}

std::vector<double> annealed_sigma(const std::vector<double>& sigma, int iterations, long knots, double iteration_decay,
                                   double knot_decay) {
  std::vector<double> all;
  for (int i = 0; i < iterations; i++)
    for (long k = 0; k < knots; k++)
      for (const double x : sigma)
        all.push_back(x * std::pow(iteration_decay, i) * std::pow(knot_decay, static_cast<double>(knots - 1 - k)));
  return all;
}

SampledPlan::SampledPlan(PlannerOptions options, long n, Precision precision)
    : options_(std::move(options)), n_(n), precision_(precision) {
  PlannerOptions& o = options_;
  constexpr long most = std::numeric_limits<std::int32_t>::max();
  check_count("horizon", o.horizon, 1, most), check_count("samples", o.samples, 1, most);
  check_count("iterations", o.iterations, 1, most), check_count("first_iterations", o.first_iterations, 0, most);
  check_count("knots", o.knots, 0, o.horizon);
  knots_ = o.knots > 0 ? o.knots : o.horizon;
  check_count("models", o.models, 1, most);
  if (!(o.worst >= 0 && o.worst <= 1))
    throw Error("Planner: worst is " + std::to_string(o.worst) + ", expected 0 to 1");
  if (o.first_iterations == 0) o.first_iterations = o.iterations;
  o.lower = per_control("Planner: lower", o.lower, n), o.upper = per_control("Planner: upper", o.upper, n);
  o.sigma_min = per_control("Planner: sigma_min", o.sigma_min, n);
  if (o.sigma.size() == 1) o.sigma = per_control("Planner: sigma", o.sigma, n);
  const auto given = static_cast<long>(o.sigma.size()), all = knots_ * n;
  if (given != n && given != all && given != o.iterations * all)
    throw Error("Planner: sigma has " + std::to_string(given) + " numbers, expected 1, " + std::to_string(n) + ", " +
                std::to_string(all) + " or " + std::to_string(o.iterations * all));
  check_positive("sigma", o.sigma), check_positive("sigma_min", o.sigma_min);
  check_positive("adapt", {o.adapt}), check_positive("noise_cost", {o.noise_cost});
  if (o.update.kind == PlanUpdate::EliteMean) o.adapt = 1;
  if (o.adapt > 1) throw Error("Planner: adapt is " + std::to_string(o.adapt) + ", expected 0 to 1");
  o.update.spread = o.adapt > 0;
  weights_ = interpolation_weights(o.horizon, knots_, o.interpolation);
  sigma_.resize(static_cast<std::size_t>(all));
  samples_.name = "u", samples_.lower = o.lower, samples_.upper = o.upper;
  samples_.keep_mean = true, samples_.key.seed = o.seed;
  reset();
  begin(0);
  check(samples(), knots_, o.samples, n_, precision_);
  cancel();
}

double SampledPlan::rounded(double x) const {
  return precision_ == Precision::float32 ? static_cast<double>(static_cast<float>(x)) : x;
}
double SampledPlan::clipped(double x, std::size_t control) const {
  if (!options_.lower.empty()) x = std::max(x, options_.lower[control]);
  if (!options_.upper.empty()) x = std::min(x, options_.upper[control]);
  return rounded(x);
}

// knot(i): number i of the knots (K n).
void SampledPlan::control_at(double step, const auto& knot, double* u) const {
  const KnotWindow w = knot_window(step, options_.horizon, knots_, options_.interpolation);
  for (long c = 0; c < n_; c++) {
    double sum = 0;
    for (long k = 0; k < w.count; k++)
      if (w.weights[k] != 0) sum += w.weights[k] * knot((w.first + k) * n_ + c);
    u[c] = clipped(sum, static_cast<std::size_t>(c));
  }
}

void SampledPlan::controls(double* u) const {
  const auto knot = [&](long i) { return now_.knots[static_cast<std::size_t>(i)]; };
  for (long t = 0; t < options_.horizon; t++) control_at(static_cast<double>(t), knot, u + t * n_);
}

void SampledPlan::reset(const std::vector<double>& plan) {
  const auto T = options_.horizon, given = static_cast<long>(plan.size());
  std::vector<double> knots(static_cast<std::size_t>(knots_ * n_));
  if (given == knots_ * n_) {
    knots = plan;
  } else if (given == T * n_) {
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const Eigen::Map<const Rows> W(weights_.data(), T, knots_), U(plan.data(), T, n_);
    Eigen::Map<Rows>(knots.data(), knots_, n_) = W.colPivHouseholderQr().solve(U);
  } else if (given != 0) {
    throw Error("Planner: the plan has " + std::to_string(given) + " numbers, expected " + std::to_string(T * n_) +
                (interpolates() ? " or, as knots, " + std::to_string(knots_ * n_) : ""));
  }
  for (std::size_t k = 0; k < knots.size(); k++) {
    if (!std::isfinite(knots[k])) throw Error("Planner: the plan is not finite");
    knots[k] = clipped(knots[k], k % static_cast<std::size_t>(n_));
  }
  now_ = {std::move(knots), no_cost, 0, 0};
  made_.reset(now_.knots);
}

void SampledPlan::begin(double elapsed) {
  constexpr double slack = 1e-6;  // times are differences of rounded numbers
  if (!(elapsed >= -slack) || !std::isfinite(elapsed))
    throw Error("Planner: " + std::to_string(elapsed) +
                " control steps have passed since the last plan, expected 0 or "
                "more");
  before_ = now_;
  iteration_ = 0, adapted_ = false;
  choose_sigma();
  if (std::abs(elapsed - std::round(elapsed)) < slack) elapsed = std::round(elapsed);
  if (elapsed == 0) return;
  const double last = static_cast<double>(options_.horizon - 1);
  for (long k = 0; k < knots_; k++) {
    const double at = elapsed + time_of_knot(k, options_.horizon, knots_, options_.interpolation);
    const auto knot = [&](long i) { return before_.knots[static_cast<std::size_t>(i)]; };
    control_at(std::min(at, last), knot, now_.knots.data() + k * n_);
  }
}

int SampledPlan::iterations() const { return before_.calls == 0 ? options_.first_iterations : options_.iterations; }

// Set the noise of the iteration, unless the samples decide it.
void SampledPlan::choose_sigma() {
  if (adapted_) return;
  const auto all = static_cast<std::size_t>(knots_ * n_), given = options_.sigma.size();
  const auto row = static_cast<std::size_t>(std::max(iteration_ - (iterations() - options_.iterations), 0));
  for (std::size_t k = 0; k < all; k++) sigma_[k] = options_.sigma[(row * all + k) % given];
}

const Controls& SampledPlan::samples() {
  samples_.mean = now_.knots, samples_.sigma = sigma_, samples_.key.draw = static_cast<std::uint32_t>(now_.draws);
  return samples_;
}

Controls SampledPlan::interpolated(const SequenceMemory& knots) const {
  Controls c;
  c.name = "u", c.lower = options_.lower, c.upper = options_.upper, c.weights = weights_;
  c.given = true, c.knots = knots;
  return c;
}

bool SampledPlan::update(PlanUpdater& updater, const ArrayRef& costs, const SequenceMemory& knots, void* stream) {
  ArrayRef all = options_.models > 1 ? over_models(costs, stream) : costs;
  if (options_.noise_cost > 0) all = with_noise_cost(all, knots, stream);
  const NextPlan& next = updater.update(all, knots, stream);
  if (next.best.index < 0) return false;
  now_.cost = next.best.value;
  for (std::size_t k = 0; k < next.mean.size(); k++)
    now_.knots[k] = clipped(next.mean[k], k % static_cast<std::size_t>(n_));  // a mean may exceed a bound by rounding
  iteration_++, now_.draws++;
  choose_sigma();
  if (options_.adapt == 0) return true;
  adapted_ = true;
  for (std::size_t k = 0; k < sigma_.size(); k++) {
    const double kept = (1 - options_.adapt) * sigma_[k] * sigma_[k], spread = next.deviation[k];
    sigma_[k] = std::sqrt(kept + options_.adapt * spread * spread);
    if (!options_.sigma_min.empty())
      sigma_[k] = std::max(sigma_[k], options_.sigma_min[k % static_cast<std::size_t>(n_)]);
  }
  return true;
}

// Return the costs (B, 1) of samples from their costs (models B, 1), on the same device.
ArrayRef SampledPlan::over_models(const ArrayRef& costs, void* stream) {
  const long R = options_.models, B = costs.instances / R;
  if (costs.instances != R * options_.samples)
    throw Error("Planner: costs have " + std::to_string(costs.instances) + " rows, expected " +
                std::to_string(R * options_.samples));
  Buffer copied;
  const ArrayRef given = on_the_host(costs, copied, stream);
  const Buffer sum = costs_on_the_host(B, costs.device, stream);
  const double w = std::max(options_.worst * static_cast<double>(R), 1.0);
  greatest_.resize(static_cast<std::size_t>(R));
  for (long i = 0; i < B; i++) {
    for (long m = 0; m < R; m++) {
      const double c = number(given, (m * B + i) * given.instance_stride);
      greatest_[static_cast<std::size_t>(m)] = std::isfinite(c) ? c : std::numeric_limits<double>::infinity();
    }
    std::sort(greatest_.begin(), greatest_.end(), std::greater());
    double total = 0;
    for (long m = 0; m < R; m++)
      total += std::clamp(w - static_cast<double>(m), 0.0, 1.0) * greatest_[static_cast<std::size_t>(m)];
    sum.component<double>(0)[i] = total / w;
  }
  if (costs.device != on_host) copy(sum.ref(), costs_.ref(), stream);
  return costs_.ref();
}

// Return memory on the host for costs_ (B, 1), which are on a device.
Buffer SampledPlan::costs_on_the_host(long B, int device, void* stream) {
  if (costs_.ref().instances != B || costs_.device() != device)
    costs_ = Buffer(Precision::float64, B, 1, device, stream);
  return device == on_host ? costs_ : Buffer(Precision::float64, B, 1);
}

// Return costs (B, 1) with MPPI's term of the noise, on the device of the costs.
ArrayRef SampledPlan::with_noise_cost(const ArrayRef& costs, const SequenceMemory& knots, void* stream) {
  Buffer copies[2];
  const long B = costs.instances;
  const ArrayRef given = on_the_host(costs, copies[0], stream);
  ArrayRef all = knots.array;
  all.components = knots_ * n_;
  if (all.device != on_host && knots.step_stride != n_ * all.component_stride)
    throw Error("Planner: knots on a device have gaps between their steps");
  const ArrayRef y = on_the_host(all, copies[1], stream);
  const long step = all.device == on_host ? knots.step_stride : n_ * y.component_stride;
  const Buffer sum = costs_on_the_host(B, costs.device, stream);
  for (long i = 0; i < B; i++) {
    double term = 0;
    for (long k = 0; k < knots_; k++)
      for (long c = 0; c < n_; c++) {
        const auto at = static_cast<std::size_t>(k * n_ + c);
        if (sigma_[at] == 0) continue;
        const double drawn = number(y, i * y.instance_stride + k * step + c * y.component_stride);
        term += now_.knots[at] * (drawn - now_.knots[at]) / (sigma_[at] * sigma_[at]);
      }
    sum.component<double>(0)[i] = number(given, i * given.instance_stride) + options_.noise_cost * term;
  }
  if (costs.device != on_host) copy(sum.ref(), costs_.ref(), stream);
  return costs_.ref();
}

void SampledPlan::restore(State state) {
  if (state.knots.size() != now_.knots.size())
    throw Error("Planner: the plan has " + std::to_string(state.knots.size()) + " numbers, expected " +
                std::to_string(now_.knots.size()));
  now_ = std::move(state);
}

void SampledPlan::commit(double begins, double acts) {
  now_.calls++;
  if (!std::isnan(begins)) made_.add(begins, acts, now_.knots);
}
void SampledPlan::acting(double t, double dt, double* u) const {
  made_.acting(t, [&](double begins, const auto& knot) { control_at((t - begins) / dt, knot, u); });
}
void SampledPlan::cancel() { now_ = before_; }

}  // namespace featherstorm
