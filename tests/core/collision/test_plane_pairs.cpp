// A plane and shapes that lie flat on it or stand on an edge. Other poses are compared with MuJoCo's contacts in
// tests/python/world/test_geom_contacts.py.
#include "core/collision/contact_frame.h"
#include "core/collision/plane_box.h"
#include "core/collision/plane_mesh.h"
#include "tests/core/collision/shapes.h"

namespace featherstorm::test_plane_pairs {
namespace {

using namespace testing;

const Placement<double> ground = at(0, 0, 0);
const Vec3d up{0, 0, 1};

TEST(PlaneCapsule, HasBothEndsAndTangentsAlongIt) {
  Contact3d c[2];
  const Placement<double> lying = turned(at(0, 0, 0.2), 1, pi / 2);
  plane_capsule(ground, lying, Vec3d(0.2, 1, 0), c);
  expect_contact(c[0], 0, {1, 0, 0}, up);
  expect_contact(c[1], 0, {-1, 0, 0}, up);
  const ContactFrame<double> f = contact_frame(c[0].normal, axis_of(lying, 2));
  expect_vector(f.e[1], {1, 0, 0});
  expect_vector(f.e[2], {0, 1, 0});
}

TEST(PlaneCylinder, UprightHasATriangleFromItsXAxis) {
  Contact3d c[4];
  plane_cylinder(ground, at(0, 0, 0.9), Vec3d(0.5, 1, 0), c);
  expect_contact(c[0], -0.1, {0.5, 0, -0.05}, up);
  EXPECT_NEAR(c[1].distance, 1.9, 1e-13);
  const auto three = within(c, 4, 0);
  ASSERT_EQ(three.size(), 3u);
  for (const double angle : {0.0, 2 * pi / 3, 4 * pi / 3})
    EXPECT_TRUE(has_point(three, {0.5 * cos(angle), 0.5 * sin(angle), -0.05}));
}

TEST(PlaneCylinder, LyingTouchesWithBothRims) {
  Contact3d c[4];
  plane_cylinder(ground, turned(at(0, 0, 0.5), 1, pi / 2), Vec3d(0.5, 1, 0), c);
  const auto two = within(c, 4, 0.1);
  ASSERT_EQ(two.size(), 2u);
  EXPECT_TRUE(has_point(two, {1, 0, 0}) && has_point(two, {-1, 0, 0}));
}

TEST(PlaneBox, FlatHasItsLowerCornersInOrder) {
  Contact3d c[4];
  plane_box(ground, at(0, 0, 0.25), Vec3d(1, 2, 0.3), c);
  const Vec3d corners[4] = {{-1, -2, -0.025}, {1, -2, -0.025}, {-1, 2, -0.025}, {1, 2, -0.025}};
  for (int k = 0; k < 4; k++) expect_contact(c[k], -0.05, corners[k], up);
}

TEST(PlaneBox, UpsideDownHasTheOtherFour) {
  Contact3d c[4];
  plane_box(ground, turned(at(0, 0, 0.3), 0, pi), Vec3d(1, 2, 0.3), c);
  ASSERT_EQ(within(c, 4, 1e-9).size(), 4u);
  expect_contact(c[0], 0, {-1, 2, 0}, up);  // corner -x, -y, +z of the box
}

TEST(PlaneBox, OnAnEdgeTouchesWithTheEdge) {
  for (const double sign : {1.0, -1.0}) {
    for (int axis = 0; axis < 3; axis++) {
      Contact3d c[4];
      Placement<double> X = turned(at(0, 0, sqrt(2) * 0.1 - 0.001), axis, sign * pi / 4);
      if (axis == 2) X = turned(X, 0, pi / 2);
      plane_box(ground, X, Vec3d(0.1, 0.1, 0.1), c);
      const auto two = within(c, 4, 0);
      ASSERT_EQ(two.size(), 2u);
      for (const Contact3d& k : two) EXPECT_NEAR(k.distance, -0.001, 1e-13);
      EXPECT_NEAR((two[0].point - two[1].point).norm(), 0.2, 1e-13);
    }
  }
}

// The hull of a prism of n sides along z.
Hull<double> prism(int n, double radius, double half) {
  std::vector<Vec3d> bottom, top;
  for (int i = 0; i < n; i++) {
    const double angle = 2 * pi * i / n;
    bottom.push_back({radius * cos(-angle), radius * sin(-angle), -half});
    top.push_back({radius * cos(angle), radius * sin(angle), half});
  }
  Hull<double> hull;
  for (int i = 0; i < n; i++) {
    for (const auto* face : {&bottom, &top}) {
      HullCorner<double> c{(*face)[i], {}};
      c.face.push_back(face_beside(*face, i, {0, 0, face == &top ? 1.0 : -1.0}));
      const double middle = atan2(c.r.y(), c.r.x());
      for (const double side : {-pi / n, pi / n}) {
        const Vec3d outward{cos(middle + side), sin(middle + side), 0};
        auto on_rim = [&](double angle, double z) { return Vec3d(radius * cos(angle), radius * sin(angle), z); };
        const double other = middle + 2 * side, z = c.r.z();
        c.face.push_back(face_beside({c.r, on_rim(other, z), on_rim(other, -z), on_rim(middle, -z)}, 0, outward));
      }
      hull.corner.push_back(c);
    }
  }
  return hull;
}

TEST(PlaneMesh, ATriangleTouchesWithThreeAndAPolygonWithFourCorners) {
  for (int n = 3; n < 10; n++) {
    SCOPED_TRACE(std::to_string(n) + " sides");
    Contact3d c[4];
    plane_mesh(ground, at(0, 0, 0.19), prism(n, 0.3, 0.2), c);
    const auto flat = within(c, 4, 0);
    ASSERT_EQ(flat.size(), n == 3 ? 3u : 4u);
    for (std::size_t i = 0; i < flat.size(); i++) {
      EXPECT_NEAR(flat[i].distance, -0.01, 1e-13);
      for (std::size_t k = 0; k < i; k++) EXPECT_GT((flat[i].point - flat[k].point).norm(), 0.1);
    }
  }
}

TEST(PlaneMesh, CompanionsOfACornerOfAPolygonMakeALargeArea) {
  for (int n = 5; n < 20; n++) {
    SCOPED_TRACE(std::to_string(n) + " sides");
    std::vector<Vec3d> polygon;
    for (int i = 0; i < n; i++) polygon.push_back({cos(2 * pi * i / n), sin(2 * pi * i / n), 0});
    for (int first = 0; first < n; first++) {
      const HullFace<double> f = face_beside(polygon, first, {0, 0, 1});
      ASSERT_EQ(f.companions, 3);
      const Vec3d across = polygon[first] - f.companion[1], other = f.companion[0] - f.companion[2];
      EXPECT_GT(cross(across, other).norm() / 2, 1.4);  // a square has 2
    }
  }
}

TEST(PlaneMesh, LiesOnASideAndStandsOnACorner) {
  Contact3d c[4];
  const double inner = 0.3 * cos(pi / 6);
  plane_mesh(ground, turned(at(0, 0, inner), 0, pi / 2), prism(6, 0.3, 0.2), c);
  EXPECT_EQ(within(c, 4, 1e-9).size(), 4u);
  plane_mesh(ground, turned(turned(at(0, 0, 0.3), 2, 0.2), 0, 0.7), prism(6, 0.3, 0.2), c);
  for (int k = 1; k < 4; k++) EXPECT_GT(c[k].distance, c[0].distance);
}

}  // namespace
}  // namespace featherstorm::test_plane_pairs
