// Robots with what they may carry, and states of batches, for tests of simulations and rollouts; on the host or on a device.
#pragma once
#include <string>
#include <vector>

#include "core/model/contacts.h"
#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/load/sample_q.h"
#include "host/memory/device.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::testing {

inline Robot standing_go2() {
  Robot r = load("go2");
  std::vector<ContactSpec> feet;
  for (const char* foot : {"FL_foot", "FR_foot", "RL_foot", "RR_foot"})
    feet.push_back(on_ground(foot, {0, 0, 0}, 0.022, 0.8));
  r.model.contacts = contacts_of(r, feet);
  return r;
}
inline Robot gripping_panda() { return load("panda", {.mimic = UrdfOptions::Mimic::kCouple}); }

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

inline std::string message(const auto& f) {
  try {
    f();
  } catch (const std::exception& e) { return e.what(); }
  return "no error";
}

}  // namespace featherstorm::testing
