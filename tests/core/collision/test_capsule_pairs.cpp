// Capsules with each other and with a box, where the contacts are known.
#include "core/collision/capsule_box.h"
#include "core/collision/capsule_capsule.h"
#include "tests/core/collision/shapes.h"

namespace featherstorm::test_capsule_pairs {
namespace {

using namespace testing;

const Vec3d thin(0.1, 1, 0);

TEST(CapsuleCapsule, CrossedTouchWhereTheyCross) {
  Contact3d c[2];
  capsule_capsule(turned(at(0, 0, 0), 1, pi / 2), thin, turned(at(0.3, 0.4, 0.25), 0, pi / 2), thin, c);
  expect_contact(c[0], 0.05, {0.3, 0, 0.125}, {0, 0, 1});
  EXPECT_EQ(c[1].distance, no_contact);
}

TEST(CapsuleCapsule, WhoseAxesMeetArePushedAcrossThem) {
  Contact3d c[2];
  capsule_capsule(at(0, 0, 0), thin, turned(at(0, 0, 0.5), 1, pi / 2), thin, c);
  EXPECT_NEAR(c[0].distance, -0.2, 1e-13);
  EXPECT_NEAR(std::abs(c[0].normal.y()), 1, 1e-13);
}

// A capsule whose axis lies in the plane y = 0, at an angle from z.
template <class T> Placement<T> planar(double x, double z, double angle) {
  Placement<T> X = identity_placement<T>();
  X.R(0, 0) = X.R(2, 2) = T(cos(angle)), X.R(0, 2) = T(sin(angle)), X.R(2, 0) = -T(sin(angle));
  X.r = {T(x), T(0), T(z)};
  return X;
}

// Axes of planar robots cross exactly, and MuJoCo's normal is then the cross product of the two, out of the plane: also where rounded
// points of the axes are not the same.
TEST(CapsuleCapsule, WhoseAxesCrossInAPlaneArePushedOutOfItInBothPrecisions) {
  Random random(3);
  for (int i = 0; i < 200; i++) {
    SCOPED_TRACE("case " + std::to_string(i));
    const double x = random.uniform(-0.5, 0.5), z = random.uniform(-0.5, 0.5), p = random.uniform(-pi, pi),
                 q = p + (i % 2 ? 1 : -1) * random.uniform(0.3, pi - 0.3), along = random.uniform(-0.9, 0.9),
                 other = random.uniform(-0.9, 0.9);
    const double bx = x + along * sin(p) - other * sin(q), bz = z + along * cos(p) - other * cos(q);
    Contact3d c[2];
    ContactPoint<float> f[2];
    capsule_capsule(planar<double>(x, z, p), thin, planar<double>(bx, bz, q), thin, c);
    capsule_capsule(planar<float>(x, z, p), Vec3<float>(thin.cast<float>()), planar<float>(bx, bz, q),
                    Vec3<float>(thin.cast<float>()), f);
    const double side = i % 2 ? 1 : -1;  // of u x v
    expect_vector(c[0].normal, {0, side, 0});
    // in float32 a rounding of what is there; where axes cross, of all lengths, divided by the sine of the angle between them
    const double rounding = 6e-8, lengths = 1 + std::hypot(bx - x, bz - z);
    expect_vector(f[0].normal.cast<double>(), {0, side, 0}, 2 * rounding);
    EXPECT_NEAR(c[0].distance, -0.2, 1e-13);
    EXPECT_NEAR(f[0].distance, -0.2, 0.4 * rounding);
    expect_vector(f[0].point.cast<double>(), c[0].point, 8 * rounding * lengths / std::abs(std::sin(q - p)));
  }
}

TEST(CapsuleCapsule, EndToEndTouchWithTheirCaps) {
  Contact3d c[2];
  capsule_capsule(at(0, 0, 0), thin, turned(at(1.3, 0, 1), 1, 1.0), thin, c);
  const Vec3d end = Vec3d(1.3, 0, 1) - Vec3d(sin(1.0), 0, cos(1.0));
  EXPECT_LE(c[0].distance, end.norm() - 0.2);
}

TEST(CapsuleCapsule, ParallelTouchAtBothEndsOfWhatTheyShare) {
  for (const double flip : {0.0, pi}) {
    Contact3d c[2];
    capsule_capsule(at(0, 0, 0), thin, turned(at(0.3, 0, 1.2), 0, flip), Vec3d(0.1, 0.5, 0), c);
    expect_contact(c[0], 0.1, {0.15, 0, 0.7}, {1, 0, 0});
    expect_contact(c[1], 0.1, {0.15, 0, 1}, {1, 0, 0});
  }
}

TEST(CapsuleCapsule, ParallelBehindEachOtherTouchOnce) {
  Contact3d c[2];
  capsule_capsule(at(0, 0, 0), thin, at(0, 0, 2.5), thin, c);
  for (int k = 0; k < 2; k++) expect_contact(c[k], 0.3, {0, 0, 1.25}, {0, 0, 1});
}

// Nearest distance by trying points of the axis.
double nearest(const Placement<double>& a, double l, const Placement<double>& b, const Vec3d& s) {
  double best = 1e9;
  for (int i = -2000; i <= 2000; i++) {
    const Vec3d c = transpose_times(b.R, Vec3d(a.r + axis_of(a, 2) * (l * i / 2000) - b.r));
    best = std::min(best, (c.cwiseAbs() - s).cwiseMax(0).norm());
  }
  return best;
}

TEST(CapsuleBox, HasTheNearestPointWhereTheAxisIsOutside) {
  Random random(11);
  for (int i = 0; i < 200; i++) {
    SCOPED_TRACE("case " + std::to_string(i));
    const Placement<double> a = random_place(random, 1), b = random_place(random, 0.3);
    const Vec3d s(random.uniform(0.1, 0.4), random.uniform(0.1, 0.4), random.uniform(0.1, 0.4));
    const double l = random.uniform(0.1, 0.6), expected = nearest(a, l, b, s);
    if (expected < 1e-3) continue;
    Contact3d c[2];
    capsule_box(a, Vec3d(0.05, l, 0), b, s, c);
    EXPECT_NEAR(c[0].distance, expected - 0.05, 1e-4);
    EXPECT_GE(c[1].distance, c[0].distance - 1e-12);
  }
}

TEST(CapsuleBox, LyingOnAFaceTouchesAtBothEnds) {
  Contact3d c[2];
  capsule_box(turned(at(0, 0, 1.05), 1, pi / 2 - 1e-6), Vec3d(0.1, 0.5, 0), at(0, 0, 0), Vec3d(1, 1, 1), c);
  const auto two = within(c, 2, 0);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_TRUE(has_point(two, {0.5, 0, 0.975}, 1e-5) && has_point(two, {-0.5, 0, 0.975}, 1e-5));
}

TEST(CapsuleBox, ThatHangsOverTouchesAtTheEdges) {
  Contact3d c[2];
  capsule_box(turned(at(0, 0, 1.05), 1, pi / 2 - 1e-6), Vec3d(0.1, 5, 0), at(0, 0, 0), Vec3d(1, 1, 1), c);
  const auto two = within(c, 2, 0);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_TRUE(has_point(two, {1, 0, 0.975}, 1e-5) && has_point(two, {-1, 0, 0.975}, 1e-5));
}

TEST(CapsuleBox, UprightOnAFaceTouchesWithItsEnd) {
  Contact3d c[2];
  capsule_box(at(0.2, 0.3, 1.58), Vec3d(0.1, 0.5, 0), at(0, 0, 0), Vec3d(1, 1, 1), c);
  EXPECT_NEAR(c[0].distance, -0.02, 1e-13);
  expect_vector(c[0].normal, {0, 0, -1});
  EXPECT_GT(c[1].distance, 0.9);
}

TEST(CapsuleBox, WithAnEndInsideHasOneContact) {
  Contact3d c[2];
  capsule_box(at(0, 0, 1.4), Vec3d(0.1, 0.5, 0), at(0, 0, 0), Vec3d(1, 1, 1), c);
  expect_contact(c[0], -0.2, {0, 0, 0.9}, {0, 0, -1});
  EXPECT_EQ(c[1].distance, no_contact);
}

}  // namespace
}  // namespace featherstorm::test_capsule_pairs
