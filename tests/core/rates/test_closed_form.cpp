// The closed form of the equation of motion with stacked matrices, Lynch and Park 9.4, against the texts of core/; the
// matrix of the Lie bracket of Garofalo et al.
#include <gtest/gtest.h>

#include "core/dynamics/gravity_torques.h"
#include "core/dynamics/newton_euler.h"
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
    Numbers g(m.nv), full(m.nv);
    gravity_torques(m, s.q.data(), g.data());
    newton_euler(m, s.q.data(), s.v.data(), Zeros<double>{}, Zeros<double>{}, full.data());
    EXPECT_LT((bias - (vector(full) - vector(g))).norm(), 1e-11 * (1 + bias.norm()));
    // g = A^T L^T G L dV_base, (9.84)
    const VectorXd gravity = LA.transpose() * x.G * x.L * x.base;
    EXPECT_LT((gravity - vector(g)).norm(), 1e-12 * (1 + gravity.norm()));
  }
}

TEST(Garofalo, LieBracketMatrixIsAConstantTimesCopiesOfTheTwist) {
  // adj = W V, Garofalo et al. (17), W as in their appendix with v before w
  using Wide = Eigen::Matrix<double, 3, 18>;
  Wide Ww = Wide::Zero(), Wv = Wide::Zero();
  const Vec3d x = Vec3d::UnitX(), y = Vec3d::UnitY(), z = Vec3d::UnitZ();
  // row i of each holds, for column block j of V, the row vector that picks entry (i, j) of the skew matrix
  const auto set = [](Wide& W, int row, int block, const Vec3d& e) { W.block<1, 3>(row, 3 * block) = e.transpose(); };
  // blocks alternate (v, w) for each of three columns
  set(Ww, 1, 1, z), set(Ww, 2, 1, -y), set(Ww, 0, 3, -z), set(Ww, 2, 3, x), set(Ww, 0, 5, y), set(Ww, 1, 5, -x);
  set(Wv, 1, 0, z), set(Wv, 2, 0, -y), set(Wv, 0, 2, -z), set(Wv, 2, 2, x), set(Wv, 0, 4, y), set(Wv, 1, 4, -x);
  Eigen::Matrix<double, 6, 36> W = Eigen::Matrix<double, 6, 36>::Zero();
  W.topLeftCorner<3, 18>() = Ww, W.topRightCorner<3, 18>() = Wv, W.bottomRightCorner<3, 18>() = Ww;
  Random random(1);
  for (int trial = 0; trial < 20; trial++) {
    const Vec3d v = random.vector(), w = random.vector();
    Eigen::Matrix<double, 6, 1> twist, other;
    twist << v, w;
    Eigen::Matrix<double, 36, 6> V = Eigen::Matrix<double, 36, 6>::Zero();
    for (int k = 0; k < 6; k++) V.block<6, 1>(6 * k, k) = twist;
    const Eigen::Matrix<double, 6, 6> adj = W * V;
    const Motion<double> u{random.vector(), random.vector()}, c = cross(Motion<double>{w, v}, u);
    other << u.v, u.w;
    EXPECT_LT((adj * other - (Eigen::Matrix<double, 6, 1>() << c.v, c.w).finished()).norm(), 1e-14);
    EXPECT_LT((adj * twist).norm(), 1e-14);
  }
}

}  // namespace
}  // namespace featherstorm::test_closed_form
