#include "tests/support/oracles/same_motion.h"

#include <gtest/gtest.h>

#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/rnea.h"
#include "core/kinematics/energy.h"
#include "core/kinematics/kinematics.h"
#include "core/kinematics/momentum.h"

namespace featherstorm::testing {

int joint_coordinates(const Model<double>& m, int i, bool position) {
  if (position) return (i < m.nb ? m.body[i + 1].q : m.nq) - m.body[i].q;
  return (i < m.nb ? m.body[i + 1].v : m.nv) - m.body[i].v;
}
Numbers mapped(const Robot& a, const Robot& b, const Numbers& x, bool position, Numbers y) {
  for (int j = 1; j <= b.model.nb; j++) {
    const int i = a.joint(b.joint_names[j - 1]);
    if (i < 0) continue;
    const Body<double>&from = a.model.body[i], &to = b.model.body[j];
    EXPECT_EQ(joint_coordinates(a.model, i, position), joint_coordinates(b.model, j, position));
    for (int k = 0; k < joint_coordinates(a.model, i, position); k++)
      y[(position ? to.q : to.v) + k] = x[(position ? from.q : from.v) + k];
  }
  return y;
}
State mapped(const Robot& a, const Robot& b, const State& s) {
  const Numbers zero(b.model.nv, 0.0);
  return {mapped(a, b, s.q, true, b.q0), mapped(a, b, s.v, false, zero), mapped(a, b, s.a, false, zero),
          mapped(a, b, s.tau, false, zero), Numbers(6 * b.model.nb, 0.0)};
}
void expect_near(const Numbers& a, const Numbers& b, double bound, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t k = 0; k < a.size(); k++) EXPECT_NEAR(a[k], b[k], bound) << what << " " << k;
}
double largest_of(const Numbers& a) {
  double e = 1;
  for (double x : a) e = std::max(e, std::abs(x));
  return e;
}
Numbers inverse_dynamics(const Robot& r, const State& s) {
  Numbers tau(r.model.nv);
  rnea(r.model, s.q.data(), s.v.data(), s.a.data(), Zeros<double>{}, tau.data());
  return tau;
}
Numbers forward_dynamics(const Robot& r, const State& s, const Numbers& f_ext) {
  Numbers a(r.model.nv);
  if (f_ext.empty()) articulated_bodies(r.model, s.q.data(), s.v.data(), s.tau.data(), Zeros<double>{}, a.data());
  else articulated_bodies(r.model, s.q.data(), s.v.data(), s.tau.data(), f_ext.data(), a.data());
  return a;
}
Numbers invariants(const Robot& r, const State& s) {
  Numbers x(17);
  energy(r.model, s.q.data(), s.v.data(), x.data());
  momentum(r.model, s.q.data(), s.v.data(), x.data() + 2, x.data() + 5, x.data() + 8, x.data() + 14);
  return x;
}
void expect_same_frames(const Robot& a, const State& s, const Numbers& qdd, const Robot& b, const State& t,
                        const Numbers& qdd_b, double bound) {
  Numbers pose_a(12 * a.model.nf), pose_b(12 * b.model.nf), x(6), y(6);
  forward_kinematics(a.model, s.q.data(), pose_a.data()), forward_kinematics(b.model, t.q.data(), pose_b.data());
  for (int f = 0; f < a.model.nf; f++) {
    const int g = b.frame(a.frame_names[f]);
    if (g < 0) continue;
    for (int k = 0; k < 12; k++) EXPECT_NEAR(pose_a[12 * f + k], pose_b[12 * g + k], 1e-12) << a.frame_names[f];
    frame_velocity(a.model, s.q.data(), s.v.data(), f, x.data());
    frame_velocity(b.model, t.q.data(), t.v.data(), g, y.data());
    expect_near(x, y, 1e-11, "velocity");
    frame_acceleration(a.model, s.q.data(), s.v.data(), qdd.data(), f, x.data());
    frame_acceleration(b.model, t.q.data(), t.v.data(), qdd_b.data(), g, y.data());
    expect_near(x, y, bound, "acceleration");
  }
}
void expect_same(const Robot& a, const Robot& b, unsigned seed) {
  ASSERT_EQ(a.model.nv, b.model.nv);
  const State s = random_state(a, seed), t = mapped(a, b, s);
  const Numbers zero(b.model.nv, 0.0), tau = inverse_dynamics(a, s), qdd = forward_dynamics(a, s);
  const Numbers tau_b = inverse_dynamics(b, t), qdd_b = forward_dynamics(b, t);
  expect_near(mapped(a, b, tau, false, zero), tau_b, 1e-12 * largest_of(tau), "tau");
  expect_near(mapped(a, b, qdd, false, zero), qdd_b, 1e-9 * largest_of(qdd), "qdd");
  expect_near(invariants(a, s), invariants(b, t), 1e-12 * largest_of(invariants(a, s)), "invariant");
  expect_same_frames(a, s, qdd, b, t, qdd_b, 1e-9 * largest_of(qdd));
  for (const std::string& f : a.frame_names) EXPECT_GE(b.frame(f), 0) << f;
}

void for_descriptions(bool floating, const std::function<void(const ModelBuilder&, const Robot&, unsigned)>& f) {
  for (unsigned seed = 1; seed <= 24; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 2 + static_cast<int>(seed % 7), o.floating = floating, o.roots = floating ? 0 : 0.1;
    const ModelBuilder b = builder(random_spec(seed, o));
    f(b, b.build(), seed);
  }
}

}  // namespace featherstorm::testing
