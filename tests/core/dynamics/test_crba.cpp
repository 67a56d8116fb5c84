// The joint-space inertia matrix. RBDA sections 6.2-6.4.
#include "core/dynamics/crba.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"

namespace featherstorm::test_crba {
namespace {

using namespace testing;

using dense::MatrixX;

TEST(Crba, EqualsDenseOracle) {
  for_random_robots([](const Case& c) {
    const MatrixX H = c.oracle.crba(c.state.q), G = dense::unpacked(c.model(), call_crba(c.model(), c.state.q));
    EXPECT_LT((G - H).cwiseAbs().maxCoeff(), tolerance<double>("crba") * H.cwiseAbs().maxCoeff());
  });
}

// Column k is the inverse dynamics of a unit acceleration at rest without gravity: RBDA (6.3).
TEST(Crba, ColumnsAreInverseDynamicsOfUnitAccelerations) {
  for_random_robots([](const Case& c) {
    Model<double> m = c.model();
    m.gravity = Vec3d::Zero();
    const MatrixX H = dense::unpacked(m, call_crba(m, c.state.q));
    const MatrixX columns = c.oracle.inertia_by_columns(c.state.q);
    const double bound = tolerance<double>("crba") * H.cwiseAbs().maxCoeff();
    EXPECT_LT((columns - H).cwiseAbs().maxCoeff(), bound);
    std::vector<double> rest(m.nv, 0.0);
    for (int k = 0; k < m.nv; k++) {
      std::vector<double> a(m.nv, 0.0);
      a[k] = 1;
      EXPECT_LT(relative_error(call_rnea(m, c.state.q, rest, a, {}), H.col(k).eval(), 1), bound);
      EXPECT_LT(relative_error(call_newton_euler(m, c.state.q, rest, a, {}), H.col(k).eval(), 1), bound);
    }
  });
}

TEST(Crba, IsPositiveDefinite) {
  for_random_robots([](const Case& c) {
    const MatrixX H = dense::unpacked(c.model(), call_crba(c.model(), c.state.q));
    EXPECT_GT(Eigen::SelfAdjointEigenSolver<MatrixX>(H).eigenvalues()(0), 0);
  });
}

TEST(Crba, KineticEnergyIsItsQuadraticForm) {
  for_random_robots([](const Case& c) {
    const MatrixX H = dense::unpacked(c.model(), call_crba(c.model(), c.state.q));
    const dense::VectorX v = Eigen::Map<const dense::VectorX>(c.state.v.data(), c.model().nv);
    const double T = c.oracle.kinetic_energy(c.state.q, c.state.v);
    EXPECT_NEAR(0.5 * v.dot(H * v), T, tolerance<double>("crba") * (1 + H.cwiseAbs().maxCoeff() * v.squaredNorm()));
  });
}

// Coordinates that are not ancestor and descendant do not touch: exact zeros in the oracle's matrix, and a forest of
// several robots has a block-diagonal one. RBDA (6.14)
TEST(Crba, OracleHasZerosWherePackedMatrixHasNoEntries) {
  for_random_robots([](const Case& c) {
    const MatrixX H = c.oracle.inertia_by_columns(c.state.q);
    const Model<double>& m = c.model();
    for (int i = 0; i < m.nv; i++)
      for (int j = 0; j < i; j++) {
        bool ancestor = false;
        for (int k = i; k >= 0; k = m.dof_parent[k]) ancestor |= k == j;
        EXPECT_TRUE(ancestor || std::abs(H(i, j)) < 1e-13 * H.cwiseAbs().maxCoeff());
      }
  });
}
TEST(Crba, ForestIsBlockDiagonal) {
  RandomOptions o;
  o.bodies = 12, o.roots = 0.5;
  const Case c(random_spec(6, o), 6);
  const Model<double>& m = c.model();
  std::vector<int> root(m.nv);
  for (int i = 0; i < m.nv; i++) root[i] = support(m, m.dof_body[i])[0];
  EXPECT_GT(children(m, 0).size(), 2u);
  const MatrixX H = dense::unpacked(m, call_crba(m, c.state.q));
  for (int i = 0; i < m.nv; i++)
    for (int j = 0; j < m.nv; j++) EXPECT_TRUE(root[i] == root[j] || H(i, j) == 0);
}

// Every entry is written: poison stays nowhere. RBDA: code must not rely on a cleared matrix.
TEST(Crba, WritesEveryEntryOfThePackedMatrix) {
  for_random_robots([](const Case& c) {
    std::vector<double> H(c.model().nh, std::numeric_limits<double>::quiet_NaN());
    crba(c.model(), c.state.q.data(), H.data());
    for (double x : H) EXPECT_TRUE(std::isfinite(x));
  });
}

TEST(Crba, ArmatureStandsOnTheDiagonal) {
  RandomOptions o;
  o.armature = 1, o.bodies = 8;
  RobotSpec with = random_spec(4, o), without = with;
  for (JointSpec& j : without.joints) j.armature.clear();
  const Case a(with, 4), b(without, 4);
  MatrixX difference = dense::unpacked(a.model(), call_crba(a.model(), a.state.q)) -
                       dense::unpacked(b.model(), call_crba(b.model(), a.state.q));
  for (int k = 0; k < a.model().nv; k++) {
    EXPECT_NEAR(difference(k, k), a.model().armature[k], 1e-12);
    difference(k, k) = 0;
  }
  EXPECT_EQ(difference.cwiseAbs().maxCoeff(), 0);
}

// The free joint's block of a single body: [m 1, -m R c×; ., Ibar] in (world axes; body axes)
TEST(Crba, FreeBodyBlockClosedForm) {
  Random random(8);
  RobotSpec spec;
  spec.links = {random_link(random, "body")};
  spec.floating = {"body"};
  const Case c(spec, 9);
  const LinkSpec& l = spec.links[0];
  const std::vector<double>& q = c.state.q;
  const Mat3d R = Eigen::Quaterniond(q[3], q[4], q[5], q[6]).toRotationMatrix(), C = dense::skew(l.com);
  MatrixX expected(6, 6);
  expected << l.mass * Mat3d::Identity(), -l.mass * R * C, (-l.mass * R * C).transpose(),
      l.inertia + l.mass * C * C.transpose();
  const MatrixX H = dense::unpacked(c.model(), call_crba(c.model(), q));
  EXPECT_LT((H - expected).cwiseAbs().maxCoeff(), 1e-13);
}

}  // namespace
}  // namespace featherstorm::test_crba
