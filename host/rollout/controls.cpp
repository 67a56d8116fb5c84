#include "host/rollout/controls.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/memory/blocks.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

void check_count(const char* what, std::size_t came, long expected, long other) {
  const long n = static_cast<long>(came);
  if (n == 0 || n == expected || n == other) return;
  throw Error(std::string(what) + " has " + std::to_string(n) + " numbers, expected " + std::to_string(expected) +
              (other == expected ? "" : " or " + std::to_string(other)));
}

}  // namespace

KnotWindow knot_window(double time, long steps, long knots, Interpolation by) {
  const double last = static_cast<double>(steps - 1), t = time > 0 ? std::min(time, last) : 0.0;
  if (by == Interpolation::Hold || knots == 1) {
    const double knot = t * static_cast<double>(knots) / static_cast<double>(steps);
    return {static_cast<long>(knot), 1, {1.0}};
  }
  const double at = t * static_cast<double>(knots - 1) / last;
  const long k = std::min(static_cast<long>(at), knots - 2);
  const double s = at - static_cast<double>(k), s2 = s * s, s3 = s2 * s;
  if (by == Interpolation::Linear) return {k, 2, {1 - s, s}};
  const long first = std::max(k - 1, 0L);
  KnotWindow window{first, std::min(k + 3, knots) - first, {}};
  const auto add = [&](long i, double w) { window.weights[i - first] += w; };
  add(k, 2 * s3 - 3 * s2 + 1), add(k + 1, 3 * s2 - 2 * s3);
  // slopes: half the difference of the neighbours, at the ends that to the only one
  const auto add_slope = [&](long i, double w) {
    const long after = std::min(i + 1, knots - 1), before = std::max(i - 1, 0L);
    const double per_knot = w / static_cast<double>(after - before);
    add(after, per_knot), add(before, -per_knot);
  };
  add_slope(k, s3 - 2 * s2 + s), add_slope(k + 1, s3 - s2);
  return window;
}

double time_of_knot(long knot, long steps, long knots, Interpolation by) {
  if (knots == 1) return 0;
  if (by == Interpolation::Hold) return std::ceil(static_cast<double>(knot * steps) / static_cast<double>(knots));
  return static_cast<double>(knot * (steps - 1)) / static_cast<double>(knots - 1);
}

std::vector<double> interpolation_weights(long steps, long knots, Interpolation by) {
  if (knots < 1 || knots > steps)
    throw Error("knots is " + std::to_string(knots) + ", expected 1 to " + std::to_string(steps) +
                ", the number of steps");
  std::vector<double> weights(static_cast<std::size_t>(steps * knots));
  for (long t = 0; t < steps; t++) {
    const KnotWindow w = knot_window(static_cast<double>(t), steps, knots, by);
    std::copy_n(w.weights, w.count, weights.data() + t * knots + w.first);
  }
  return weights;
}

void check(const Controls& c, long steps, long instances, long n, Precision precision) {
  check_count("mean", c.mean.size(), steps * n, steps * n);
  check_count("sigma", c.sigma.size(), n, steps * n);
  check_count("lower", c.lower.size(), n, n);
  check_count("upper", c.upper.size(), n, n);
  if (!c.weights.empty() && static_cast<long>(c.weights.size()) % steps != 0)
    throw Error("weights has " + std::to_string(c.weights.size()) + " numbers, expected a multiple of the " +
                std::to_string(steps) + " steps");
  for (const auto* all : {&c.mean, &c.sigma, &c.weights})
    for (double x : *all)
      if (!std::isfinite(x)) throw Error("mean, sigma or weights of controls are not finite");
  for (std::size_t k = 0; k < c.lower.size() && k < c.upper.size(); k++)
    if (!(c.lower[k] <= c.upper[k]))
      throw Error("lower is " + std::to_string(c.lower[k]) + " and upper is " + std::to_string(c.upper[k]) +
                  ", expected lower <= upper");
  constexpr long numbers = 1L << 32;
  if (c.first_instance < 0 || c.first_instance > numbers - instances)
    throw Error("the first instance is number " + std::to_string(c.first_instance) + " of " +
                std::to_string(instances) + ", expected numbers from 0 to " + std::to_string(numbers - 1));
  if (!c.given) return;
  const ArrayRef& a = c.knots.array;
  if (c.weights.empty()) throw Error("knots are given without weights, expected weights (T, K)");
  if (a.instances != instances || a.components != n)
    throw Error("knots have shape (" + std::to_string(a.instances) + ", K, " + std::to_string(a.components) +
                "), expected (" + std::to_string(instances) + ", K, " + std::to_string(n) + ")");
  if (a.precision != precision) throw Error("knots have another precision than the sequence");
}

template <class Real>
PreparedControls<Real>::PreparedControls(const Controls& c, long steps, long n, const NoiseKernels& kernels)
    : c_(c), kernels_(kernels), n_(n), knots_(c.weights.empty() ? 1 : c.count(steps)) {
  slots_ = knots_;
  const auto copy = [](const std::vector<double>& from, long count, double absent) {
    Real* to = static_cast<Real*>(scratch_stack.take(sizeof(Real) * (count + 1)));
    for (long k = 0; k < count; k++) to[k] = static_cast<Real>(from.empty() ? absent : from[k]);
    return to;
  };
  constexpr double infinite = std::numeric_limits<double>::infinity();
  mean_step_ = c.mean.empty() ? 0 : n;
  sigma_step_ = static_cast<long>(c.sigma.size()) == steps * n ? n : 0;
  mean_ = copy(c.mean, c.mean.empty() ? n : steps * n, 0);
  sigma_ = copy(c.sigma, sigma_step_ ? steps * n : n, 1);
  lower_ = copy(c.lower, n, -infinite), upper_ = copy(c.upper, n, infinite);
  weights_ = copy(c.weights, c.weights.empty() ? 1 : steps * knots_, 1);
}

template <class Real>
void PreparedControls<Real>::begin(long first, long count, long padded, Real* z) const {
  if (!c_.given) return;
  for (long k = 0; k < knots_; k++) gather(c_.knots.at(k), first, count, padded, z + k * n_ * padded);
}

// Draw number k for all instances of the block, including the padding lanes after the batch.
template <class Real>
void PreparedControls<Real>::draw(long k, long first, long padded, Real* z) const {
  const std::uint32_t number = static_cast<std::uint32_t>(c_.first_instance + first);
  if constexpr (sizeof(Real) == 4)
    kernels_.normals_float(z, padded, padded, n_, c_.key, number, static_cast<std::uint32_t>(k));
  else kernels_.normals_double(z, padded, padded, n_, c_.key, number, static_cast<std::uint32_t>(k));
  if (c_.keep_mean && number == 0)
    for (long i = 0; i < n_; i++) z[i * padded] = 0;
}

template <class Real>
void PreparedControls<Real>::step(long t, long first, long padded, Real* z, long& drawn, Real* u) const {
  ControlNumbers<Real> x{mean_ + t * mean_step_, sigma_ + t * sigma_step_, lower_, upper_, weights_, knots_};
  if (c_.weights.empty()) {
    draw(t, first, padded, z);
  } else {
    x.weights = weights_ + t * knots_;
    // draw knots up to the last one that this step needs
    long last = knots_;
    while (last > 0 && x.weights[last - 1] == 0) last--;
    for (; !c_.given && drawn < last; drawn++) draw(drawn, first, padded, z + drawn * n_ * padded);
    x.knots = last;
  }
  if constexpr (sizeof(Real) == 4) kernels_.controls_float(x, z, n_, padded, u);
  else kernels_.controls_double(x, z, n_, padded, u);
}

template class PreparedControls<float>;
template class PreparedControls<double>;

}  // namespace featherstorm
