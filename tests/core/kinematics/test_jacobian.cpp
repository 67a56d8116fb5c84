#include <gtest/gtest.h>

#include "core/kinematics/jacobian.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/tolerance.h"

namespace featherstorm::test_jacobian {
namespace {

using namespace testing;

using Rows = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;
Rows matrix_of(const Model<double>& m, const Numbers& q, int frame) {
  Rows J = Rows::Constant(6, m.nv, NAN);
  jacobian(m, q.data(), frame, J.data());
  return J;
}

TEST(Jacobian, IsTheDerivativeOfThePlacementColumnByColumn) {
  for_robots_in_states(20, [](const Model<double>& m, const State& s) {
    const int f = m.nf - 1;
    auto pose = [&](const Numbers& q) {
      Numbers p(12 * m.nf);
      forward_kinematics(m, q.data(), p.data());
      return Eigen::VectorXd(vector(p).segment(12 * f, 12));
    };
    const Eigen::VectorXd p0 = pose(s.q);
    const Mat3d R = rows(p0[3], p0[4], p0[5], p0[6], p0[7], p0[8], p0[9], p0[10], p0[11]);
    const Rows J = matrix_of(m, s.q, f);
    for (int c = 0; c < m.nv; c++) {
      Numbers e(m.nv);
      e[c] = 1;
      const Eigen::VectorXd d = derivative([&](double t) { return pose(moved(m, s.q, e, t)); });
      const Mat3d W = rows(d[3], d[4], d[5], d[6], d[7], d[8], d[9], d[10], d[11]) * R.transpose();
      EXPECT_LT((J.col(c).head<3>() - Vec3d(W(2, 1), W(0, 2), W(1, 0))).norm(), 1e-9);
      EXPECT_LT((J.col(c).tail<3>() - d.head<3>()).norm(), 1e-9 * (1 + d.norm()));
    }
  });
}

TEST(JdotV, IsTheRateOfTheJacobianTimesTheVelocity) {
  for_robots_in_states(20, [](const Model<double>& m, const State& s) {
    for (int f = 0; f < m.nf; f++) {
      const Eigen::VectorXd expected =
          derivative([&](double t) { return Eigen::VectorXd(matrix_of(m, moved(m, s.q, s.v, t), f) * vector(s.v)); });
      Numbers a(6, NAN), full(6, NAN);
      jdot_v(m, s.q.data(), s.v.data(), f, a.data());
      EXPECT_LT((vector(a) - expected).norm(), 1e-7 * (1 + expected.norm()));
      // a = J qdd + Jd qd
      frame_acceleration(m, s.q.data(), s.v.data(), s.a.data(), f, full.data());
      EXPECT_LT((vector(a) + matrix_of(m, s.q, f) * vector(s.a) - vector(full)).norm(), 1e-11 * scale_of(full));
    }
  });
}

}  // namespace
}  // namespace featherstorm::test_jacobian
