// Surfaces of soft contacts beyond a spring and a damper: RBDA section 11.8, Extensions.
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

TEST(NonlinearSurface, CarriesAWeightAtTheDepthOfItsLaw) {
  const Robot robot = floating({ball("ball", 0.1, 1.5)});
  for (int n2 : {2, 3, 4}) {
    const double K = 2000 * std::pow(0.01, 1 - n2 / 2.0);
    SoftWorld<NonlinearSurface<double>> x(robot, {at_origin()}, {K, K, 1, 1, n2});
    x.s.dt = 1e-3;
    x.q[2] = 0.1;
    x.step(4000);
    EXPECT_NEAR(0.1 - x.q[2], std::pow(1.5 * 9.81 / K, 2.0 / n2), 1e-5);
    EXPECT_NEAR(x.f[0], 1.5 * 9.81, 1e-3);
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

TEST(SeriesSurface, SticksBelowTheAngleOfFrictionAndSlidesAboveIt) {
  const Robot robot = floating({block("ball", {0.2, 0.1, 0.02}, 2)});
  for (double angle : {0.4, 0.7}) {
    std::vector<ContactSpec> specs = corners("ball", {0.2, 0.1, 0.02}, 0.5);
    const Mat3d R = Eigen::AngleAxisd(angle, Vec3d::UnitY()).toRotationMatrix();
    for (ContactSpec& c : specs) c.X_p.R = R;
    SoftWorld<SeriesSurface<double>> x(robot, specs, {4000, 40, 20000, 3000, 30, 15000});
    const Eigen::Quaterniond p(R);
    const Vec3d at = R.col(2) * 0.02;
    x.q = {at.x(), at.y(), at.z(), p.w(), p.x(), p.y(), p.z()};
    x.s.dt = 5e-4;
    x.step(2500);
    const double before = Vec3d(x.v[0], x.v[1], x.v[2]).dot(R.col(0));
    x.step(1000);
    const double slope = std::max(0.0, 9.81 * (std::sin(angle) - 0.5 * std::cos(angle)));
    EXPECT_NEAR((Vec3d(x.v[0], x.v[1], x.v[2]).dot(R.col(0)) - before) / 0.5, angle < 0.46 ? 0 : slope, 2e-3);
    if (angle < 0.46) { EXPECT_NEAR(before, 0, 1e-6); }
  }
}

// ---- the moving contact point ----

TEST(SoftRolling, SlowsABallAsTheClosedForm) {
  const Robot robot = floating({ball("ball", 0.1, 1.5)});
  SoftSurface<double> s{2e4, 200, 2e4, 200};
  s.rolling = 0.05;
  SoftWorld<SoftSurface<double>> x(robot, {at_origin(0.8)}, s);
  x.q[2] = 0.1 - 1.5 * 9.81 / 2e4, x.v[0] = 1, x.v[4] = 1 / x.q[2];
  x.s.dt = 2e-4;
  // (m + I / r^2) vd = -rolling m g v
  for (int k = 1; k <= 3; k++) {
    x.step(2500);
    EXPECT_NEAR(x.v[0], std::exp(-0.05 * 9.81 * 5 / 7 * 0.5 * k), 4e-3);
  }
}

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

template <class MakeLaw>
void every_scalar(int numbers, MakeLaw&& law) {
  RandomOptions o;
  o.bodies = 3, o.floating = true;
  const Robot robot = random_robot(9, o);
  const State s = random_state(robot, 9);
  std::vector<ContactSpec> specs = random_contacts(robot, 9, 2);
  for (ContactSpec& c : specs) c.surface = Surface::Plane, c.radius = 0, c.radius_s = 0.7, c.half_x = 2, c.half_y = 3;
  const Contacts<double> contacts = contacts_of(robot, specs);
  const Numbers u(2 * numbers, 0.004);
  expect_every_scalar(robot.model, {s.q, s.v, s.f_ext, u}, 6 + 2 * numbers, 1e-3,
                      [&](const auto& m, const auto& in, auto out) {
                        using P = typename std::remove_cvref_t<decltype(m)>::Number;
                        using T = std::remove_cvref_t<decltype(out[0])>;
                        const auto soft = law(P(1));
                        std::vector<T> f_ext(in[2], in[2] + 6 * m.nb), rate(2 * numbers);
                        for (int k = 0; k < 2 * numbers; k++) out[6 + k] = in[3][k];
                        const auto c = cast<P>(contacts);
                        soft_contact_forces(m, c, soft.data(), in[0], in[1], in[3], f_ext.data(), out, rate.data());
                        soft_contact_update(m, c, soft.data(), in[0], in[1], out, T(0.01), out + 6);
                        for (int k = 0; k < 2 * numbers; k++) out[6 + k] = out[6 + k] + rate[k] * T(1e-3);
                      });
}
TEST(SoftLaws, AreTheSameForEveryScalar) {
  every_scalar(3, [](auto x) { return std::vector<NonlinearSurface<decltype(x)>>(2, {400, 20, 300, 15, 3}); });
  every_scalar(6, [](auto x) { return std::vector<SeriesSurface<decltype(x)>>(2, {400, 20, 900, 300, 15, 800}); });
  every_scalar(36, [](auto x) { return std::vector<ArraySurface<decltype(x)>>(2, {400, 20, 300, 15, 3, 4}); });
}

}  // namespace
}  // namespace featherstorm::test_contact_soft_laws
