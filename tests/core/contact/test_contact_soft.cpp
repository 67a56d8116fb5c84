#include <gtest/gtest.h>

#include "core/contact/soft_surface.h"
#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/forward_dynamics.h"
#include "core/kinematics/energy.h"
#include "tests/support/robots/contact_robots.h"

namespace featherstorm::test_contact_soft {
namespace {

using namespace testing;
using Eigen::VectorXd;

const SoftSurface<double> rubber{4000, 20, 3000, 15};

struct Simulation {
  const Robot& robot;
  Contacts<double> contacts;
  std::vector<SoftSurface<double>> soft;
  Numbers q, v, u, f, f_ext;
  StepParameters<double> s{5e-4, 0, 0, 0.01};

  Simulation(const Robot& robot, const std::vector<ContactSpec>& specs, Numbers q, Numbers v,
             SoftSurface<double> surface = rubber)
      : robot(robot),
        contacts(contacts_of(robot, specs)),
        soft(contacts.nc, surface),
        q(std::move(q)),
        v(std::move(v)),
        u(contacts.nr, 0.0),
        f(contacts.nr, 0.0),
        f_ext(6 * robot.model.nb, 0.0) {}
  void step(int count = 1) {
    const Zeros<double> none;
    for (int k = 0; k < count; k++)
      soft_contact_step(robot.model, contacts, soft.data(), q.data(), v.data(), Drive{none, none, none, none},
                        f_ext.data(), s, u.data(), f.data(), q.data(), v.data());
  }
  // kinetic, potential and that of patches on the world's planes z = 0
  double total_energy() const {
    double e[2], stored = 0;
    energy(robot.model, q.data(), v.data(), e);
    VectorXd phi(contacts.nc), margin(contacts.nc);
    RowMatrix G(contacts.nc, robot.model.nv);
    contact_rows(robot.model, contacts, q.data(), 1, phi.data(), margin.data(), G.data());
    for (int k = 0; k < contacts.nc; k++) {
      const double z = std::min(u[3 * k + 2], phi(k)), x = u[3 * k], y = u[3 * k + 1];
      stored += 0.5 * soft[k].K_n * z * z + 0.5 * soft[k].K_t * (x * x + y * y);
    }
    return e[0] + e[1] + stored;
  }
};

// The ODE of the book with an explicit z, p = z held by the force, against the text over several bounces.
TEST(SoftContact, FollowsTheDifferentialEquationOverBounces) {
  const double m = 1, radius = 0.1, g = 9.81, K = rubber.K_n, D = rubber.D_n, h = 5e-5;
  const Robot robot = floating({ball("b", radius, m)});
  Simulation x(robot, {on_ground("b", {0, 0, 0}, radius)}, {0, 0, radius + 0.05, 1, 0, 0, 0}, Numbers(6, 0.0));
  x.s.dt = h;
  double p = 0.05, pd = 0, z = 0;
  bool touching = false, was = false;
  int bounces = 0;
  for (int k = 0; k < 8000; k++) {
    x.step();
    // midpoint rule within a phase
    auto force = [&](double P, double V) { return touching ? std::max(0.0, -K * P - D * V) : 0.0; };
    const double mid_p = p + h / 2 * pd, mid_v = pd + h / 2 * (force(p, pd) / m - g), a = force(mid_p, mid_v) / m - g;
    p += h * mid_v, pd += h * a;
    if (touching) {
      z = p;
      touching = -K * p - D * pd > 0;
    } else {
      z *= std::exp(-K / D * h);
      touching = p <= z;
    }
    ASSERT_NEAR(x.q[2] - radius, p, 5e-4) << k * h;
    bounces += !touching && was;
    was = touching;
  }
  EXPECT_GE(bounces, 2);
}

TEST(SoftContact, NeverPullsAndStaysInTheDisc) {
  const Robot robot = floating({block("b", {0.2, 0.1, 0.05}, 1)});
  const Contacts<double> contacts = contacts_of(robot, corners("b", {0.2, 0.1, 0.05}, 0.6));
  Random random(2);
  int touching = 0, slipping = 0;
  for (int trial = 0; trial < 300; trial++) {
    Numbers q{0, 0, 0.06, 1, 0, 0, 0}, v(6), u(12), f(12, NAN), ud(12, NAN), f_ext(6, 0.0);
    store_unit_quaternion(random, q.data() + 3);
    for (double& a : v) a = random.uniform(-1, 1);
    for (double& a : u) a = random.uniform(-0.02, 0.02);
    const std::vector<SoftSurface<double>> soft(4, rubber);
    soft_contact_forces(robot.model, contacts, soft.data(), q.data(), v.data(), u.data(), f_ext.data(), f.data(),
                        ud.data());
    VectorXd phi(4), margin(4);
    RowMatrix G(12, 6);
    contact_rows(robot.model, contacts, q.data(), 3, phi.data(), margin.data(), G.data());
    const VectorXd zeta = G * vector(v);
    for (int k = 0; k < 4; k++) {
      const bool touches = phi(k) <= u[3 * k + 2];
      const double z = touches ? phi(k) : u[3 * k + 2], pd = zeta(3 * k), f_n = f[3 * k];
      const Eigen::Vector2d ft(f[3 * k + 1], f[3 * k + 2]), x(u[3 * k], u[3 * k + 1]), xd(ud[3 * k], ud[3 * k + 1]);
      const Eigen::Vector2d vt(zeta(3 * k + 1), zeta(3 * k + 2));
      EXPECT_NEAR(f_n, touches ? std::max(0.0, -rubber.K_n * z - rubber.D_n * pd) : 0.0, 1e-10 * (1 + f_n));
      EXPECT_LE(ft.norm(), 0.6 * f_n * (1 + 1e-12));
      EXPECT_NEAR(ud[3 * k + 2], -(rubber.K_n * z + f_n) / rubber.D_n, 1e-12);
      EXPECT_LT((xd + (rubber.K_t * x + ft) / rubber.D_t).norm(), 1e-12);
      if (f_n == 0) continue;
      touching++;
      // a contact that persists: the patch goes with the body
      EXPECT_NEAR(ud[3 * k + 2], pd, 1e-12);
      // what the contact does to the body and to its springs is minus what it dissipates
      const Eigen::Vector2d slip = vt - xd;
      const double power = f_n * pd + ft.dot(vt) + rubber.K_n * z * ud[3 * k + 2] + rubber.K_t * x.dot(xd);
      const double lost = rubber.D_n * pd * pd + rubber.D_t * xd.squaredNorm() - ft.dot(slip);
      EXPECT_NEAR(power, -lost, 1e-10 * (1 + lost));
      if (ft.norm() < 0.6 * f_n * (1 - 1e-9)) {
        EXPECT_LT(slip.norm(), 1e-12);
      } else {
        slipping++;
        EXPECT_NEAR(ft.dot(slip), -ft.norm() * slip.norm(), 1e-10);  // opposite
      }
    }
    // joint-space forces are G^T f, by either forward dynamics
    VectorXd a(6), b(6);
    const Numbers none(6, 0.0);
    fd_crba(robot.model, q.data(), v.data(), none.data(), f_ext.data(), a.data());
    articulated_bodies(robot.model, q.data(), v.data(), VectorXd(G.transpose() * vector(f)).data(), none.data(),
                       b.data());
    EXPECT_LT((a - b).norm(), 1e-9 * (1 + a.norm()));
  }
  EXPECT_GT(touching, 100);
  EXPECT_GT(slipping, 30);
}

// A block with its corners on an incline along x.
Simulation on_incline(const Robot& robot, double angle, double friction) {
  const Vec3d half(0.2, 0.1, 0.02);
  std::vector<ContactSpec> specs = corners("b", half, friction);
  const Mat3d R = Eigen::AngleAxisd(angle, Vec3d::UnitY()).toRotationMatrix();
  for (ContactSpec& c : specs) c.X_p.R = R;
  const Eigen::Quaterniond p(R);
  const Vec3d at = R.col(2) * half.z();
  return Simulation(robot, specs, {at.x(), at.y(), at.z(), p.w(), p.x(), p.y(), p.z()}, Numbers(6, 0.0));
}

TEST(SoftContact, SticksWithoutCreepBelowTheAngleOfFriction) {
  const Robot robot = floating({block("b", {0.2, 0.1, 0.02}, 2)});
  Simulation x = on_incline(robot, 0.4, 0.5);  // 0.46 is the angle of friction
  x.step(2500);
  const VectorXd q = vector(x.q);
  x.step(1000);
  EXPECT_LT((vector(x.q) - q).norm(), 1e-9);
  double friction = 0, normal = 0;
  for (int k = 0; k < 4; k++) friction += x.f[3 * k + 1], normal += x.f[3 * k];
  EXPECT_NEAR(friction, -2 * 9.81 * std::sin(0.4), 1e-6);
  EXPECT_NEAR(normal, 2 * 9.81 * std::cos(0.4), 1e-6);
}

TEST(SoftContact, SlidesWithCoulombsAccelerationAboveIt) {
  const Robot robot = floating({block("b", {0.2, 0.1, 0.02}, 2)});
  for (double angle : {0.6, 0.9}) {
    Simulation x = on_incline(robot, angle, 0.5);
    const Vec3d down(std::cos(angle), 0, -std::sin(angle));
    auto speed = [&] { return Vec3d(x.v[0], x.v[1], x.v[2]).dot(down); };
    x.step(1000);
    const double v = speed();
    x.step(1000);
    EXPECT_NEAR((speed() - v) / (1000 * x.s.dt), 9.81 * (std::sin(angle) - 0.5 * std::cos(angle)), 1e-3);
  }
}

TEST(SoftContact, PrefersNoDirection) {
  const Robot robot = floating({block("b", {0.2, 0.1, 0.02}, 2)});
  for (double direction : {0.0, 0.5, 1.1}) {
    Simulation x = on_incline(robot, 0, 0.4);
    x.step(1000);
    const double x0 = x.q[0], y0 = x.q[1];
    x.v[0] = std::cos(direction), x.v[1] = std::sin(direction);
    x.step(1500);
    EXPECT_NEAR(std::atan2(x.q[1] - y0, x.q[0] - x0), direction, 5e-3);
    // the distance of Coulomb's law, and what the tangential springs give
    EXPECT_NEAR(std::hypot(x.q[0] - x0, x.q[1] - y0), 1 / (2 * 0.4 * 9.81), 2e-3);
  }
}

TEST(SoftContact, GivesElasticallyBeforeItSlips) {
  const Robot robot = floating({block("b", {0.2, 0.1, 0.02}, 2)});
  Simulation x = on_incline(robot, 0, 0.5);
  x.step(2000);
  const double x0 = x.q[0], limit = 0.5 * 2 * 9.81;
  x.f_ext[3] = 0.4 * limit;  // at the height of the mass centre
  x.step(3000);
  EXPECT_NEAR(vector(x.v).norm(), 0, 1e-6);
  const double stretched = x.q[0] - x0;
  EXPECT_GT(stretched, 0.4 * limit / (4 * rubber.K_t) * 0.99);
  x.f_ext[3] = 0;
  x.step(3000);
  EXPECT_NEAR(x.q[0], x0, 1e-6);  // it had stuck
  x.f_ext[3] = 1.2 * limit;
  x.step(1000);
  EXPECT_GT(x.q[0] - x0, 0.1);
}

TEST(SoftContact, TwoSoftBodiesAreLumpedWhereTheirRatesAgree) {
  const SoftSurface<double> a{3000, 30, 600, 3}, b{6000, 60, 1200, 6}, c = in_series(a, b);
  EXPECT_NEAR(c.K_n, 2000, 1e-9);
  EXPECT_NEAR(c.D_n, 20, 1e-9);
  // two patches with displacements z1 + z2 = p carry the same force
  const double p = -0.01, pd = -0.3, share = b.K_n / (a.K_n + b.K_n);
  EXPECT_NEAR(-a.K_n * share * p - a.D_n * share * pd, -c.K_n * p - c.D_n * pd, 1e-9);
}

TEST(SoftContact, ActsAndReactsBetweenMovingBodies) {
  const Robot robot = floating({ball("a", 0.2, 1), ball("b", 0.3, 2)}, {0, 0, 0});
  ContactSpec c;
  c.name = "c", c.predecessor = "a", c.successor = "b", c.surface = Surface::Sphere;
  c.radius = 0.2, c.radius_s = 0.3, c.friction = 0.4;
  Numbers q = neutral(robot.model), v(12, 0.0);
  const Body<double>&a = robot.model.body[robot.joint("root_a")], &b = robot.model.body[robot.joint("root_b")];
  q[b.q] = 0.3, q[b.q + 1] = 0.2, q[b.q + 2] = 0.34;
  v[b.v] = -1, v[b.v + 2] = -1, v[a.v + 4] = 3;
  Simulation x(robot, {c}, q, v);
  auto total = [&](int k) { return x.v[a.v + k] + 2 * x.v[b.v + k]; };
  const Vec3d before(total(0), total(1), total(2));
  double largest = 0;
  for (int k = 0; k < 3000; k++) x.step(), largest = std::max(largest, x.f[0]);
  EXPECT_GT(largest, 1);
  EXPECT_LT((Vec3d(total(0), total(1), total(2)) - before).norm(), 1e-12);
}

}  // namespace
}  // namespace featherstorm::test_contact_soft
