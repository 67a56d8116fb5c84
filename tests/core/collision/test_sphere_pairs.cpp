// A sphere and every other shape, where the contact is known.
#include "core/collision/sphere_pairs.h"
#include "tests/core/collision/shapes.h"

namespace featherstorm::test_sphere_pairs {
namespace {

using namespace testing;

TEST(SphereSphere, TouchBetweenTheirCentres) {
  Contact3d c[1];
  sphere_sphere(at(0, 0, 0), Vec3d(1, 0, 0), at(0, 4, 0), Vec3d(2, 0, 0), c);
  expect_contact(c[0], 1, {0, 1.5, 0}, {0, 1, 0});
  sphere_sphere(at(0, 0, 0), Vec3d(1, 0, 0), at(0, 0, -2), Vec3d(2, 0, 0), c);
  expect_contact(c[0], -1, {0, 0, -0.5}, {0, 0, -1});
}

TEST(SphereSphere, ConcentricTakeTheNormalOfTheirAxes) {
  Contact3d c[1];
  sphere_sphere(at(1, 1, 1), Vec3d(1, 0, 0), at(1, 1, 1), Vec3d(2, 0, 0), c);
  expect_contact(c[0], -3, {0.5, 1, 1}, {1, 0, 0});
  sphere_sphere(at(1, 1, 1), Vec3d(1, 0, 0), turned(at(1, 1, 1), 0, -pi / 2), Vec3d(2, 0, 0), c);
  expect_vector(c[0].normal, {-1, 0, 0});  // z x y
}

TEST(SphereCapsule, IsNearestToTheSegment) {
  const Vec3d size(0.2, 1, 0);
  Contact3d c[1];
  sphere_capsule(at(0.5, 0, 0.7), Vec3d(0.1, 0, 0), at(0, 0, 0), size, c);
  expect_contact(c[0], 0.2, {0.3, 0, 0.7}, {-1, 0, 0});
  sphere_capsule(at(0, 0, -2), Vec3d(0.1, 0, 0), at(0, 0, 0), size, c);
  expect_contact(c[0], 0.7, {0, 0, -1.55}, {0, 0, 1});
  sphere_capsule(at(0, 0, 0.5), Vec3d(0.1, 0, 0), at(0, 0, 0), size, c);  // on the axis
  expect_contact(c[0], -0.3, {-0.05, 0, 0.5}, {1, 0, 0});
}

TEST(SphereCylinder, MeetsMantleCapAndRim) {
  const Vec3d size(0.5, 1, 0);
  Contact3d c[1];
  sphere_cylinder(at(0, 0.9, 0.3), Vec3d(0.1, 0, 0), at(0, 0, 0), size, c);
  expect_contact(c[0], 0.3, {0, 0.65, 0.3}, {0, -1, 0});
  sphere_cylinder(at(0.2, 0.1, -1.4), Vec3d(0.1, 0, 0), at(0, 0, 0), size, c);
  expect_contact(c[0], 0.3, {0.2, 0.1, -1.15}, {0, 0, 1});
  sphere_cylinder(at(0.8, 0, 1.4), Vec3d(0.1, 0, 0), at(0, 0, 0), size, c);
  expect_contact(c[0], 0.4, {0.5 + 0.6 * 0.2, 0, 1 + 0.8 * 0.2}, {-0.6, 0, -0.8});
}

TEST(SphereCylinder, InsideLeavesByTheNearestSurface) {
  const Vec3d size(0.5, 1, 0);
  Contact3d c[1];
  sphere_cylinder(at(0.4, 0, 0.5), Vec3d(0.1, 0, 0), at(0, 0, 0), size, c);
  expect_contact(c[0], -0.2, {0.4, 0, 0.5}, {-1, 0, 0});
  sphere_cylinder(at(0.1, 0, 0.9), Vec3d(0.1, 0, 0), at(0, 0, 0), size, c);
  expect_contact(c[0], -0.2, {0.1, 0, 0.9}, {0, 0, -1});
  sphere_cylinder(at(0, 0, 0), Vec3d(0.1, 0, 0), at(0, 0, 0), size, c);  // on the axis
  expect_contact(c[0], -0.6, {-0.2, 0, 0}, {1, 0, 0});
}

TEST(SphereCylinder, OnTheRimHasAUnitNormal) {
  Contact3d c[1];
  sphere_cylinder(at(0.5, 0, 1), Vec3d(0.1, 0, 0), at(0, 0, 0), Vec3d(0.5, 1, 0), c);
  EXPECT_NEAR(c[0].distance, -0.1, 1e-13);
  EXPECT_NEAR(c[0].normal.norm(), 1, 1e-13);
}

TEST(SphereBox, MeetsFaceEdgeAndCorner) {
  const Vec3d size(1, 2, 3);
  Contact3d c[1];
  sphere_box(at(0.5, 2.5, 1), Vec3d(0.2, 0, 0), at(0, 0, 0), size, c);
  expect_contact(c[0], 0.3, {0.5, 2.15, 1}, {0, -1, 0});
  sphere_box(at(1.3, 2.4, 1), Vec3d(0.2, 0, 0), at(0, 0, 0), size, c);
  expect_contact(c[0], 0.3, {1.09, 2.12, 1}, {-0.6, -0.8, 0});
  sphere_box(at(-2, -4, -5), Vec3d(1, 0, 0), at(0, 0, 0), size, c);
  expect_contact(c[0], 2, Vec3d(-1, -2, -3) + Vec3d(-1, -2, -2) / 3, Vec3d(1, 2, 2) / 3);
}

TEST(SphereBox, InsideLeavesByTheNearestFaceAndByMinusXInDoubt) {
  Contact3d c[1];
  sphere_box(at(0, 1.8, 0), Vec3d(0.1, 0, 0), at(0, 0, 0), Vec3d(1, 2, 3), c);
  expect_contact(c[0], -0.3, {0, 1.85, 0}, {0, -1, 0});
  sphere_box(at(0, 0, 0), Vec3d(0.1, 0, 0), at(0, 0, 0), Vec3d(1, 1, 1), c);
  expect_contact(c[0], -1.1, {-0.45, 0, 0}, {1, 0, 0});
}

}  // namespace
}  // namespace featherstorm::test_sphere_pairs
