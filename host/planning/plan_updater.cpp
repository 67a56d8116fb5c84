#include "host/planning/plan_updater.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "host/memory/device.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

// Copy a column (n, 1) of an array on any device, after the work on its stream.
void copy_numbers(const ArrayRef& from, std::vector<double>& x, void* stream) {
  Buffer copied;
  ArrayRef here = from;
  if (from.device != on_host) {
    copied = Buffer(from.precision, from.instances, 1), here = copied.ref();
    copy(from, here, stream);
  }
  x.resize(static_cast<std::size_t>(from.instances));
  for (long i = 0; i < from.instances; i++) {
    const long at = i * here.instance_stride;
    x[static_cast<std::size_t>(i)] = here.precision == Precision::float32
                                         ? static_cast<double>(static_cast<const float*>(here.data)[at])
                                         : static_cast<const double*>(here.data)[at];
  }
}

// Find the samples with the least finite costs, by number.
void find_elites(const std::vector<double>& cost, long count, std::vector<long>& order) {
  order.resize(cost.size());
  std::iota(order.begin(), order.end(), 0L);
  const auto of = [&](long i) { return cost[static_cast<std::size_t>(i)]; };
  std::erase_if(order, [&](long i) { return !std::isfinite(of(i)); });
  const auto most = std::min(static_cast<long>(order.size()), count);
  std::partial_sort(order.begin(), order.begin() + most, order.end(),
                    [&](long a, long b) { return of(a) != of(b) ? of(a) < of(b) : a < b; });
  order.resize(static_cast<std::size_t>(most));
}

// The standard deviation of the finite costs, above zero.
double deviation_of(const std::vector<double>& costs) {
  double count = 0, sum = 0, squares = 0;
  for (const double c : costs)
    if (std::isfinite(c)) count++, sum += c;
  for (const double c : costs)
    if (std::isfinite(c)) squares += (c - sum / count) * (c - sum / count);
  return std::max(std::sqrt(squares / std::max(count, 1.0)), std::numeric_limits<double>::min());
}

}  // namespace

PlanUpdater::PlanUpdater(const PlanUpdateOptions& options, long samples, long steps, long n, Precision precision,
                         int device, int threads, void* stream)
    : options_(options), count_(samples), steps_(steps) {
  if (samples < 1) throw Error("samples is " + std::to_string(samples) + ", expected 1 or more");
  if (!(options.temperature > 0))
    throw Error("temperature is " + std::to_string(options.temperature) + ", expected a positive number");
  if (options.kind == PlanUpdate::EliteMean && (options.elites < 1 || options.elites > samples))
    throw Error("elites is " + std::to_string(options.elites) + ", expected 1 to " + std::to_string(samples) +
                ", the number of samples");
  if (options.kind == PlanUpdate::EliteMean) options_.spread = true;
  reduction_ = Reduction::on(device, threads);
  weights_ = Buffer(Precision::float64, samples, 1, device, stream);
  mean_ = Buffer(precision, steps * n, 1, device, stream), spread_ = Buffer(precision, steps * n, 1, device, stream);
}

const NextPlan& PlanUpdater::update(const ArrayRef& costs, const SequenceMemory& samples, void* stream) {
  next_.mean.clear(), next_.deviation.clear();
  reduction_->least(costs, stream);
  next_.best = reduction_->best(stream);
  if (next_.best.index < 0) return next_;
  switch (options_.kind) {
    case PlanUpdate::Best: chosen_.assign(1, next_.best.index), choose(stream); break;
    case PlanUpdate::SoftmaxMean:
      reduction_->softmax_weights(costs, temperature_for(costs, stream), weights_.ref(), stream);
      break;
    case PlanUpdate::EliteMean:
      copy_numbers(costs, costs_, stream), find_elites(costs_, options_.elites, chosen_), choose(stream);
      break;
  }
  weighted_mean(samples, false, next_.mean, stream);
  if (options_.spread) {
    weighted_mean(samples, true, next_.deviation, stream);
    for (double& x : next_.deviation) x = std::sqrt(x);
  }
  return next_;
}

double PlanUpdater::temperature_for(const ArrayRef& costs, void* stream) {
  if (!options_.standardised) return options_.temperature;
  copy_numbers(costs, costs_, stream);
  return std::max(options_.temperature * deviation_of(costs_), std::numeric_limits<double>::min());
}

// Give the chosen samples equal weights that add up to 1, and all others 0.
void PlanUpdater::choose(void* stream) {
  const bool here = weights_.device() == on_host;
  const Buffer weights = here ? weights_ : Buffer(Precision::float64, count_, 1);
  std::fill_n(weights.component<double>(0), count_, 0.0);
  for (const long i : chosen_) weights.component<double>(0)[i] = 1.0 / static_cast<double>(chosen_.size());
  if (!here) copy(weights.ref(), weights_.ref(), stream);
}

// Compute the weighted mean of the samples, or of the squares of their distances from the mean computed before.
void PlanUpdater::weighted_mean(const SequenceMemory& samples, bool spread, std::vector<double>& result, void* stream) {
  const ArrayRef center = mean_.ref(), to = (spread ? spread_ : mean_).ref();
  reduction_->weighted_mean(samples, steps_, weights_.ref(), to, stream, spread ? &center : nullptr);
  copy_numbers(to, result, stream);
}

}  // namespace featherstorm
