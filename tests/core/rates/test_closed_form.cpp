// The closed form of the equation of motion with stacked matrices, Lynch and Park 9.4, against the texts of core/.
#include <gtest/gtest.h>

#include "core/dynamics/gravity_torques.h"
#include "core/dynamics/newton_euler.h"
#include "core/rates/coriolis_matrix.h"
#include "tests/support/oracles/lagrange.h"

namespace featherstorm::test_closed_form {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// (9.62)-(9.71) on the links of the dense oracle, for joints with constant S
struct Stacked {
  MatrixXd A, G, Gamma, L;
  VectorXd base;  // X a_0 of the links on the world
  Stacked(const dense::Tree& tree, const dense::Pose& p) {
    const int N = static_cast<int>(tree.node.size());
    A = MatrixXd::Zero(6 * N, tree.nv), G = Gamma = MatrixXd::Zero(6 * N, 6 * N), base = VectorXd::Zero(6 * N);
    for (int i = 0; i < N; i++) {
      const dense::Node& n = tree.node[i];
      A.block(6 * i, n.v, 6, n.nv) = p.S[i];
      G.block<6, 6>(6 * i, 6 * i) = n.I;
      if (n.parent >= 0) Gamma.block<6, 6>(6 * i, 6 * n.parent) = p.X[i];
      else base.segment<6>(6 * i) = p.X[i] * (dense::Vector6() << 0, 0, 0, -tree.gravity).finished();
    }
    L = (MatrixXd::Identity(6 * N, 6 * N) - Gamma).inverse();
  }
};
MatrixXd block_crm(const VectorXd& v) {
  MatrixXd B = MatrixXd::Zero(v.size(), v.size());
  for (int i = 0; i < v.size(); i += 6) B.block<6, 6>(i, i) = dense::crm(v.segment<6>(i));
  return B;
}

TEST(ClosedForm, OfLynchAndParkIsInertiaBiasAndGravity) {
  RandomOptions o;
  o.types = {JointType::Revolute, JointType::Prismatic, JointType::Helical}, o.reversed = 0, o.armature = 0;
  for (unsigned seed = 1; seed <= 15; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case c(random_spec(seed, o), seed);
    const Model<double>& m = c.model();
    const State& s = c.state;
    const dense::Pose p = c.oracle.pose(s.q, s.v);
    const Stacked x(c.oracle, p);
    const VectorXd qd = vector(s.v), V = x.L * (x.A * qd), Aqd = x.A * qd;
    // Gamma is nilpotent, so L is a finite sum: its blocks are transforms between links
    MatrixXd power = x.Gamma;
    for (std::size_t i = 1; i < c.oracle.node.size(); i++) power = (power * x.Gamma).eval();
    EXPECT_EQ(power.norm(), 0);
    for (std::size_t i = 0; i < c.oracle.node.size(); i++)
      EXPECT_LT((V.segment<6>(6 * i) - p.v[i]).norm(), 1e-12 * (1 + V.norm()));
    // M = A^T L^T G L A, (9.82)
    const MatrixXd LA = x.L * x.A, M = LA.transpose() * x.G * LA, H = dense::unpacked(m, call_crba(m, s.q));
    EXPECT_LT((M - H).norm(), 1e-12 * (1 + H.norm()));
    // c = -A^T L^T (G L [ad_Aqd] Gamma + [ad_V]^T G) L A qd, (9.83) with the sign of its first term corrected
    const VectorXd bias =
        -LA.transpose() * (x.G * x.L * block_crm(Aqd) * x.Gamma + block_crm(V).transpose() * x.G) * LA * qd;
    Numbers g(m.nv), full(m.nv), C(m.nv * m.nv);
    gravity_torques(m, s.q.data(), g.data());
    newton_euler(m, s.q.data(), s.v.data(), Zeros<double>{}, Zeros<double>{}, full.data());
    EXPECT_LT((bias - (vector(full) - vector(g))).norm(), 1e-11 * (1 + bias.norm()));
    // g = A^T L^T G L dV_base, (9.84)
    const VectorXd gravity = LA.transpose() * x.G * x.L * x.base;
    EXPECT_LT((gravity - vector(g)).norm(), 1e-12 * (1 + gravity.norm()));
  }
}

// Two links of length L with masses at their ends, in the vertical plane x-y. Lynch and Park 9.1.1.
struct PlanarArm {
  Robot robot;
  PlanarArm(double m1, double m2, double L1, double L2) : robot(build(spec(m1, m2, L1, L2))) {}
  static RobotSpec spec(double m1, double m2, double L1, double L2) {
    RobotSpec s;
    s.gravity = {0, -9.81, 0};
    const double mass[] = {m1, m2}, length[] = {L1, L2};
    for (int i = 0; i < 2; i++) {
      LinkSpec l{"link" + std::to_string(i), mass[i]};
      l.com = {length[i], 0, 0}, l.inertia.setZero();
      s.links.push_back(l);
      JointSpec j;
      j.name = "joint" + std::to_string(i), j.type = JointType::Revolute, j.child = l.name, j.axis = {0, 0, 1};
      if (i == 1) j.parent = "link0", j.X.r = {L1, 0, 0};
      s.joints.push_back(j);
    }
    return s;
  }
  Numbers torque(const Numbers& q, const Numbers& v, const Numbers& a) const {
    return call_rnea(robot.model, q, v, a, {});
  }
};

TEST(ClosedForm, OfThePlanarArmHasTheCorrectedNumbers) {
  // (9.8) with its printed errors corrected
  const Numbers q{0.3, 0.5}, v{0.7, -0.2}, a{1.1, 0.4}, rest{0, 0};
  const PlanarArm unit(1, 1, 1, 1), other(2, 1.5, 0.8, 0.6);
  EXPECT_NEAR(unit.torque(q, v, a)[0], 31.675171525520064, 1e-13);
  EXPECT_NEAR(unit.torque(q, v, a)[1], 9.534952150691163, 1e-13);
  EXPECT_NEAR(other.torque(q, v, a)[0], 37.39208550905786, 1e-13);
  EXPECT_NEAR(other.torque(q, v, a)[1], 7.82541025586286, 1e-13);
  EXPECT_NEAR(unit.torque(rest, rest, rest)[0], 29.43, 1e-13);
  EXPECT_NEAR(unit.torque(rest, rest, rest)[1], 9.81, 1e-13);
  const auto H = dense::unpacked(unit.robot.model, call_crba(unit.robot.model, q));
  EXPECT_NEAR(H(0, 0), 4.7551651237807455, 1e-14);
  EXPECT_NEAR(H(0, 1), 1.8775825618903728, 1e-14);
  EXPECT_NEAR(H(1, 1), 1.0, 1e-14);
  // h = m2 L1 L2 sin q2 is all there is of C: [-h qd2, -h (qd1 + qd2); h qd1, 0]
  double C[4];
  coriolis_matrix(unit.robot.model, q.data(), v.data(), C);
  const double h = std::sin(0.5);
  EXPECT_NEAR(C[0], -h * v[1], 1e-14);
  EXPECT_NEAR(C[1], -h * (v[0] + v[1]), 1e-14);
  EXPECT_NEAR(C[2], h * v[0], 1e-14);
  EXPECT_NEAR(C[3], 0, 1e-14);
}

}  // namespace
}  // namespace featherstorm::test_closed_form
