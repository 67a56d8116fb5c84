// Articulated bodies as rows run them, against inverse dynamics, three oracles and closed forms. RBDA chapter 7.
#include "core/dynamics/articulated_bodies.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"

namespace featherstorm::test_articulated_bodies {
namespace {

using namespace testing;

using dense::MatrixX;
using dense::VectorX;

double acceleration_scale(const Case& c, const VectorX& qdd) {
  return condition(c.oracle.crba(c.state.q)) * (1 + qdd.cwiseAbs().maxCoeff());
}

TEST(ArticulatedBodies, InvertsRnea) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const auto tau = call_rnea(c.model(), s.q, s.v, s.a, s.f_ext);
    const auto qdd = call_articulated_bodies(c.model(), s.q, s.v, tau, s.f_ext);
    const VectorX a = Eigen::Map<const VectorX>(s.a.data(), c.model().nv);
    EXPECT_LT(relative_error(qdd, a, acceleration_scale(c, a)), tolerance<double>("aba_qdd"));
  });
}

TEST(ArticulatedBodies, RneaInvertsIt) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const auto qdd = call_articulated_bodies(c.model(), s.q, s.v, s.tau, {});
    EXPECT_LT(relative_error(call_rnea(c.model(), s.q, s.v, qdd, {}), s.tau, force_scale(c, qdd)),
              tolerance<double>("rnea"));
  });
}

TEST(ArticulatedBodies, EqualsDenseArticulatedBodies) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    for (const std::vector<double>& f_ext : {s.f_ext, std::vector<double>{}}) {
      const VectorX expected = c.oracle.aba(s.q, s.v, s.tau, f_ext);
      const auto qdd = call_articulated_bodies(c.model(), s.q, s.v, s.tau, f_ext);
      EXPECT_LT(relative_error(qdd, expected, acceleration_scale(c, expected)), tolerance<double>("aba_qdd"));
      EXPECT_LT(force_error(c, qdd, {expected.data(), expected.data() + expected.size()}), tolerance<double>("aba"));
    }
  });
}

// All bodies and all constraint forces at once, gravity as a force: RBDA (3.74).
TEST(ArticulatedBodies, EqualsMaximalCoordinates) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const VectorX expected = c.oracle.maximal_coordinates(s.q, s.v, s.tau, s.f_ext);
    EXPECT_LT(relative_error(call_articulated_bodies(c.model(), s.q, s.v, s.tau, s.f_ext), expected,
                             acceleration_scale(c, expected)),
              tolerance<double>("aba_qdd"));
  });
}

TEST(ArticulatedBodies, EqualsDenseSolve) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const std::vector<double> zero(c.model().nv, 0.0);
    const VectorX tau = Eigen::Map<const VectorX>(s.tau.data(), c.model().nv);
    const VectorX expected = c.oracle.inertia_by_columns(s.q).llt().solve(tau - c.oracle.rnea(s.q, s.v, zero, s.f_ext));
    EXPECT_LT(relative_error(call_articulated_bodies(c.model(), s.q, s.v, s.tau, s.f_ext), expected,
                             acceleration_scale(c, expected)),
              tolerance<double>("aba_qdd"));
  });
}

// qdd = (tau - m g l sin q) / (m l^2 + I_rotor)
TEST(ArticulatedBodies, PendulumClosedForm) {
  ModelBuilder b;
  b.add_link({"bob", 1.3, Vec3d(0, 0, -0.7)});
  JointSpec j;
  j.name = "hinge", j.child = "bob", j.axis = {0, 1, 0}, j.armature = {0.2};
  b.add_joint(j);
  const auto qdd = call_articulated_bodies<double>(b.build().model, {0.4}, {5}, {1.1}, {});
  EXPECT_NEAR(qdd[0], (1.1 - 1.3 * 9.81 * 0.7 * std::sin(0.4)) / (1.3 * 0.49 + 0.2), 1e-13);
}

// A free body with no force but gravity falls, and its spin follows Euler's equations about the centre of mass.
TEST(ArticulatedBodies, FreeBodyFallsAndPrecesses) {
  RobotSpec spec;
  LinkSpec l{"body", 2.0};
  l.inertia = Vec3d(1, 2, 2.5).asDiagonal();
  spec.links = {l};
  spec.floating = {"body"};
  const Robot r = build(spec);
  const auto qdd = call_articulated_bodies<double>(r.model, {1, 2, 3, 0.5, -0.5, 0.5, 0.5}, {1, -1, 2, 0.3, 0.7, -0.4},
                                                   std::vector<double>(6, 0.0), {});
  const double expected[] = {
      0, 0, -9.81, (2 - 2.5) * 0.7 * -0.4 / 1, (2.5 - 1) * -0.4 * 0.3 / 2, (1 - 2) * 0.3 * 0.7 / 2.5};
  for (int k = 0; k < 6; k++) EXPECT_NEAR(qdd[k], expected[k], 1e-14);
}

// RBDA Example 7.1: an inner body slides along y and turns about x in the slot of a box; I^A of the box is
// diag(I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2).
TEST(ArticulatedBodies, ArticulatedInertiaOfTheSlottedBox) {
  const double m1 = 3, m2 = 2, I1 = 0.7, I2 = 0.4;
  ModelBuilder b;
  LinkSpec box{"box", m1}, inner{"inner", m2};
  box.inertia = I1 * Mat3d::Identity(), inner.inertia = I2 * Mat3d::Identity();
  b.add_link(box), b.add_link({"slide"}), b.add_link(inner);
  b.float_root("box");
  JointSpec j;
  j.name = "slot", j.type = JointType::Prismatic, j.parent = "box", j.child = "slide", j.axis = {0, 1, 0};
  b.add_joint(j);
  j.name = "pin", j.type = JointType::Revolute, j.parent = "slide", j.child = "inner", j.axis = {1, 0, 0};
  b.add_joint(j);
  const Robot robot = b.build();
  const Model<double>& m = robot.model;
  // the pass towards the root at the neutral position
  std::vector<double> v(m.nv, 0.0), x(m.nx), tau{0}, y(1);
  std::vector<ArticulatedInertia<double>> IA;
  for (const Body<double>& body : m.body) IA.push_back(articulated<double>(body.I));
  Force<double> pa, G[1];
  for (int i : {3, 2}) {
    update_joint(m, i, robot.q0, v, x);
    with_joint(m, i, x, [&](const auto& J) {
      if constexpr (std::remove_cvref_t<decltype(J)>::nv == 1) {
        ArticulatedInertia<double> Ia;
        const auto armature = [&](int k) { return m.armature[m.body[i].v + k]; };
        articulate(J, armature, m.body[i].rotor, tau, IA[i], zero_force<double>(), G, y.data(), Ia, pa);
        IA[i - 1] = IA[i - 1] + apply_transpose(J, Ia);
      }
    });
  }
  dense::Matrix6 A, expected = dense::Matrix6::Zero();
  A << full(IA[1].I), IA[1].H, IA[1].H.transpose(), full(IA[1].M);
  expected.diagonal() << I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2;
  EXPECT_LT((A - expected).norm(), 1e-14);
}

// The joint's own motion is eliminated exactly: I^a S = 0, zeros to the bit for revolute and prismatic joints.
TEST(ArticulatedBodies, ApparentInertiaHasNoResistanceAlongTheJoint) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    std::vector<double> x(m.nx);
    for (int i = 1; i <= m.nb; i++) {
      const Body<double>& b = m.body[i];
      if (b.rotor || b.I.m == 0) continue;
      update_joint(m, i, c.state.q, c.state.v, x);
      with_joint(m, i, x, [&](const auto& J) {
        constexpr int n = std::remove_cvref_t<decltype(J)>::nv;
        ArticulatedInertia<double> IA = articulated<double>(b.I), Ia;
        Force<double> pa, G[n];
        std::vector<double> tau(n, 0.0), y(n);
        const auto armature = [](int) { return 0.0; };
        articulate(J, armature, false, tau, IA, zero_force<double>(), G, y.data(), Ia, pa);
        const auto resistance = [&](int k) {
          const Force<double> f = J.force_of_axis(k, Ia);
          return f.n.cwiseAbs().maxCoeff() + f.f.cwiseAbs().maxCoeff();
        };
        for (int k = 0; k < n; k++) EXPECT_LE(resistance(k), 1e-12);
        // what the pass then clears was zero but for rounding, and is exactly zero for sparse axes
        const ArticulatedInertia<double> before = Ia;
        set_exact(J, false, tau, Ia, pa);
        EXPECT_LE((Ia.H - before.H).cwiseAbs().maxCoeff(), 1e-12);
        const bool exact = b.shape == JointShape::Revolute || b.shape == JointShape::RevoluteTilted ||
                           b.shape == JointShape::Prismatic || b.shape == JointShape::Free;
        for (int k = 0; k < n; k++) EXPECT_LE(resistance(k), exact ? 0 : 1e-12);
      });
    }
  });
}

TEST(ArticulatedBodies, GravityIsFelt) {
  for_random_robots(
      [](const Case& c) {
        Model<double> m = c.model();
        const State& s = c.state;
        m.gravity = m.gravity * 2.0;
        RobotSpec heavy = c.spec;
        heavy.gravity *= 2;
        const VectorX expected = dense::Tree(heavy, c.robot).aba(s.q, s.v, s.tau, s.f_ext);
        EXPECT_LT(relative_error(call_articulated_bodies(m, s.q, s.v, s.tau, s.f_ext), expected,
                                 acceleration_scale(c, expected)),
                  tolerance<double>("aba_qdd"));
      },
      10);
}

// Working memory grows as it must: a chain of a thousand links, as accurate as a dense solve.
TEST(ArticulatedBodies, ChainOfAThousandLinks) {
  RandomOptions o;
  o.bodies = 1000, o.types = {JointType::Revolute}, o.reversed = 0, o.branching = 0, o.roots = 0, o.fixed = 0,
  o.armature = 1;
  const Robot r = random_robot(1, o);
  const Model<double>& m = r.model;
  ASSERT_EQ(m.nv, 1000);
  State s = random_state(r, 1);
  for (double& x : s.v) x *= 0.01;
  const std::vector<double> zero(m.nv, 0.0);
  const auto packed = call_crba(m, s.q), C = call_rnea(m, s.q, s.v, zero, {});
  const MatrixX H = dense::unpacked(m, packed);
  VectorX rhs(m.nv);
  for (int k = 0; k < m.nv; k++) rhs(k) = s.tau[k] - C[k];
  const VectorX expected = H.llt().solve(rhs);
  const auto qdd = call_articulated_bodies(m, s.q, s.v, s.tau, {});
  // H has a condition number of 1e8 or so; both solutions satisfy the equation of motion to rounding of its terms
  const auto tau = call_rnea(m, s.q, s.v, qdd, {});
  const double term = H.cwiseAbs().maxCoeff() * largest(qdd) + largest(C);
  EXPECT_LT(relative_error(tau, s.tau, term), 1e-12);
  EXPECT_LT(relative_error(qdd, expected, expected.cwiseAbs().maxCoeff()), 1e-6);
  auto factor = packed;
  ltdl(m, factor.data());
  std::vector<double> x(rhs.data(), rhs.data() + m.nv);
  solve<Factor::LTDL>(m, factor, x.data());
  EXPECT_LT(relative_error(x, expected, expected.cwiseAbs().maxCoeff()), 1e-6);
}

// The same call gives the same bits, whatever ran before it on the thread's working memory.
TEST(ArticulatedBodies, IsDeterministic) {
  RandomOptions o;
  const Case small(random_spec(1, o), 1);
  o.bodies = 40;
  const Case big(random_spec(2, o), 2);
  const State& s = small.state;
  const auto first = call_articulated_bodies(small.model(), s.q, s.v, s.tau, s.f_ext);
  for (int k = 0; k < 3; k++) {
    call_articulated_bodies(big.model(), big.state.q, big.state.v, big.state.tau, big.state.f_ext);
    EXPECT_EQ(call_articulated_bodies(small.model(), s.q, s.v, s.tau, s.f_ext), first);
  }
}

}  // namespace
}  // namespace featherstorm::test_articulated_bodies
