// Geoms for the tests of collision: where they are, and how contacts are compared.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "core/convex/contact_point.h"
#include "core/world/hull.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::testing {

using Contact3d = ContactPoint<double>;
inline constexpr double pi = std::numbers::pi;

inline Placement<double> at(double x, double y, double z) {
  Placement<double> X = identity_placement<double>();
  X.r = {x, y, z};
  return X;
}
// turned by an angle about an axis of the world
inline Placement<double> turned(Placement<double> X, int axis, double angle) {
  X.R = Mat3d(Eigen::AngleAxisd(angle, Vec3d::Unit(axis)).toRotationMatrix() * X.R);
  return X;
}
inline Placement<double> random_place(Random& random, double scale) {
  return {random.rotation(), random.vector(scale)};
}

inline void expect_vector(const Vec3d& got, const Vec3d& expected, double tolerance = 1e-13) {
  for (int k = 0; k < 3; k++) EXPECT_NEAR(got(k), expected(k), tolerance) << "component " << k;
}
inline void expect_contact(const Contact3d& c, double distance, const Vec3d& point, const Vec3d& normal) {
  EXPECT_NEAR(c.distance, distance, 1e-13);
  expect_vector(c.point, point);
  expect_vector(c.normal, normal);
}
// The contacts of all slots that are closer than `margin`.
inline std::vector<Contact3d> within(const Contact3d* out, int slots, double margin) {
  std::vector<Contact3d> r;
  for (int k = 0; k < slots; k++)
    if (out[k].distance <= margin) r.push_back(out[k]);
  return r;
}
// Whether one of the contacts is at this point.
inline bool has_point(const std::vector<Contact3d>& contacts, const Vec3d& point, double tolerance = 1e-13) {
  return std::any_of(contacts.begin(), contacts.end(),
                     [&](const Contact3d& c) { return (c.point - point).norm() < tolerance; });
}

// The hull of a tetrahedron.
inline Hull<double> tetrahedron() {
  const std::vector<Vec3d> r = {{0.2, 0.2, 0.2}, {0.2, -0.2, -0.2}, {-0.2, 0.2, -0.2}, {-0.2, -0.2, 0.2}};
  std::vector<HullPolygon<double>> polygon;
  for (const auto& corner : {std::vector<int>{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}}) {
    const Vec3d a = r[static_cast<std::size_t>(corner[0])], b = r[static_cast<std::size_t>(corner[1])],
                c = r[static_cast<std::size_t>(corner[2])];
    polygon.push_back({(b - a).cross(c - a).normalized(), corner});
  }
  return hull_from(r, polygon);
}

}  // namespace featherstorm::testing
