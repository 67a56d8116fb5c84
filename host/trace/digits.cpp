#include "host/trace/digits.h"

#include <algorithm>
#include <cmath>

#include "core/dynamics/forward_dynamics.h"
#include "host/load/sample_q.h"

namespace featherstorm {
namespace {

constexpr int states = 16, form_states = 8;  // states of each kind
// the limits of kernel_check.cpp for kernels in float and in double
constexpr double factor_of_error = 16, unit_of_error = 2e-5;
constexpr double double_of_error = 64 * 0x1p-29, most_of_size = 1e4, double_unit = 1e-9, of_conditioning = 16;
constexpr double four_digits = 1e-4;

bool depends_on_time(const Model<double>& m) {  // then placements need a time
  return std::any_of(m.user.begin(), m.user.end(), [](const UserJoint& joint) { return joint.time_dependent; });
}

template <class Real, class Solve>
std::vector<Real> solve(const Model<Real>& m, const SolvedState& s, const Solve& by) {
  const std::vector<Real> q(s.q.begin(), s.q.end()), v(s.v.begin(), s.v.end()), tau(s.tau.begin(), s.tau.end());
  std::vector<Real> a(m.nv);
  by(m, q.data(), v.data(), tau.data(), Zeros<Real>{}, a.data());
  return a;
}
constexpr auto by_bodies = [](const auto&... x) { articulated_bodies(x...); };
constexpr auto by_factor = [](const auto&... x) { fd_crba(x...); };

// The largest difference; infinite where the second array is not finite.
template <class Real> double difference(const std::vector<double>& exact, const std::vector<Real>& found) {
  double d = 0;
  for (std::size_t k = 0; k < exact.size(); k++) {
    const double x = std::abs(found[k] - exact[k]);
    d = x <= d ? d : std::isfinite(x) ? x : HUGE_VAL;
  }
  return d;
}

using Position = std::vector<double>(const Model<double>&, std::mt19937_64&);
std::vector<double> anywhere(const Model<double>& m, std::mt19937_64& engine) { return sample_q(m, engine); }

std::vector<SolvedState> solved_states(const Model<double>& m, const Model<float>& single, Position& position,
                                       int count) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<> uniform(-1, 1);
  const std::vector<double> inertia = natural_inertia(m, engine);
  std::vector<SolvedState> solved;
  for (int i = 0; i < count; i++) {
    SolvedState& s = solved.emplace_back();
    s.q = position(m, engine), s.v.resize(m.nv), s.tau.resize(m.nv);
    for (double& x : s.v) x = uniform(engine);
    for (int k = 0; k < m.nv; k++) s.tau[k] = 10 * inertia[k] * uniform(engine);
    s.exact = solve(m, s, by_bodies);
    for (double a : s.exact) s.size = std::isfinite(a) ? std::max(s.size, std::abs(a)) : HUGE_VAL;
    s.error = difference(s.exact, solve(single, s, by_bodies));
  }
  return solved;
}

}  // namespace

Model<double> off_by_few_roundings(Model<double> m) {
  std::mt19937_64 engine(3);
  std::uniform_real_distribution<> uniform(-1, 1);
  const auto change = [&](double& x) { x *= 1 + few_roundings * uniform(engine); };
  for (Body<double>& b : m.body) {
    for (double* x : {&b.I.m, &b.I.I.xx, &b.I.I.xy, &b.I.I.xz, &b.I.I.yy, &b.I.I.yz, &b.I.I.zz}) change(*x);
    for (int k = 0; k < 3; k++) change(b.I.h(k)), change(b.X_T.r(k));
    b.second_moments = second_moments(b.I.I);
  }
  return m;
}

bool factor_keeps_digits(const Model<double>& m) {
  if (depends_on_time(m)) return true;
  const Model<float> single = cast<float>(m);
  for (Position* position : {anywhere, starting_q}) {
    int failed = 0, lost = 0;
    for (const SolvedState& s : solved_states(m, single, *position, states)) {
      if (!std::isfinite(s.size)) continue;
      const double bodies = std::min(s.error, s.size);
      const double factor = difference(s.exact, solve(single, s, by_factor));
      failed += !(factor <= factor_of_error * bodies + unit_of_error * s.size);
      lost += !(factor <= std::max(factor_of_error * bodies, four_digits * s.size));
    }
    if (lost > 1 || (position == anywhere && 4 * failed > states)) return false;
  }
  return true;
}

FormAccuracy::FormAccuracy(const Model<double>& m) {
  if (depends_on_time(m)) return;
  const Model<float> single = cast<float>(m);
  random_ = solved_states(m, single, anywhere, form_states);
  starting_ = solved_states(m, single, starting_q, form_states);
  const Model<double> off = off_by_few_roundings(m);
  for (std::vector<SolvedState>* kind : {&random_, &starting_})
    for (SolvedState& s : *kind) s.conditioning = difference(s.exact, solve(off, s, by_bodies));
}

bool FormAccuracy::keeps_digits(const Model<double>& form) const {
  const Model<float> single = cast<float>(form);
  for (const std::vector<SolvedState>* kind : {&random_, &starting_}) {
    int failed = 0;
    for (const SolvedState& s : *kind) {
      if (!std::isfinite(s.size)) continue;
      const double in_double = difference(s.exact, solve(form, s, by_bodies));
      const double in_float = difference(s.exact, solve(single, s, by_bodies));
      if (std::isinf(in_double) || (std::isinf(in_float) && !std::isinf(s.error))) return false;
      const bool fails_in_float =
          s.error <= s.size && !(in_float <= factor_of_error * s.error + unit_of_error * s.size);
      const double allowed = double_of_error * std::min(s.error, most_of_size * s.size) + double_unit * s.size +
                             of_conditioning * s.conditioning;
      failed += fails_in_float || !(in_double <= allowed);
    }
    if (4 * failed > form_states) return false;
  }
  return true;
}

}  // namespace featherstorm
