#include <gtest/gtest.h>

#include "core/reference/loops/assembly.h"

#include "core/reference/loops/null_space.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/robots/linkages.h"

namespace featherstorm::test_assembly {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Handle random_handle(Random& random) {
  Handle h;
  Matrix6d A;
  for (int i = 0; i < 6; i++) {
    h.p(i) = random.uniform(-1, 1);
    for (int j = 0; j < 6; j++) A(i, j) = random.uniform(-1, 1);
  }
  h.I = A * A.transpose() + 0.3 * Matrix6d::Identity();
  return h;
}
JointSpaces random_spaces(Random& random, int n) {
  MatrixXd S(6, n);
  Vector6d c;
  for (int i = 0; i < 6; i++) {
    c(i) = random.uniform(-1, 1);
    for (int j = 0; j < n; j++) S(i, j) = random.uniform(-1, 1);
  }
  return joint_spaces(S, c);
}

TEST(Assembly, ThreeFormulaeOfTable72GiveTheSameArticulatedBody) {
  Random random(4);
  for (int n = 1; n <= 5; n++)
    for (int trial = 0; trial < 10; trial++) {
      const Handle h1 = random_handle(random), h2 = random_handle(random);
      const JointSpaces J = random_spaces(random, n);
      const VectorXd tau = VectorXd::LinSpaced(n, -1, 2);
      const Handle s = assemble(h1, h2, J, tau), t = assemble_implicit(h1, h2, J, tau);
      const InverseHandle u = inverse(s), w = assemble_inverse(inverse(h1), inverse(h2), J, tau);
      EXPECT_LT((s.I - t.I).norm(), 1e-9 * s.I.norm());
      EXPECT_LT((s.p - t.p).norm(), 1e-8 * (1 + s.p.norm()));
      EXPECT_LT((u.Phi - w.Phi).norm(), 1e-8 * u.Phi.norm());
      EXPECT_LT((u.b - w.b).norm(), 1e-8 * (1 + u.b.norm()));
      // f = I a + p holds for the two bodies with their joint: I_2 a_2 + p_2 = T_a tau + T lambda
      const Vector6d f = Vector6d::LinSpaced(-2, 3), a1 = u.Phi * f + u.b;
      const Vector6d f2 = f - h1.I * a1 - h1.p, a2 = h2.I.ldlt().solve(f2 - h2.p);
      EXPECT_LT((J.S.transpose() * f2 - tau).norm(), 1e-8);
      EXPECT_LT((J.T.transpose() * (a2 - a1 - J.c)).norm(), 1e-8);
    }
}

TEST(Assembly, SlottedBoxOfExample71) {
  // a body in a slot that may turn about x and slide along y of the box, both mass centres at the origin
  const double I1 = 2, I2 = 0.3, m1 = 5, m2 = 1.5;
  Handle box{Matrix6d::Zero(), Vector6d::Zero()}, inner = box;
  box.I.diagonal() << I1, I1, I1, m1, m1, m1;
  inner.I.diagonal() << I2, I2, I2, m2, m2, m2;
  MatrixXd S = MatrixXd::Zero(6, 2);
  S(0, 0) = S(4, 1) = 1;
  Matrix6d expected = Matrix6d::Zero();
  expected.diagonal() << I1, I1 + I2, I1 + I2, m1 + m2, m1, m1 + m2;
  const Handle A = assemble(box, inner, joint_spaces(S, Vector6d::Zero()), VectorXd::Zero(2));
  EXPECT_LT((A.I - expected).norm(), 1e-14);
}

TEST(Assembly, ForwardDynamicsOfTreesIsThatOfArticulatedBodies) {
  for (unsigned seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 1 + static_cast<int>(seed % 12), o.armature = 0, o.floating = seed % 3 == 0;
    const Case c(random_spec(seed, o), seed);
    const State& s = c.state;
    const AssemblyResult r = fd_assembly(c.model(), {}, s.q.data(), s.v.data(), s.tau.data());
    const VectorXd expected = c.oracle.aba(s.q, s.v, s.tau, {});
    EXPECT_LT((expected - r.qdd).norm(), 1e-8 * (1 + r.qdd.norm()));
    const VectorXd whole = fd_whole_system(c.model(), {}, s.q.data(), s.v.data(), s.tau.data());
    EXPECT_LT((expected - whole).norm(), 1e-8 * (1 + r.qdd.norm()));
  }
}

TEST(Assembly, ChainsTakeALogarithmicNumberOfRounds) {
  for (int n : {1, 3, 7, 15, 31}) {
    RandomOptions o;
    o.bodies = n, o.branching = 0, o.roots = 0, o.armature = 0, o.types = {JointType::Revolute};
    const Robot robot = random_robot(5, o);
    const State s = random_state(robot, 5);
    const AssemblyResult r = fd_assembly(robot.model, {}, s.q.data(), s.v.data(), s.tau.data());
    EXPECT_EQ(1 << r.rounds, n + 1);
  }
}

TEST(Assembly, ClosesLoopsAsJointsLikeOthers) {
  for (const Linkage& l : linkages())
    for (unsigned seed = 1; seed <= 4; seed++) {
      SCOPED_TRACE(l.name + ", seed " + std::to_string(seed));
      const Model<double>& m = l.model();
      const State s = admissible_state(l, seed);
      const ClosedLoopSystem e = closed_loop_system(m, l.loops, s.q.data(), s.v.data(), nullptr, 0);
      const VectorXd qdd = fd_loops_kkt(e, vector(s.tau)).qdd;
      const AssemblyResult r = fd_assembly(m, l.loops, s.q.data(), s.v.data(), s.tau.data());
      EXPECT_LT((r.qdd - qdd).norm(), 1e-7 * (1 + qdd.norm()));
      const VectorXd whole = fd_whole_system(m, l.loops, s.q.data(), s.v.data(), s.tau.data());
      EXPECT_LT((whole - qdd).norm(), 1e-7 * (1 + qdd.norm()));
    }
}

}  // namespace
}  // namespace featherstorm::test_assembly
