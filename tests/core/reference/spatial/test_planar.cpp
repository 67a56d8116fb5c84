#include <gtest/gtest.h>

#include "core/reference/spatial/planar.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::test_planar {
namespace {

using namespace testing;

void expect_equal(const PlanarMotion<double>& a, const Motion<double>& b) {
  const Motion<double> s = spatial(a);
  EXPECT_LT((s.w - b.w).norm() + (s.v - b.v).norm(), 1e-14);
}
void expect_equal(const PlanarForce<double>& a, const Force<double>& b) {
  const Force<double> s = spatial(a);
  EXPECT_LT((s.n - b.n).norm() + (s.f - b.f).norm(), 1e-14);
}

// Each test maps planar vectors by the planar text and, seen as spatial ones, by the spatial text.
struct Planar2D : ::testing::Test {
  Random random{11};
  double x() { return random.uniform(-2, 2); }
  PlanarMotion<double> motion() { return {x(), x(), x()}; }
  PlanarForce<double> force() { return {x(), x(), x()}; }
};

TEST_F(Planar2D, CrossProductsAreRows345OfTheSpatialOnes) {
  for (int k = 0; k < 20; k++) {
    const auto v = motion(), m = motion();
    const auto f = force();
    expect_equal(cross(v, m), cross(spatial(v), spatial(m)));
    expect_equal(cross_dual(v, f), cross_dual(spatial(v), spatial(f)));
    EXPECT_NEAR(dot(m, f), dot(spatial(m), spatial(f)), 1e-14);
    // (v x m) . f = -m . (v x* f)
    EXPECT_NEAR(dot(cross(v, m), f), -dot(m, cross_dual(v, f)), 1e-14);
  }
}

TEST_F(Planar2D, TransformIsRows345OfTheSpatialOne) {
  for (int k = 0; k < 20; k++) {
    const PlanarPlacement<double> X{rotation_z(x()), x(), x()};
    const Placement<double> S{matrix(X.R), {X.x, X.y, 0}};
    const auto m = motion();
    const auto f = force();
    expect_equal(apply(X, m), apply(S, spatial(m)));
    expect_equal(apply_transpose(X, f), apply_transpose(S, spatial(f)));
    // the closed form (2.77)
    const double c = X.R.c, s = X.R.s;
    EXPECT_NEAR(apply(X, m).x, (s * X.x - c * X.y) * m.w + c * m.x + s * m.y, 1e-14);
    EXPECT_NEAR(apply(X, m).y, (c * X.x + s * X.y) * m.w - s * m.x + c * m.y, 1e-14);
  }
}

TEST_F(Planar2D, InertiaIsRowsAndColumns345OfTheSpatialOne) {
  for (int k = 0; k < 20; k++) {
    const RigidBodyInertia<double> I =
        rigid_body_inertia<double>(random.uniform(0.5, 2), random.vector(), {1, 0.1, 0.2, 1.2, -0.1, 1.1});
    const auto v = motion();
    const PlanarForce<double> a = planar(I) * v, b = planar(I * spatial(v));
    EXPECT_NEAR(a.n, b.n, 1e-14);
    EXPECT_NEAR(a.x, b.x, 1e-14);
    EXPECT_NEAR(a.y, b.y, 1e-14);
  }
}

}  // namespace
}  // namespace featherstorm::test_planar
