#include <gtest/gtest.h>

#include "core/dynamics/operational_space.h"

#include "core/dynamics/operational_inertia.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_operational_space {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Task {
  RowMajor Phi{6, 6}, Lambda{6, 6}, Jbar;
  VectorXd mu{6}, p{6};
};
Task task(const Model<double>& m, const State& s, int frame, double damping = 0, double tolerance = 1e-10) {
  Task t;
  t.Jbar.resize(m.nv, 6);
  operational_space(m, s.q.data(), s.v.data(), frame, damping, tolerance, t.Phi.data(), t.Lambda.data(), t.mu.data(),
                    t.p.data(), t.Jbar.data());
  return t;
}
RowMajor jacobian_matrix(const Model<double>& m, const Numbers& q, int frame) {
  RowMajor J(6, m.nv);
  jacobian(m, q.data(), frame, J.data());
  return J;
}
RowMajor stacked(const Model<double>& m, const Numbers& q, const std::vector<int>& frames) {
  RowMajor J(6 * frames.size(), m.nv);
  for (std::size_t f = 0; f < frames.size(); f++) J.middleRows(6 * f, 6) = jacobian_matrix(m, q, frames[f]);
  return J;
}
std::vector<int> all_frames(const Model<double>& m) {
  std::vector<int> f;
  for (int k = 0; k < m.nf; k++) f.push_back(k);
  return f;
}
// far from losing rank, and far from it altogether
bool well_conditioned(const MatrixXd& A) {
  const VectorXd d = A.diagonal().cwiseMax(1e-30).cwiseSqrt().cwiseInverse();
  const VectorXd e = Eigen::SelfAdjointEigenSolver<MatrixXd>(d.asDiagonal() * A * d.asDiagonal()).eigenvalues();
  return e(0) > 1e-4 * e(e.size() - 1);
}

TEST(OperationalInertia, IsJacobianTimesInverseInertiaTimesTransposedJacobian) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    const MatrixXd H = c.oracle.crba(c.state.q);
    const std::vector<int> frames = all_frames(m);
    const int rows = 6 * m.nf;
    const RowMajor J = stacked(m, c.state.q, frames);
    const MatrixXd expected = J * H.ldlt().solve(J.transpose());
    const double tolerance = 1e-14 * condition(H) * (1 + expected.cwiseAbs().maxCoeff());
    Numbers L = call_crba(m, c.state.q);
    ltdl(m, L.data());
    RowMajor Z = J, Phi(rows, rows), by_aba(rows, rows);
    Phi.setConstant(NAN), by_aba.setConstant(NAN);
    operational_inertia(m, L.data(), rows, Z.data(), Phi.data());
    EXPECT_LT((Phi - expected).cwiseAbs().maxCoeff(), tolerance);
    operational_inertia_aba(m, c.state.q.data(), frames.data(), m.nf, by_aba.data());
    EXPECT_LT((by_aba - expected).cwiseAbs().maxCoeff(), tolerance);
    for (int f : frames) {
      RowMajor column(rows, 6);
      column.setConstant(NAN);
      operational_inertia_column(m, c.state.q.data(), f, column.data());
      EXPECT_LT((column - expected.middleCols(6 * f, 6)).cwiseAbs().maxCoeff(), tolerance);
    }
    const Task t = task(m, c.state, m.nf - 1);
    EXPECT_LT((t.Phi - expected.bottomRightCorner(6, 6)).cwiseAbs().maxCoeff(), tolerance);
  });
}

TEST(OperationalSpace, IsTheEquationOfMotionOfTheFrame) {
  int full_rank = 0;
  for_random_robots([&](const Case& c) {
    const Model<double>& m = c.model();
    const State& s = c.state;
    const int frame = m.nf - 1;
    const Task t = task(m, s, frame);
    if (!well_conditioned(t.Phi)) return;
    full_rank++;
    EXPECT_LT((t.Lambda * t.Phi - MatrixXd::Identity(6, 6)).norm(), 1e-9);
    // Lambda a + mu + p = Jbar^T tau for the motion that articulated bodies give
    const VectorXd qdd = c.oracle.aba(s.q, s.v, s.tau, {});
    Numbers a(6);
    frame_acceleration(m, s.q.data(), s.v.data(), Numbers(qdd.begin(), qdd.end()).data(), frame, a.data());
    const VectorXd left = t.Lambda * vector(a) + t.mu + t.p, right = t.Jbar.transpose() * vector(s.tau);
    const double scale = 1 + (t.Lambda * vector(a)).norm() + t.mu.norm() + t.p.norm();
    EXPECT_LT((left - right).norm(), (1e-9 + 1e-13 * condition(c.oracle.crba(s.q))) * scale);
    EXPECT_LT((jacobian_matrix(m, s.q, frame) * t.Jbar - MatrixXd::Identity(6, 6)).norm(), 1e-9);
  });
  EXPECT_GT(full_rank, 20);
}

TEST(OperationalSpace, NullSpaceForcesDoNotAccelerateTheFrame) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    const int frame = m.nf - 1;
    const Task t = task(m, c.state, frame);
    const MatrixXd J = jacobian_matrix(m, c.state.q, frame), H = c.oracle.crba(c.state.q);
    const MatrixXd N = MatrixXd::Identity(m.nv, m.nv) - J.transpose() * t.Jbar.transpose();
    // J H^-1 (1 - J^T Jbar^T) tau = 0, at every rank
    const VectorXd tau = vector(c.state.tau);
    const VectorXd a = J * H.ldlt().solve(N * tau), whole = J * H.ldlt().solve(tau);
    EXPECT_LT(a.norm(), 1e-7 * (1 + whole.norm()) + 1e-13 * condition(H));
  });
}

TEST(OperationalSpace, IsAGeneralisedInverseWhereTheFrameCannotMoveFreely) {
  int singular = 0;
  for_random_robots([&](const Case& c) {
    const Model<double>& m = c.model();
    const Task t = task(m, c.state, m.nf - 1);
    if (m.nv >= 6) return;
    singular++;
    const double scale = 1 + t.Phi.norm();
    ASSERT_TRUE(t.Lambda.allFinite());
    EXPECT_LT((t.Phi * t.Lambda * t.Phi - t.Phi).norm(), 1e-8 * scale);
    EXPECT_LT((t.Lambda * t.Phi * t.Lambda - t.Lambda).norm(), 1e-8 * (1 + t.Lambda.norm()));
    const int rank = static_cast<int>(Eigen::FullPivLU<MatrixXd>(t.Phi).setThreshold(1e-9).rank());
    EXPECT_EQ((t.Lambda.diagonal().array() != 0).count(), rank);
    // damped: (Phi + damping)^-1
    const Task damped = task(m, c.state, m.nf - 1, 1e-2, 0);
    EXPECT_LT((damped.Lambda * (t.Phi + 1e-2 * MatrixXd::Identity(6, 6)) - MatrixXd::Identity(6, 6)).norm(),
              1e-10 * scale * 100);
  });
  EXPECT_GT(singular, 10);
}

}  // namespace
}  // namespace featherstorm::test_operational_space
