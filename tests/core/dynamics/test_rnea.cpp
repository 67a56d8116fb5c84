// Inverse dynamics against the dense oracle and equations of textbooks. RBDA chapter 5.
#include "core/dynamics/rnea.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"

namespace featherstorm::test_rnea {
namespace {

using namespace testing;

TEST(Rnea, EqualsDenseOracle) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    for (const std::vector<double>& f_ext : {s.f_ext, std::vector<double>{}})
      EXPECT_LT(relative_error(call_rnea(c.model(), s.q, s.v, s.a, f_ext), c.oracle.rnea(s.q, s.v, s.a, f_ext),
                               force_scale(c, s.a)),
                tolerance<double>("rnea"));
  });
}

// Planar double pendulum of point masses at the ends of massless rods, absolute angles t1, t2 from the downward vertical:
//   (m1+m2) l1^2 t1'' + m2 l1 l2 cos(t1-t2) t2'' + m2 l1 l2 sin(t1-t2) t2'^2 + (m1+m2) g l1 sin t1 = Q1
//   m2 l2^2 t2'' + m2 l1 l2 cos(t1-t2) t1'' - m2 l1 l2 sin(t1-t2) t1'^2 + m2 g l2 sin t2 = Q2
// Joint angles q1 = t1, q2 = t2 - t1, so tau1 = Q1 + Q2 and tau2 = Q2.
TEST(Rnea, DoublePendulumTextbookEquations) {
  const double m1 = 1.1, m2 = 0.6, l1 = 0.8, l2 = 0.5, g = 9.81;
  ModelBuilder b;
  b.add_link({"upper", m1, Vec3d(0, 0, -l1)});
  b.add_link({"lower", m2, Vec3d(0, 0, -l2)});
  JointSpec j;
  j.name = "shoulder", j.child = "upper", j.axis = {0, 1, 0};
  b.add_joint(j);
  j.name = "elbow", j.parent = "upper", j.child = "lower", j.X.r = {0, 0, -l1};
  b.add_joint(j);
  const Robot robot = b.build();
  const double q1 = 0.7, q2 = -1.2, v1 = 1.5, v2 = -0.8, a1 = 2.0, a2 = 0.9;
  const auto tau = call_rnea<double>(robot.model, {q1, q2}, {v1, v2}, {a1, a2}, {});
  const double t1 = q1, t2 = q1 + q2, w1 = v1, w2 = v1 + v2, e1 = a1, e2 = a1 + a2;
  const double Q1 = (m1 + m2) * l1 * l1 * e1 + m2 * l1 * l2 * (std::cos(t1 - t2) * e2 + std::sin(t1 - t2) * w2 * w2) +
                    (m1 + m2) * g * l1 * std::sin(t1);
  const double Q2 = m2 * l2 * l2 * e2 + m2 * l1 * l2 * (std::cos(t1 - t2) * e1 - std::sin(t1 - t2) * w1 * w1) +
                    m2 * g * l2 * std::sin(t2);
  EXPECT_NEAR(tau[0], Q1 + Q2, 1e-13);
  EXPECT_NEAR(tau[1], Q2, 1e-13);
}

// A free body: force = m (a_c - g) in world axes, moment about the origin = Euler's equations and the lever of the force.
TEST(Rnea, FreeBodyEqualsEulerEquations) {
  Random random(5);
  RobotSpec spec;
  spec.links = {random_link(random, "body")};
  spec.floating = {"body"};
  const Case c(spec, 7);
  const State& s = c.state;
  const LinkSpec& link = spec.links[0];
  const Mat3d R = Eigen::Quaterniond(s.q[3], s.q[4], s.q[5], s.q[6]).toRotationMatrix();
  const Vec3d w(s.v[3], s.v[4], s.v[5]), e(s.a[3], s.a[4], s.a[5]), a(s.a[0], s.a[1], s.a[2]);
  const Vec3d a_c = R.transpose() * Vec3d(a - spec.gravity) + e.cross(link.com) + w.cross(w.cross(link.com));
  const Vec3d f = link.mass * a_c;
  const Vec3d n = link.inertia * e + w.cross(Vec3d(link.inertia * w)) + link.com.cross(f);
  const Vec3d f_world = R * f;
  const auto tau = call_rnea(c.model(), s.q, s.v, s.a, {});
  for (int k = 0; k < 3; k++) EXPECT_NEAR(tau[k], f_world(k), 1e-12);
  for (int k = 0; k < 3; k++) EXPECT_NEAR(tau[3 + k], n(k), 1e-12);
}

// Absent accelerations and velocities are zeros.
TEST(Rnea, AbsentArgumentsAreZeros) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    const std::vector<double> zero(m.nv, 0.0);
    std::vector<double> tau(m.nv);
    rnea(m, c.state.q.data(), Zeros<double>{}, Zeros<double>{}, Zeros<double>{}, tau.data());
    EXPECT_EQ(tau, call_rnea(m, c.state.q, zero, zero, {}));
  });
}

}  // namespace
}  // namespace featherstorm::test_rnea
