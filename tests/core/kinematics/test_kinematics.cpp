#include <gtest/gtest.h>

#include "core/kinematics/kinematics.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_kinematics {
namespace {

using namespace testing;

// position and rotation of a frame, from forward_kinematics
Placement<double> placement(const Model<double>& m, const Numbers& q, int frame) {
  Numbers pose(12 * m.nf, NAN);
  forward_kinematics(m, q.data(), pose.data());
  const double* p = pose.data() + 12 * frame;
  return {rows(p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11]), {p[0], p[1], p[2]}};
}
Eigen::VectorXd velocity(const Model<double>& m, const Numbers& q, const Numbers& v, int frame) {
  Numbers r(6, NAN);
  frame_velocity(m, q.data(), v.data(), frame, r.data());
  return vector(r);
}
Vec3d vee(const Mat3d& W) { return {W(2, 1) - W(1, 2), W(0, 2) - W(2, 0), W(1, 0) - W(0, 1)}; }

TEST(FrameVelocity, IsTheRateOfThePlacement) {
  for_robots_in_states(40, [](const Model<double>& m, const State& s) {
    for (int f = 0; f < m.nf; f++) {
      const Mat3d R = placement(m, s.q, f).R;
      const Eigen::VectorXd expected = derivative([&](double t) {
        const Placement<double> X = placement(m, moved(m, s.q, s.v, t), f);
        Eigen::VectorXd x(6);
        x << vee(X.R * R.transpose()) / 2, X.r;  // sin(angle) axis, whose rate is w
        return x;
      });
      const Eigen::VectorXd v = velocity(m, s.q, s.v, f);
      EXPECT_LT((v - expected).norm(), 1e-8 * (1 + v.norm())) << "frame " << f;
    }
  });
}

TEST(FrameAcceleration, IsTheRateOfTheVelocity) {
  for_robots_in_states(40, [](const Model<double>& m, const State& s) {
    for (int f = 0; f < m.nf; f++) {
      // in world axes the rate of (w, velocity of the origin) is (alpha, acceleration of the origin)
      const Eigen::VectorXd expected =
          rate(m, s.q, s.v, s.a, [&](const Numbers& q, const Numbers& v) { return velocity(m, q, v, f); });
      Numbers a(6, NAN);
      frame_acceleration(m, s.q.data(), s.v.data(), s.a.data(), f, a.data());
      EXPECT_LT((vector(a) - expected).norm(), 1e-7 * (1 + expected.norm())) << "frame " << f;
    }
  });
}

TEST(FrameAcceleration, SpatialOneIsTheRateOfTheVelocityAtAFixedPoint) {
  for_robots_in_states(40, [](const Model<double>& m, const State& s) {
    for (int f = 0; f < m.nf; f++) {
      const Vec3d O = placement(m, s.q, f).r;
      const Eigen::VectorXd expected = rate(m, s.q, s.v, s.a, [&](const Numbers& q, const Numbers& v) {
        Eigen::VectorXd x = velocity(m, q, v, f);
        const Vec3d w = x.head<3>(), r = O - placement(m, q, f).r;
        x.tail<3>() += w.cross(r).eval();
        return x;
      });
      Numbers a(6, NAN);
      frame_spatial_acceleration(m, s.q.data(), s.v.data(), s.a.data(), f, a.data());
      EXPECT_LT((vector(a) - expected).norm(), 1e-7 * (1 + expected.norm())) << "frame " << f;
    }
  });
}

}  // namespace
}  // namespace featherstorm::test_kinematics
