// Robots with what they may carry, and states of batches, for tests of simulations and rollouts; on the host or on a device.
#pragma once
#include <string>
#include <vector>

#include "core/model/contacts.h"
#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/load/sample_q.h"
#include "host/memory/device.h"
#include "host/simulation/rollout.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/message.h"

namespace featherstorm::testing {

// The feet of go2 on the ground.
inline std::vector<ContactSpec> go2_feet(double friction = 0.8, double restitution = 0) {
  std::vector<ContactSpec> feet;
  for (const char* foot : {"FL_foot", "FR_foot", "RL_foot", "RR_foot"})
    feet.push_back(on_ground(foot, {0, 0, 0}, 0.022, friction, restitution));
  return feet;
}
inline Robot standing_go2() { return load("go2", {.contacts = go2_feet()}); }
inline Robot gripping_panda() { return load("panda", {.mimic = UrdfOptions::Mimic::kCouple}); }

// A cart with a pole, pushed along its rail. Its cost is the distance from p[0], a little of its speed and of the push.
inline RolloutOptions pushed_cart(Precision precision = Precision::float64) {
  RolloutOptions o;
  o.stepping = {.dt = 0.05}, o.controls = 1, o.parameters = 1, o.precision = precision;
  o.control = [](const TracedState&, const Traced& u, Expr, const Traced&) -> RolloutOptions::Drive {
    return {{u[0], Expr(0.0)}};
  };
  o.cost = [](const TracedState& x, const Traced& u, Expr, const Traced& goal) {
    return (x.q[0] - goal[0]) * (x.q[0] - goal[0]) + 0.01 * x.v[0] * x.v[0] + 1e-4 * u[0] * u[0];
  };
  return o;
}

// An instance at rest where all coordinates are 0.
struct AtRest {
  Buffer q, v;
  explicit AtRest(int coordinates, Precision p = Precision::float64) : q(p, 1, coordinates), v(p, 1, coordinates) {}
  RolloutArrays with(std::vector<double> p) const { return {.q = q.ref(), .v = v.ref(), .p = std::move(p)}; }
};

// (B, n) in [-size, size], the same for the same seed.
inline Buffer noise(Precision p, long B, long n, double size, unsigned seed, int device = on_host) {
  Random random(seed);
  const Buffer b(p, B, n);
  for (long i = 0; i < B; i++)
    for (long c = 0; c < n; c++) {
      const double x = random.uniform(-size, size);
      if (p == Precision::float32) b.component<float>(c)[i] = static_cast<float>(x);
      else b.component<double>(c)[i] = x;
    }
  if (device == on_host) return b;
  const Buffer there(p, B, n, device);
  copy(b.ref(), there.ref());
  return there;
}

// The numbers of an array anywhere, instance by instance.
inline std::vector<double> numbers_of(const ArrayRef& a) {
  Buffer host(a.precision, a.instances, a.components);
  ArrayRef at = a;
  if (a.device != on_host) copy(a, host.ref()), at = host.ref();
  std::vector<double> x;
  for (long i = 0; i < a.instances; i++)
    for (long c = 0; c < a.components; c++) {
      const long k = i * at.instance_stride + c * at.component_stride;
      x.push_back(a.precision == Precision::float32 ? static_cast<const float*>(at.data)[k]
                                                    : static_cast<const double*>(at.data)[k]);
    }
  return x;
}

inline double farthest(const std::vector<double>& a, const std::vector<double>& b) {
  double d = a.size() == b.size() ? 0 : HUGE_VAL;
  for (std::size_t k = 0; k < a.size() && k < b.size(); k++) {
    const double x = std::abs(a[k] - b[k]);
    d = x <= d ? d : std::isfinite(x) ? x : HUGE_VAL;
  }
  return d;
}

}  // namespace featherstorm::testing
