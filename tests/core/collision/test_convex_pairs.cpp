// Pairs by loops: the answer is a proof of itself. tests/python/world/test_pair_contacts.py compares all with MuJoCo.
#include "core/collision/convex_pairs.h"

#include "core/collision/candidates.h"
#include "tests/core/collision/shapes.h"

namespace featherstorm::test_convex_pairs {
namespace {

using namespace testing;
using Body = ConvexBody<double, Hull<double>>;

constexpr GeomType shapes[] = {GeomType::Sphere,   GeomType::Capsule, GeomType::Ellipsoid,
                               GeomType::Cylinder, GeomType::Box,     GeomType::Mesh};

// The hull of a prism of n sides along z with radius 0.2, a little skew.
Hull<double> prism(int n) {
  std::vector<Vec3d> r;
  std::vector<HullPolygon<double>> polygon(2);
  for (const double z : {-0.15, 0.15})
    for (int i = 0; i < n; i++) r.push_back({0.2 * std::cos(2 * pi * i / n), 0.2 * std::sin(2 * pi * i / n), z});
  polygon[0].normal = {0, 0, -1}, polygon[1].normal = {0, 0, 1};
  for (int i = 0; i < n; i++) {
    const double angle = 2 * pi * (i + 0.5) / n;
    polygon[0].corner.push_back(n - 1 - i), polygon[1].corner.push_back(n + i);
    polygon.push_back({{std::cos(angle), std::sin(angle), 0}, {i, (i + 1) % n, n + (i + 1) % n, n + i}});
  }
  return hull_from(r, polygon);
}

GeomContacts<double> geoms(GeomType a, GeomType b, Random& random) {
  GeomContacts<double> c;
  for (const GeomType type : {a, b}) {
    Geom<double> g;
    g.type = type, g.hull = type == GeomType::Mesh ? 0 : -1;
    for (int k = 0; k < 3; k++) g.size(k) = random.uniform(0.05, 0.3);
    c.geom.push_back(g);
  }
  c.hull.push_back(prism(3 + static_cast<int>(random.uniform(0, 6))));
  return c;
}

int contacts_of(const GeomContacts<double>& c, const ContactPair<double>& pair, const Placement<double>& A,
                const Placement<double>& B, ContactPoint<double>* out) {
  return contacts_of_instance(c, c.geom[0], c.geom[1], pair.detection, pair.slots, A, B, out);
}

// How far apart two bodies are along a direction: what of n . (b - a) is the least of all their points.
double apart_along(const Body& A, const Body& B, const Vec3d& n) {
  const Vec3d a = farthest(A, n, -1).r, b = farthest(B, Vec3d(-n), -1).r;
  return n.dot(b - a) - A.radius - B.radius;
}

// The distance of two convex bodies is the greatest along any direction.
void expect_optimum(const Body& A, const Body& B, const ConvexContact<double>& c, Random& random,
                    double tolerance = 1e-9) {
  EXPECT_NEAR(c.n.norm(), 1, 1e-12);
  EXPECT_NEAR(c.n.dot(c.b - c.a), c.distance, tolerance);
  EXPECT_NEAR((c.b - c.a - c.n * c.distance).norm(), 0, 1e-6);
  EXPECT_NEAR(apart_along(A, B, c.n), c.distance, tolerance);
  for (int k = 0; k < 60; k++) {
    const double near = k < 40 ? std::pow(10, -6.0 + 0.15 * k) : 10;
    const Vec3d n = (c.n + random.vector(near)).normalized();
    EXPECT_LT(apart_along(A, B, n), c.distance + tolerance);
  }
}

// Round numbers: centres that coincide, sides in one plane, corners on edges, axes along each other.
TEST(ConvexPairs, DegeneratePosesHaveTheirProofToo) {
  Random random(8);
  int compared = 0;
  for (const GeomType a : shapes)
    for (const GeomType b : shapes) {
      if (a > b || (a <= GeomType::Capsule && b <= GeomType::Capsule)) continue;
      SCOPED_TRACE("shapes " + std::to_string(static_cast<int>(a)) + ", " + std::to_string(static_cast<int>(b)));
      for (int i = 0; i < 300; i++) {
        GeomContacts<double> c = geoms(a, b, random);
        const auto digit = [&](int n) { return std::floor(random.uniform(0, n)); };
        for (Geom<double>& g : c.geom)
          for (int k = 0; k < 3; k++) g.size(k) = 0.1 * (1 + digit(3));
        Placement<double> X = at(0, 0, 0), Y = at(0, 0, 0);
        for (int k = 0; k < 3; k++) Y.r(k) = 0.1 * (digit(7) - 3);
        const double step = i % 3 == 0 ? pi / 2 : i % 3 == 1 ? pi / 4 : 0;
        for (int k = 0; k < 3; k++) {
          X = turned(X, k, step * digit(4)), Y = turned(Y, k, step * digit(4));
          if (i % 5 == 0) Y = turned(Y, k, std::pow(10, -1 - digit(14)));
        }
        const Body A = convex_body(c, c.geom[0], X), B = convex_body(c, c.geom[1], Y);
        // where a body is round about the very point of the other that touches, many directions are as good
        const bool is_round = !A.is_polytope() || !B.is_polytope();
        expect_optimum(A, B, convex_contact(A, B, 1.0), random, is_round ? 1e-3 : 1e-7);
        compared++;
      }
    }
  EXPECT_GT(compared, 3000);
}

TEST(ConvexPairs, SidesOfParallelCylindersAreThoseOfNearlyParallelOnes) {
  Random random(9);
  int overlaps = 0, gaps = 0;
  for (int i = 0; i < 300; i++) {
    const GeomContacts<double> c = geoms(GeomType::Cylinder, GeomType::Cylinder, random);
    const Placement<double> X = random_place(random, 0.2);
    const double r = c.geom[0].size.x() + c.geom[1].size.x(), h = c.geom[0].size.y() + c.geom[1].size.y();
    const double angle = random.uniform(-pi, pi), x = r * random.uniform(0.8, 1.2), z = h * random.uniform(-0.7, 0.7);
    Placement<double> Y = X;
    Y.r = X.r + X.R * Vec3d(x * std::cos(angle), x * std::sin(angle), z);
    const Placement<double> Z = turned(Y, i % 3, 1e-9);  // which is not parallel enough, for two of three
    const Body A = convex_body(c, c.geom[0], X);
    const ConvexContact<double> is = convex_contact(A, convex_body(c, c.geom[1], Y), 1.0),
                                nearly = convex_contact(A, convex_body(c, c.geom[1], Z), 1.0);
    if (x - r <= std::abs(z) - h + 1e-6) continue;  // a cap is nearer
    EXPECT_NEAR(is.distance, x - r, 1e-13);
    EXPECT_NEAR(is.distance, nearly.distance, 1e-8);
    expect_vector(is.n, nearly.n, 1e-6);
    expect_vector(is.b, Vec3d(is.a + is.n * is.distance), 1e-13);
    // at half of the height that both share
    const double below = std::max(-c.geom[0].size.y(), z - c.geom[1].size.y()),
                 above = std::min(c.geom[0].size.y(), z + c.geom[1].size.y());
    EXPECT_NEAR((X.R.transpose() * (is.a - X.r)).z(), (below + above) / 2, 1e-12);
    overlaps += is.distance < 0, gaps += is.distance > 0;
  }
  EXPECT_GT(overlaps, 50);
  EXPECT_GT(gaps, 50);
}

TEST(ConvexPairs, FarthestCornersAreFound) {
  Random random(4);
  for (int n = 3; n < 40; n++) {
    const Hull<double> h = prism(n);
    for (int i = 0; i < 50; i++) {
      const Vec3d d = random.vector(1).normalized();
      double most = -1;
      for (const auto& corner : h.corner) most = std::max(most, corner.r.dot(d));
      EXPECT_EQ(h.corner[static_cast<std::size_t>(farthest_corner(h, d, i % (2 * n)))].r.dot(d), most);
    }
  }
}

// A field of 3 x 3 heights, all the same.
HeightField<double> level(double height) { return {3, 3, 1, 1, 0.5, 0.1, std::vector<double>(9, height)}; }

TEST(HeightFields, BesideThemIsNothing) {
  Random random(7);
  GeomContacts<double> c = geoms(GeomType::HeightField, GeomType::Sphere, random);
  c.field.push_back(level(0.8)), c.geom[0].field = 0, c.geom[1].size.x() = 0.1;
  ContactPair<double> pair;
  pair.geom[1] = 1, pair.slots = most_prisms;
  ContactPoint<double> out[most_prisms];
  EXPECT_GT(contacts_of(c, pair, at(0, 0, 0), at(1.05, 0, 0.3), out), 0);
  EXPECT_EQ(contacts_of(c, pair, at(0, 0, 0), at(1.11, 0, 0.3), out), 0);
  EXPECT_EQ(contacts_of(c, pair, at(0, 0, 0), at(0, 0, -0.21), out), 0);
}

}  // namespace
}  // namespace featherstorm::test_convex_pairs
