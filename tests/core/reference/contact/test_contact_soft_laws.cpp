// Surfaces of soft contacts beyond a spring and a damper: RBDA section 11.8, Extensions.
#include <gtest/gtest.h>

#include "core/reference/contact/soft_array.h"
#include "core/reference/contact/soft_series.h"
#include "tests/support/robots/soft_world.h"

namespace featherstorm::test_contact_soft_laws {
namespace {

using namespace testing;
using Eigen::VectorXd;

// ---- non-linear ----

// Oracle: m dd/dt^2 = -d^n (K + D dd/dt) has the first integral w/a - log(1 + a w)/a^2 = -K d^(n+1) / (m (n+1)) +
// const, a = D/K; d is 0 at both ends.
double leaving_speed(double a, double w) {
  auto g = [&](double x) { return x / a - std::log1p(a * x) / (a * a); };
  double low = 0, high = std::min(w, 1 / a);
  for (int k = 0; k < 200; k++) (g(-(low + high) / 2) < g(w) ? low : high) = (low + high) / 2;
  return low;
}

TEST(NonlinearSurface, ReboundsAsTheFirstIntegralSays) {
  const Robot robot = floating({ball("ball", 0.1, 1.5)}, {0, 0, 0});
  for (int n2 : {2, 3, 5})
    for (double w : {0.3, 2.0}) {
      SoftWorld<NonlinearSurface<double>> x(robot, {at_origin()}, {3e4, 1.2e4, 1, 1, n2});
      // a thousandth of the time in contact, or less
      const double depth = std::pow((n2 / 2.0 + 1) * 1.5 * w * w / (2 * 3e4), 1 / (n2 / 2.0 + 1));
      x.s.dt = 2.5e-3 * depth / w;
      x.q[2] = 0.1, x.v[2] = -w;
      do x.step();
      while (x.q[2] < 0.1 && x.v[2] < 1e3);
      EXPECT_NEAR(x.v[2], leaving_speed(0.4, w), 4e-3 * w) << n2 << ", " << w;
    }
}

TEST(NonlinearSurface, HasRestitutionBySpeedOnly) {
  const Robot robot = floating({ball("ball", 0.1, 1.5)}, {0, 0, 0});
  for (double K : {1e4, 4e4}) {
    SoftWorld<NonlinearSurface<double>> x(robot, {at_origin()}, {K, 0.4 * K, 1, 1, 3});
    x.s.dt = 5e-5;
    x.q[2] = 0.1, x.v[2] = -0.2;
    do x.step();
    while (x.q[2] < 0.1);
    EXPECT_NEAR(x.v[2] / 0.2, 1 - 2.0 / 3 * 0.4 * 0.2, 4e-3);
  }
}

TEST(NonlinearSurface, RecoversAtConstantSpeed) {
  const Robot robot = floating({ball("ball", 0.1, 1.5)}, {0, 0, 0});
  SoftWorld<NonlinearSurface<double>> x(robot, {at_origin()}, {3e4, 6e4, 10, 1, 3});
  x.q[2] = 1, x.u = {0.1, 0, -0.02};
  x.forces();
  EXPECT_NEAR(x.ud[2], 0.5, 1e-12);
  EXPECT_NEAR(x.ud[0], -1, 1e-12);
  for (double t : {0.01, 0.02, 0.03}) {
    x.update(0.01);
    EXPECT_NEAR(x.u[2], -0.02 + 0.5 * t, 1e-12);
  }
  x.update(0.02);
  EXPECT_EQ(x.u[2], 0);
}

// ---- in series with a spring ----

TEST(SeriesSurface, RelaxesAtASteadyDepth) {
  const Robot robot = floating({ball("ball", 0.1, 1.5)});
  const SeriesSurface<double> s{3000, 60, 9000, 1, 1, 1};
  SoftWorld<SeriesSurface<double>> x(robot, {at_origin()}, s);
  const double depth = 0.004, series = s.K_n * s.S_n / (s.K_n + s.S_n), rate = (s.K_n + s.S_n) / s.D_n;
  x.q[2] = 0.1 - depth;
  for (int k = 0; k < 6; k++) {
    x.forces();
    EXPECT_NEAR(x.f[0], depth * (series + (s.S_n - series) * std::exp(-rate * 0.002 * k)), 1e-10) << k;
    x.update(0.002);
  }
}

TEST(SeriesSurface, CreepsUnderAWeight) {
  const Robot robot = floating({ball("ball", 0.1, 1.5)});
  const SeriesSurface<double> s{3000, 900, 9000, 1, 1, 1};
  SoftWorld<SeriesSurface<double>> x(robot, {at_origin()}, s);
  const double weight = 1.5 * 9.81;
  x.s.dt = 5e-4;
  x.q[2] = 0.1 - weight / s.S_n;  // where the spring alone carries it
  for (int k = 1; k <= 4; k++) {
    x.step(400);
    const double t = 0.2 * k, expected = weight * (1 / s.S_n + (1 - std::exp(-s.K_n / s.D_n * t)) / s.K_n);
    EXPECT_NEAR(0.1 - x.q[2], expected, 5e-5) << t;  // its inertia is not in the formula
  }
}

TEST(SeriesSurface, LosesWhatDamperAndSlipTake) {
  const Robot robot = floating({ball("ball", 0.1, 1)}, {0, 0, 0});
  const SeriesSurface<double> s{3000, 60, 9000, 2000, 30, 5000};
  SoftWorld<SeriesSurface<double>> x(robot, {at_origin(0.5)}, s);
  Random random(4);
  int sticking = 0, slipping = 0;
  for (int trial = 0; trial < 900; trial++) {
    for (double& a : x.v) a = random.uniform(-1, 1);
    for (double& a : x.u) a = random.uniform(-0.01, 0.01);
    x.q[2] = 0.1 - random.uniform(0, 0.01);
    x.forces();
    if (x.f[0] == 0) continue;
    const Vec3d y(x.u[3], x.u[4], x.u[5]), yd(x.ud[3], x.ud[4], x.ud[5]);
    const Eigen::Vector2d ft(x.f[1], x.f[2]), xd(x.ud[0], x.ud[1]), yt = y.head(2), ydt = yd.head(2);
    const double lever = 0.1 + (x.q[2] - 0.1) / 2;  // q is upright
    const Eigen::Vector2d v(x.v[0] - lever * x.v[4], x.v[1] + lever * x.v[3]);
    const Eigen::Vector2d patch = yt - ft / s.S_t;  // where friction holds it
    EXPECT_LE(ft.norm(), 0.5 * x.f[0] * (1 + 1e-12));
    EXPECT_NEAR(x.f[0], s.S_n * std::max(0.0, y.z() - (x.q[2] - 0.1)), 1e-9);
    const double stored = s.K_n * y.z() * yd.z() + s.S_n * (x.q[2] - 0.1 - y.z()) * (x.v[2] - yd.z()) +
                          s.K_t * yt.dot(ydt) + s.S_t * (patch - yt).dot(xd - ydt);
    const double lost = s.D_n * yd.z() * yd.z() + s.D_t * ydt.squaredNorm() - ft.dot(v - xd);
    EXPECT_NEAR(x.power() + stored, -lost, 1e-9 * (1 + lost));
    EXPECT_GE(lost, 0);
    ((v - xd).norm() < 1e-9 ? sticking : slipping)++;
  }
  EXPECT_GT(sticking, 20);
  EXPECT_GT(slipping, 20);
}

// ---- the moving contact point ----

// External forces do f_n zeta + f_t v + resist . locus, whatever surface and bodies; locus by differences of where the
// contact point is in the axes of the body that carries the surface.
TEST(SoftRolling, ActsOnTheContactPointsMotion) {
  RandomOptions o;
  o.bodies = 4, o.floating = true;
  int touching = 0;
  for (unsigned seed = 1; seed <= 12; seed++) {
    const Robot robot = random_robot(seed, o);
    const Model<double>& m = robot.model;
    for (int surface = 0; surface < 3; surface++) {
      ContactSpec spec = random_contacts(robot, 3 * seed + surface, 1)[0];
      if (spec.surface == Surface::Plane) spec.radius_s = 3;  // certain to touch
      if (spec.surface == Surface::Sphere) spec.radius = 4;
      if (spec.surface == Surface::Cavity) spec.radius = 0.21;
      SoftSurface<double> s{400, 20, 300, 15, 0.7};
      SoftWorld<SoftSurface<double>> x(robot, {spec}, s);
      const State state = random_state(robot, seed);
      x.q = state.q, x.v = state.v;
      x.forces();
      if (x.f[0] == 0) continue;
      touching++;
      const Contact<double>& c = x.contacts.contact[0];
      auto point = [&](double t) {
        Numbers q(m.nq), numbers(m.nx);
        integrate(m, x.q.data(), x.v.data(), t, q.data());
        std::vector<Placement<double>> X(m.nb + 1);
        for (int i = 1; i <= m.nb; i++) update_joint(m, i, q.data(), Zeros<double>{}, numbers);
        body_placements(m, numbers, X);
        const ContactAt<double> at = contact_at<double>(c, X);
        // on the undeformed surface
        const Vec3d on_surface = at.C - at.e[0] * (at.phi / 2);
        return Vec3d(X[c.p].R.transpose() * (on_surface - X[c.p].r));
      };
      const double h = 1e-5, speed = ((point(h) - point(-h)) / (2 * h)).norm();
      VectorXd phi(1), margin(1);
      RowMatrix G(3, m.nv);
      contact_rows(m, x.contacts, x.q.data(), 3, phi.data(), margin.data(), G.data());
      const double without = vector(x.f).dot(G * vector(x.v)), expected = without - 0.7 * x.f[0] * speed * speed;
      EXPECT_NEAR(x.power(), expected, 1e-6 * (1 + std::abs(expected))) << seed << ", " << surface;
    }
  }
  EXPECT_GT(touching, 12);
}

}  // namespace
}  // namespace featherstorm::test_contact_soft_laws
