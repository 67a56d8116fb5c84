#include "host/reduction/cpu_reduction.h"

#include <cmath>

#include "core/scalar/vector_math.h"
#include "host/memory/scratch_guard.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

constexpr long leaf = 256, lanes = 16;  // numbers of a leaf of the tree, partial sums of a leaf

// Sum f(i), first <= i < first + n, over a tree whose leaves have `leaf` numbers.
template <class Real, class F>
Real tree_sum(const F& f, long first, long n) {
  if (n > leaf) {
    long half = leaf;
    while (2 * half < n) half *= 2;
    return tree_sum<Real>(f, first, half) + tree_sum<Real>(f, first + half, n - half);
  }
  Real sums[lanes] = {};
  long i = 0;
  for (; i + lanes <= n; i += lanes)
    for (long k = 0; k < lanes; k++) sums[k] += f(first + i + k);
  for (long k = 0; i + k < n; k++) sums[k] += f(first + i + k);
  for (long width = lanes / 2; width > 0; width /= 2)
    for (long k = 0; k < width; k++) sums[k] += sums[k + width];
  return sums[0];
}

// mean[k] = sum of w[i] f(x[i][k], k) for component k of the horizon.
template <class Real, class F>
void weighted_mean_of(const SequenceMemory& x, long steps, const double* w, const BlockThreads& threads, Real* mean,
                      const F& f) {
  const long B = x.array.instances, n = x.array.components;
  const ScratchGuard guard;
  Real* weights = static_cast<Real*>(scratch_stack.take(sizeof(Real) * (B + 1)));
  for (long i = 0; i < B; i++) weights[i] = static_cast<Real>(w[i]);
  const auto block = [&](long first, long count) {
    for (long k = first; k < first + count; k++) {
      const ArrayRef a = x.at(k / n);
      const Real* from = static_cast<const Real*>(a.data) + k % n * a.component_stride;
      const long stride = a.instance_stride;
      // samples of weight 0 are ignored, even NaN
      const auto term = [&](Real weight, Real number) { return weight > 0 ? weight * f(number, k) : Real(0); };
      if (stride == 1) mean[k] = tree_sum<Real>([&](long i) { return term(weights[i], from[i]); }, 0, B);
      else mean[k] = tree_sum<Real>([&](long i) { return term(weights[i], from[i * stride]); }, 0, B);
    }
  };
  threads.for_each(steps * n, std::ref(block));
}

template <class Real>
void mean_of(const SequenceMemory& x, long steps, const double* w, const BlockThreads& threads, const ArrayRef& mean,
             const ArrayRef* center) {
  Real* to = static_cast<Real*>(mean.data);
  const Real* c = center ? static_cast<const Real*>(center->data) : nullptr;
  if (!c) return weighted_mean_of<Real>(x, steps, w, threads, to, [](Real number, long) { return number; });
  weighted_mean_of<Real>(x, steps, w, threads, to,
                         [c](Real number, long k) { return (number - c[k]) * (number - c[k]); });
}

// Return the costs in double without gaps: in their own memory, or copied to `memory`.
const double* dense(const ArrayRef& costs, double* memory) {
  const bool single = costs.precision == Precision::float32;
  if (!single && (costs.instance_stride == 1 || costs.instances == 1)) return static_cast<const double*>(costs.data);
  for (long i = 0; i < costs.instances; i++)
    memory[i] = single ? static_cast<const float*>(costs.data)[i * costs.instance_stride]
                       : static_cast<const double*>(costs.data)[i * costs.instance_stride];
  return memory;
}

Least least_of(const double* x, long n) {
  Least result{HUGE_VAL, -1};
  for (long i = 0; i < n; i++)
    if (std::isfinite(x[i]) && x[i] < result.value) result = {x[i], i};
  return result;
}

}  // namespace

void CpuReduction::find_least(const ArrayRef& costs, void*) {
  const ScratchGuard guard;
  double* memory = static_cast<double*>(scratch_stack.take(sizeof(double) * costs.instances));
  best_ = least_of(dense(costs, memory), costs.instances);
}

void CpuReduction::find_weights(const ArrayRef& costs, double temperature, const ArrayRef& weights, void*) {
  const long n = costs.instances;
  const ScratchGuard guard;
  const double* cost = dense(costs, static_cast<double*>(scratch_stack.take(sizeof(double) * n)));
  double* w = static_cast<double*>(weights.data);
  best_ = least_of(cost, n);
  for (long i = 0; i < n; i++) {
    const double x = (best_.value - cost[i]) / temperature;  // not > -700 if the cost is NaN or infinite
    const bool counts = x > -700 && x <= 0;
    w[i] = counts ? vector_math::exp(counts ? x : 0.0) : 0.0;
  }
  const double sum = tree_sum<double>([&](long i) { return w[i]; }, 0, n);
  for (long i = 0; best_.index >= 0 && i < n; i++) w[i] /= sum;
}

void CpuReduction::find_mean(const SequenceMemory& x, long steps, const ArrayRef& weights, const ArrayRef& mean, void*,
                             const ArrayRef* center) {
  const double* w = static_cast<const double*>(weights.data);
  if (x.array.precision == Precision::float32) mean_of<float>(x, steps, w, threads_, mean, center);
  else mean_of<double>(x, steps, w, threads_, mean, center);
}

Least CpuReduction::best(void*) {
  if (best_.index == -2) throw Error("nothing was reduced");
  return best_;
}

}  // namespace featherstorm
