#include "host/rollout/reduce.h"

#include <cmath>

#include "core/scalar/scratch.h"
#include "core/scalar/vector_math.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

constexpr long leaf = 256, lanes = 16;  // numbers of a leaf of the tree, sums that are kept side by side in it

// The sum of f(i), first <= i < first + n, by a tree whose leaves have `leaf` numbers.
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

template <class Real>
void weighted_mean_of(const SequenceMemory& x, long steps, const double* w, const BlockThreads& threads, double* mean) {
  const long B = x.array.instances, n = x.array.components;
  const ScratchStack::Mark mark = scratch_stack.mark();
  Real* weights = static_cast<Real*>(scratch_stack.take(sizeof(Real) * (B + 1)));
  for (long i = 0; i < B; i++) weights[i] = static_cast<Real>(w[i]);
  const auto block = [&](long first, long count) {
    for (long k = first; k < first + count; k++) {
      const ArrayRef a = x.at(k / n);
      const Real* from = static_cast<const Real*>(a.data) + k % n * a.component_stride;
      const long stride = a.instance_stride;
      // a number of weight 0 does not count, whatever it is
      const auto term = [&](Real weight, Real number) { return weight > 0 ? weight * number : Real(0); };
      if (stride == 1) mean[k] = tree_sum<Real>([&](long i) { return term(weights[i], from[i]); }, 0, B);
      else mean[k] = tree_sum<Real>([&](long i) { return term(weights[i], from[i * stride]); }, 0, B);
    }
  };
  threads.for_each(steps * n, std::ref(block));
  scratch_stack.give_back(mark);
}

}  // namespace

Least least(const double* x, long n) {
  Least result{HUGE_VAL, -1};
  for (long i = 0; i < n; i++)
    if (std::isfinite(x[i]) && x[i] < result.value) result = {x[i], i};
  return result;
}

Least softmax_weights(const double* costs, long n, double temperature, double* w) {
  if (!(temperature > 0)) throw Error("temperature is " + std::to_string(temperature) + ", expected a positive number");
  const Least best = least(costs, n);
  if (best.index < 0) throw Error("no cost is finite");
  for (long i = 0; i < n; i++) {
    const double x = (best.value - costs[i]) / temperature;  // not > -700 where the cost is no number or infinite
    const bool counts = x > -700 && x <= 0;
    w[i] = counts ? vector_math::exp(counts ? x : 0.0) : 0.0;
  }
  const double sum = tree_sum<double>([&](long i) { return w[i]; }, 0, n);
  for (long i = 0; i < n; i++) w[i] /= sum;
  return best;
}

void weighted_mean(const SequenceMemory& x, long steps, const double* w, const BlockThreads& threads, double* mean) {
  if (x.array.precision == Precision::float32) weighted_mean_of<float>(x, steps, w, threads, mean);
  else weighted_mean_of<double>(x, steps, w, threads, mean);
}

}  // namespace featherstorm
