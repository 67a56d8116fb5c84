// Inverse dynamics against the dense oracle, identities and closed forms. RBDA chapter 5.
#include "core/dynamics/rnea.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"

namespace featherstorm::test_rnea {
namespace {

using namespace testing;

TEST(Rnea, EqualsDenseOracle) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const auto tau = call_rnea(c.model(), s.q, s.v, s.a, s.f_ext);
    EXPECT_LT(relative_error(tau, c.oracle.rnea(s.q, s.v, s.a, s.f_ext), force_scale(c, s.a)),
              tolerance<double>("rnea"));
  });
}

TEST(Rnea, WithoutExternalForcesEqualsDenseOracle) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const auto tau = call_rnea(c.model(), s.q, s.v, s.a, {});
    EXPECT_LT(relative_error(tau, c.oracle.rnea(s.q, s.v, s.a, {}), force_scale(c, s.a)), tolerance<double>("rnea"));
  });
}

// tau(qdd) = H qdd + C is linear in qdd with the matrix of the oracle.
TEST(Rnea, IsAffineInAcceleration) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const std::vector<double> zero(c.model().nv, 0.0);
    const auto tau = call_rnea(c.model(), s.q, s.v, s.a, s.f_ext), C = call_rnea(c.model(), s.q, s.v, zero, s.f_ext);
    const dense::VectorX Ha = c.oracle.crba(s.q) * Eigen::Map<const dense::VectorX>(s.a.data(), c.model().nv);
    std::vector<double> difference(tau);
    for (std::size_t i = 0; i < tau.size(); i++) difference[i] -= C[i];
    EXPECT_LT(relative_error(difference, Ha, force_scale(c, s.a)), tolerance<double>("rnea"));
  });
}

// Without gravity the forces at rest of the moving robot are quadratic in velocity.
TEST(Rnea, VelocityForcesAreHomogeneousOfDegreeTwo) {
  for_random_robots([](const Case& c) {
    Model<double> m = c.model();
    m.gravity = Vec3d::Zero();
    const State& s = c.state;
    std::vector<double> zero(m.nv, 0.0), twice(s.v);
    for (double& x : twice) x *= 2;
    auto C = call_rnea(m, s.q, s.v, zero, {});
    for (double& x : C) x *= 4;
    EXPECT_LT(relative_error(call_rnea(m, s.q, twice, zero, {}), C, force_scale(c, s.a)), tolerance<double>("rnea"));
  });
}

// The gravity trick a_0 = -a_g equals weights as external forces.
TEST(Rnea, GravityEqualsWeightsAsExternalForces) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    Model<double> m = c.model();
    const Vec3d g = m.gravity;
    m.gravity = Vec3d::Zero();
    std::vector<double> f = s.f_ext;
    const dense::Pose p = c.oracle.pose(s.q, s.v);
    for (std::size_t i = 0; i < c.oracle.node.size(); i++) {
      // the weight of a welded link acts on the body it is welded to, about that body's origin
      std::size_t b = i;
      while (c.oracle.node[b].body < 0 && c.oracle.node[b].parent >= 0) b = c.oracle.node[b].parent;
      const dense::Node &n = c.oracle.node[i], &body = c.oracle.node[b];
      if (body.body < 0) continue;  // welded to the world
      const Vec3d weight = n.mass * g, centre = (p.T[i] * n.com.homogeneous()).head<3>();
      const Vec3d origin = p.T[b].topRightCorner<3, 1>(), moment = (centre - origin).eval().cross(weight);
      for (int k = 0; k < 3; k++) f[6 * (body.body - 1) + k] += moment(k), f[6 * (body.body - 1) + 3 + k] += weight(k);
    }
    EXPECT_LT(relative_error(call_rnea(m, s.q, s.v, s.a, f), call_rnea(c.model(), s.q, s.v, s.a, s.f_ext),
                             force_scale(c, s.a)),
              tolerance<double>("rnea"));
  });
}

// d/dt (kinetic + potential energy) = tau . v + power of external forces, along a step of integrate().
TEST(Rnea, PowerOfJointForcesEqualsRateOfEnergy) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const Model<double>& m = c.model();
    const auto tau = call_rnea(m, s.q, s.v, s.a, {});
    double power = 0;
    for (int k = 0; k < m.nv; k++) power += tau[k] * s.v[k];
    // energy along q(t) = q + v t + a t^2 / 2, v(t) = v + a t, by the symmetric difference
    auto energy = [&](double t) {
      std::vector<double> q = s.q, v = s.v;
      for (int k = 0; k < m.nv; k++) v[k] += s.a[k] * t;
      for (int i = 1; i <= m.nb; i++) {
        const Body<double>& b = m.body[i];
        const int n = (i < m.nb ? m.body[i + 1].v : m.nv) - b.v;
        std::vector<double> u(n);
        for (int k = 0; k < n; k++) u[k] = s.v[b.v + k] * t + 0.5 * s.a[b.v + k] * t * t;
        if (b.type == JointType::UserDefined) m.user[b.user].integrate(b.parameter, &s.q[b.q], u.data(), &q[b.q]);
        else
          with_joint_type(b.type, [&](auto joint) {
            decltype(joint)::template integrate<double>(b, &s.q[b.q], u.data(), &q[b.q]);
          });
      }
      return c.oracle.kinetic_energy(q, v) + c.oracle.potential_energy(q);
    };
    const double t = 1e-4;
    const double rate = (8 * (energy(t) - energy(-t)) - (energy(2 * t) - energy(-2 * t))) / (12 * t);
    EXPECT_NEAR(power, rate, 1e-7 * (1 + std::abs(power) + std::abs(energy(0))));
  });
}

Robot pendulum(double mass, double length, double inertia, double armature = 0) {
  ModelBuilder b;
  LinkSpec link{"bob", mass, Vec3d(0, 0, -length)};
  link.inertia = Vec3d(inertia, inertia, 0).asDiagonal();
  b.add_link(link);
  JointSpec j;
  j.name = "hinge", j.child = "bob", j.axis = {0, 1, 0}, j.armature = {armature};
  b.add_joint(j);
  return b.build();
}

// tau = (m l^2 + I + I_rotor) qdd + m g l sin q
TEST(Rnea, PendulumClosedForm) {
  const double m = 1.3, l = 0.7, I = 0.05, rotor = 0.02, g = 9.81;
  const Robot robot = pendulum(m, l, I, rotor);
  for (double q : {-2.0, 0.0, 0.4, 3.0}) {
    const auto tau = call_rnea<double>(robot.model, {q}, {1.7}, {-2.5}, {});
    EXPECT_NEAR(tau[0], (m * l * l + I + rotor) * -2.5 + m * g * l * std::sin(q), 1e-13);
  }
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

// (M + m) x'' + m l cos(t) t'' - m l sin(t) t'^2 = force,  m l cos(t) x'' + m l^2 t'' - m g l sin(t) = 0 with t from upright
TEST(Rnea, CartPoleClosedForm) {
  const double M = 2, mass = 0.4, l = 0.6, g = 9.81, t = 0.5, w = 1.1, xdd = 0.7, e = -1.9;
  ModelBuilder b;
  b.add_link({"cart", M});
  b.add_link({"pole", mass, Vec3d(0, 0, l)});
  JointSpec slider;
  slider.name = "slider", slider.type = JointType::Prismatic, slider.child = "cart", slider.axis = {1, 0, 0};
  b.add_joint(slider);
  JointSpec hinge;
  hinge.name = "hinge", hinge.parent = "cart", hinge.child = "pole", hinge.axis = {0, 1, 0};
  b.add_joint(hinge);
  const auto tau = call_rnea<double>(b.build().model, {0.3, t}, {2.0, w}, {xdd, e}, {});
  EXPECT_NEAR(tau[0], (M + mass) * xdd + mass * l * (std::cos(t) * e - std::sin(t) * w * w), 1e-13);
  EXPECT_NEAR(tau[1], mass * l * std::cos(t) * xdd + mass * l * l * e - mass * g * l * std::sin(t), 1e-13);
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

// Armature adds armature * qdd to its own coordinate and nothing else.
TEST(Rnea, ArmatureActsOnItsOwnCoordinate) {
  RandomOptions o;
  o.armature = 1, o.bodies = 6;
  RobotSpec with = random_spec(3, o), without = with;
  for (JointSpec& j : without.joints) j.armature.clear();
  const Case a(with), b(without);
  const State& s = a.state;
  const auto x = call_rnea(a.model(), s.q, s.v, s.a, s.f_ext), y = call_rnea(b.model(), s.q, s.v, s.a, s.f_ext);
  int rotors = 0;
  for (int k = 0; k < a.model().nv; k++) {
    EXPECT_NEAR(x[k] - y[k], a.model().armature[k] * s.a[k], 1e-11);
    rotors += a.model().armature[k] > 0;
  }
  EXPECT_GT(rotors, 3);
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
