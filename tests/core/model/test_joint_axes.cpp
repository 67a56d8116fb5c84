// Rotations that are almost a multiple of a right angle: what is cleaned and taken apart is what was given, to 1e-14.
#include "core/model/joint_axes.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"
#include "tests/support/robots/adversarial_robot.h"

namespace featherstorm::test_joint_axes {
namespace {

using namespace testing;

Mat3d product(const Zxz& a) { return matrix(a.phi) * matrix(a.alpha) * matrix(a.psi); }
double distance(const Mat3d& A, const Mat3d& B) { return (A - B).cwiseAbs().maxCoeff(); }

// f(axis, angle): turns about random and coordinate axes by 0, a right angle and half a turn, off by 1e-16 to 1e-2.
template <class F> void for_small_turns(F&& f) {
  Random random(7);
  for (int k = 0; k < 3000; k++) {
    const Vec3d axis = random.chance(0.5) ? Vec3d(random.aligned_rotation().col(0)) : Vec3d(random.rotation().col(0));
    const double off = std::pow(10, random.uniform(-16, -2)) * (random.chance(0.5) ? 1 : -1);
    f(axis, M_PI / 2 * (random.below(5) - 2) + off);
  }
}

TEST(JointAxes, ZxzGivesBackAxesAlmostParallelAndOpposite) {
  for_small_turns([](const Vec3d& axis, double angle) {
    SCOPED_TRACE(angle);
    const Mat3d R = Eigen::AngleAxisd(angle, axis).toRotationMatrix();
    EXPECT_LT(distance(product(zxz(R)), R), 1e-14) << axis.transpose();
  });
}

TEST(JointAxes, ZxzOfTurnsAboutZOnBothSides) {
  Random random(8);
  for_small_turns([&](const Vec3d& axis, double angle) {
    const Mat3d Z = Eigen::AngleAxisd(random.uniform(-3, 3), Vec3d::UnitZ()).toRotationMatrix();
    const Mat3d R = Z * Eigen::AngleAxisd(angle, axis).toRotationMatrix() * Z;
    EXPECT_LT(distance(product(zxz(R)), R), 2e-14) << axis.transpose() << ", " << angle;
  });
}

TEST(JointAxes, CleaningKeepsTheRotation) {
  for_small_turns([](const Vec3d& axis, double angle) {
    const Mat3d R = Eigen::AngleAxisd(angle, axis).toRotationMatrix(), C = clean_rotation(R);
    EXPECT_LT(distance(C, R), 1e-14);
    EXPECT_LT(distance(C * C.transpose(), Mat3d::Identity()), 2e-14);
  });
}

TEST(JointAxes, CleaningTakesWhatRoundingLeft) {
  const Mat3d quarter = Eigen::AngleAxisd(M_PI / 2, Vec3d::UnitX()).toRotationMatrix();
  Mat3d R = quarter;
  for (int k = 0; k < 3; k++) R = R * quarter * quarter.transpose();
  Mat3d exact;
  exact << 1, 0, 0, 0, 0, -1, 0, 1, 0;
  EXPECT_EQ(clean_rotation(R), exact);
}

TEST(JointAxes, ZToIsARotationThatTakesZToTheAxis) {
  Random random(9);
  for (int k = 0; k < 3000; k++) {
    const Vec3d near = random.aligned_rotation().col(0), away = random.rotation().col(0);
    const Vec3d axis = (near + std::pow(10, random.uniform(-16, 0)) * away).normalized();
    const Mat3d R = z_to(axis);
    EXPECT_LT((R.col(2) - axis).cwiseAbs().maxCoeff(), 1e-14) << axis.transpose();
    EXPECT_LT(distance(R * R.transpose(), Mat3d::Identity()), 1e-14) << axis.transpose();
    EXPECT_GT(R.determinant(), 0);
  }
}

// The x axis that universal, planar and rolling joints count from does not jump where the axis leaves the plane z = 0.
TEST(JointAxes, ZToIsContinuousAcrossPerpendicularAxes) {
  const Vec3d above = Vec3d(0.6, 0.8, 1e-12).normalized(), below = Vec3d(0.6, 0.8, -1e-12).normalized();
  EXPECT_LT(distance(z_to(above), z_to(below)), 1e-11);
}

// A shortest turn: the axis of it is perpendicular to z.
TEST(JointAxes, ZToIsTheShortestTurn) {
  Random random(10);
  for (int k = 0; k < 100; k++) {
    const Vec3d axis = random.rotation().col(0);
    const Mat3d R = z_to(axis);
    EXPECT_NEAR(R(0, 1), R(1, 0), 1e-15);
    EXPECT_NEAR(R.trace(), 1 + 2 * axis.z(), 1e-14);
  }
}

}  // namespace
}  // namespace featherstorm::test_joint_axes
