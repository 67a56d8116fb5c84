// Rays against convex solids: the first crossing of the surface, beside a test whether points are inside.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/collision/ray.h"
#include "core/collision/ray_surfaces.h"
#include "core/scalar/pack.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::test_ray {
namespace {

using V = Vec3<double>;
const V size{0.3, 0.45, 0.2};

double outside(GeomType type, const V& s) {  // above 0 outside
  const double across = std::hypot(s.x(), s.y());
  switch (type) {
    case GeomType::Sphere: return s.norm() - size.x();
    case GeomType::Capsule: {
      const V axis{0, 0, std::clamp(s.z(), -size.y(), size.y())};
      return V(s - axis).norm() - size.x();
    }
    case GeomType::Ellipsoid: return scaled(s, reciprocals(size)).norm() - 1;
    case GeomType::Cylinder: return std::max(across - size.x(), std::abs(s.z()) - size.y());
    default: return std::max({std::abs(s.x()) - size.x(), std::abs(s.y()) - size.y(), std::abs(s.z()) - size.z()});
  }
}

const GeomType solids[] = {GeomType::Sphere, GeomType::Capsule, GeomType::Ellipsoid, GeomType::Cylinder, GeomType::Box};

TEST(Rays, MeetASolidWhereTheyFirstCrossItsSurface) {
  testing::Random random(1);
  for (const GeomType type : solids) {
    int hits = 0, from_inside = 0;
    for (int k = 0; k < 400; k++) {
      const double reach = k % 4 == 0 ? 0.2 : 1.0;
      const V p{random.uniform(-reach, reach), random.uniform(-reach, reach), random.uniform(-reach, reach)};
      V v{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
      if (k % 7 == 0) v(k % 3) = 0;
      const RayHit<double> hit = ray_geom<double>(type, size, p, v);
      const bool inside = outside(type, p) < 0;
      const double end = std::min(hit.x, 20.0);
      for (double x = 0; x < end - 1e-6; x += std::max(end, 1.0) / 500)
        EXPECT_EQ(outside(type, V(p + v * x)) < 0, inside);
      if (hit.x >= far_away) {
        EXPECT_FALSE(inside);
        continue;
      }
      hits++, from_inside += inside;
      const V at = p + v * hit.x, step = hit.normal * (1e-6 / hit.normal.norm());
      EXPECT_NEAR(outside(type, at), 0, 1e-9);
      EXPECT_GT(outside(type, V(at + step)), 0);
      EXPECT_LT(outside(type, V(at - step)), 0);
    }
    EXPECT_GT(hits, 40);
    EXPECT_GT(from_inside, 10);
    EXPECT_LT(hits, 400);
  }
}

TEST(Rays, InPacksAreThoseOfSingleNumbers) {
  testing::Random random(2);
  using P = Pack<double, 2>;
  for (const GeomType type :
       {GeomType::Plane, GeomType::Sphere, GeomType::Capsule, GeomType::Ellipsoid, GeomType::Cylinder, GeomType::Box}) {
    Vec3<P> p = zero3<P>(), v = zero3<P>();
    for (int c = 0; c < 3; c++)
      for (int i = 0; i < 2; i++) set_lane(p(c), i, random.uniform(-1, 1)), set_lane(v(c), i, random.uniform(-1, 1));
    const RayHit<P> hits = ray_geom<P>(type, {P(size.x()), P(size.y()), P(size.z())}, p, v);
    for (int i = 0; i < 2; i++) {
      const auto at = [&](const Vec3<P>& a) { return V{lane(a.x(), i), lane(a.y(), i), lane(a.z(), i)}; };
      const RayHit<double> hit = ray_geom<double>(type, size, at(p), at(v));
      EXPECT_NEAR(lane(hits.x, i), hit.x, 1e-12 * (1 + std::abs(hit.x)));
    }
  }
}

TEST(Rays, MeetTheTrianglesOfAMeshAsTheyMeetABox) {
  testing::Random random(3);
  const auto corner = [&](int k) {
    return V{k & 1 ? size.x() : -size.x(), k & 2 ? size.y() : -size.y(), k & 4 ? size.z() : -size.z()};
  };
  const int face[] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
  int hits = 0;
  for (int k = 0; k < 300; k++) {
    const V p{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)},
        v{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
    const double x = ray_geom<double>(GeomType::Box, size, p, v).x, y = ray_mesh<double>(corner, face, 12, 0.6, p, v).x;
    EXPECT_NEAR(x, y, 1e-9 * (1 + x));
    hits += x < far_away;
  }
  EXPECT_GT(hits, 30);
}

}  // namespace
}  // namespace featherstorm::test_ray
