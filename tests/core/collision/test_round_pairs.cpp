// Spheres, capsules and boxes where directions are a matter of choice or sides lie on each other.
// tests/python/world/test_pair_contacts.py compares other poses with MuJoCo.
#include <algorithm>

#include "core/collision/capsule_box.h"
#include "core/collision/capsule_capsule.h"
#include "core/collision/sphere_pairs.h"
#include "tests/core/collision/shapes.h"

namespace featherstorm::test_round_pairs {
namespace {

using namespace testing;

const Vec3d thin(0.1, 1, 0);

TEST(SphereSphere, ConcentricTakeTheNormalOfTheirAxes) {
  Contact3d c[1];
  sphere_sphere(at(1, 1, 1), Vec3d(1, 0, 0), at(1, 1, 1), Vec3d(2, 0, 0), c);
  expect_contact(c[0], -3, {0.5, 1, 1}, {1, 0, 0});
  sphere_sphere(at(1, 1, 1), Vec3d(1, 0, 0), turned(at(1, 1, 1), 0, -pi / 2), Vec3d(2, 0, 0), c);
  expect_vector(c[0].normal, {-1, 0, 0});  // z x y
}

TEST(SphereCylinder, OnTheRimHasAUnitNormal) {
  Contact3d c[1];
  sphere_cylinder(at(0.5, 0, 1), Vec3d(0.1, 0, 0), at(0, 0, 0), Vec3d(0.5, 1, 0), c);
  EXPECT_NEAR(c[0].distance, -0.1, 1e-13);
  EXPECT_NEAR(c[0].normal.norm(), 1, 1e-13);
}

TEST(SphereBox, InsideLeavesByTheNearestFaceAndByMinusXInDoubt) {
  Contact3d c[1];
  sphere_box(at(0, 1.8, 0), Vec3d(0.1, 0, 0), at(0, 0, 0), Vec3d(1, 2, 3), c);
  expect_contact(c[0], -0.3, {0, 1.85, 0}, {0, -1, 0});
  sphere_box(at(0, 0, 0), Vec3d(0.1, 0, 0), at(0, 0, 0), Vec3d(1, 1, 1), c);
  expect_contact(c[0], -1.1, {-0.45, 0, 0}, {1, 0, 0});
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

TEST(CapsuleBox, LyingOnAFaceTouchesAtBothEndsOrAtTheEdgesThatItHangsOver) {
  for (const double half : {0.5, 5.0}) {
    Contact3d c[2];
    capsule_box(turned(at(0, 0, 1.05), 1, pi / 2 - 1e-6), Vec3d(0.1, half, 0), at(0, 0, 0), Vec3d(1, 1, 1), c);
    const auto two = within(c, 2, 0);
    ASSERT_EQ(two.size(), 2u) << half;
    const double x = std::min(half, 1.0);
    EXPECT_TRUE(has_point(two, {x, 0, 0.975}, 1e-5) && has_point(two, {-x, 0, 0.975}, 1e-5)) << half;
  }
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
}  // namespace featherstorm::test_round_pairs
