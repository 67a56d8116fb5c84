#include "core/kinematics/jacobian.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/every_scalar.h"

namespace featherstorm::test_jacobian {
namespace {

using namespace testing;

using Rows = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;
Rows matrix_of(const Model<double>& m, const Numbers& q, int frame) {
  Rows J = Rows::Constant(6, m.nv, NAN);
  jacobian(m, q.data(), frame, J.data());
  return J;
}
Eigen::VectorXd velocity(const Model<double>& m, const Numbers& q, const Numbers& v, int frame) {
  Numbers r(6, NAN);
  frame_velocity(m, q.data(), v.data(), frame, r.data());
  return vector(r);
}

TEST(Jacobian, TimesVelocityIsTheVelocityOfTheFrame) {
  for (unsigned seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    for (int f = 0; f < m.nf; f++) {
      const Rows J = matrix_of(m, s.q, f);
      const Eigen::VectorXd v = velocity(m, s.q, s.v, f);
      EXPECT_LT((J * vector(s.v) - v).norm(), 1e-12 * (1 + v.norm()));
    }
  }
}

TEST(Jacobian, IsTheDerivativeOfThePlacementColumnByColumn) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
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
  }
}

TEST(Jacobian, HasZeroColumnsExactlyOffTheSupport) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    for (int f = 0; f < m.nf; f++) {
      const Rows J = matrix_of(m, s.q, f);
      const std::vector<int> kappa = support(m, m.frame[f].body);
      for (int c = 0; c < m.nv; c++) {
        const bool moves = std::find(kappa.begin(), kappa.end(), m.dof_body[c]) != kappa.end();
        EXPECT_EQ(J.col(c).norm() > 0, moves);
      }
    }
  }
}

TEST(Jacobian, TransposeTakesAForceAtTheFrameToJointForces) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    // power: (J^T f) . qd = f . v
    const int frame = m.nf - 1;
    Eigen::VectorXd f = Eigen::VectorXd::LinSpaced(6, -1, 2);
    const Eigen::VectorXd v = velocity(m, s.q, s.v, frame);
    EXPECT_NEAR((matrix_of(m, s.q, frame).transpose() * f).dot(vector(s.v)), f.dot(v), 1e-11 * (1 + v.norm()));
  }
}

TEST(JdotV, IsTheRateOfTheJacobianTimesTheVelocity) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
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
  }
}

TEST(Jacobian, IsTheSameForEveryScalar) {
  for (unsigned seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    expect_every_scalar(m, {s.q, s.v}, 6 * m.nv + 6, 1e-5, [](const auto& m, const auto& in, auto out) {
      jacobian(m, in[0], m.nf - 1, out);
      jdot_v(m, in[0], in[1], m.nf - 1, out + 6 * m.nv);
    });
  }
}

}  // namespace
}  // namespace featherstorm::test_jacobian
