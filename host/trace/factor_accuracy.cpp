#include "host/trace/factor_accuracy.h"

#include <algorithm>
#include <cmath>

#include "core/dynamics/forward_dynamics.h"
#include "host/load/sample_q.h"

namespace featherstorm {
namespace {

constexpr int states = 16;
constexpr double factor_of_error = 16, unit_of_error = 2e-5;  // what kernel_check.cpp allows a kernel in float
constexpr double four_digits = 1e-4;

// The largest difference; infinite where the second is no number.
double difference(const std::vector<double>& exact, const std::vector<float>& found) {
  double d = 0;
  for (std::size_t k = 0; k < exact.size(); k++) {
    const double x = std::abs(found[k] - exact[k]);
    d = x <= d ? d : std::isfinite(x) ? x : HUGE_VAL;
  }
  return d;
}

}  // namespace

bool factor_keeps_digits(const Model<double>& m) {
  for (const UserJoint& joint : m.user)
    if (joint.time_dependent) return true;  // it has no place without a time
  const Model<float> single = cast<float>(m);
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<> uniform(-1, 1);
  const std::vector<double> inertia = natural_inertia(m, engine);
  std::vector<double> v(m.nv), tau(m.nv), exact(m.nv);
  std::vector<float> by_bodies(m.nv), by_factor(m.nv);
  int failed = 0, lost = 0;
  for (int i = 0; i < states; i++) {
    const std::vector<double> q = sample_q(m, engine);
    for (double& x : v) x = uniform(engine);
    for (int k = 0; k < m.nv; k++) tau[k] = 10 * inertia[k] * uniform(engine);
    const std::vector<float> qf(q.begin(), q.end()), vf(v.begin(), v.end()), tau_f(tau.begin(), tau.end());
    articulated_bodies(m, q.data(), v.data(), tau.data(), Zeros<double>{}, exact.data());
    articulated_bodies(single, qf.data(), vf.data(), tau_f.data(), Zeros<float>{}, by_bodies.data());
    fd_crba(single, qf.data(), vf.data(), tau_f.data(), Zeros<float>{}, by_factor.data());
    double size = 0;
    for (double a : exact) size = std::max(size, std::abs(a));
    const double bodies = std::min(difference(exact, by_bodies), size);
    const double factor = difference(exact, by_factor);
    failed += !(factor <= factor_of_error * bodies + unit_of_error * size);
    lost += !(factor <= std::max(factor_of_error * bodies, four_digits * size));
  }
  return 4 * failed <= states && lost <= 1;
}

}  // namespace featherstorm
