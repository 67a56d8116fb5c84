#include <gtest/gtest.h>

#include "core/contact/contact_step.h"
#include "core/kinematics/energy.h"
#include "core/kinematics/momentum.h"
#include "tests/support/robots/contact_robots.h"

namespace featherstorm::test_contact_step {
namespace {

using namespace testing;
using Eigen::VectorXd;

// A simulation by contact_step.
struct Simulation {
  const Robot& robot;
  Contacts<double> contacts;
  Numbers q, v, lambda, target, kp, kd;
  StepParameters<double> s{0.002, 0, 0, 0.01};
  ContactParameters<double> c{0.2, 1e-5, 1, 0.05, 0};
  int sweeps = 50, relax = 10;

  Simulation(const Robot& robot, const std::vector<ContactSpec>& specs, Numbers q, Numbers v = {})
      : robot(robot),
        contacts(contacts_of(robot, specs)),
        q(std::move(q)),
        v(std::move(v)),
        lambda(contacts.nr, 0.0),
        target(robot.model.nv, 0.0),
        kp(target),
        kd(target) {
    this->v.resize(robot.model.nv, 0.0);
  }
  void step(int count = 1) {
    for (int k = 0; k < count; k++)
      contact_step(robot.model, contacts, q.data(), v.data(),
                   Drive{Zeros<double>{}, target.data(), kp.data(), kd.data()}, Zeros<double>{}, s, c, sweeps, relax,
                   lambda.data(), q.data(), v.data());
  }
  VectorXd gaps() const {
    VectorXd phi(contacts.nc), margin(contacts.nc);
    RowMatrix G(contacts.nc, robot.model.nv);
    contact_rows(robot.model, contacts, q.data(), 1, phi.data(), margin.data(), G.data());
    return phi;
  }
  double total_energy() const {
    double e[2];
    energy(robot.model, q.data(), v.data(), e);
    return e[0] + e[1];
  }
  VectorXd momentum_of_all() const {
    VectorXd h(6);
    double com[3], cd[3], hc[3];
    momentum(robot.model, q.data(), v.data(), com, cd, h.data(), hc);
    return h;
  }
  void expect_no_adhesion_and_friction_in_the_disc() const {
    for (int k = 0; k < contacts.nc; k++) {
      ASSERT_GE(lambda[3 * k], 0);
      ASSERT_LE(std::hypot(lambda[3 * k + 1], lambda[3 * k + 2]),
                contacts.contact[k].friction * lambda[3 * k] * (1 + 1e-12));
    }
  }
};

// A block with its corners on an incline along x.
const Vec3d half(0.15, 0.1, 0.05);
Simulation on_incline(const Robot& robot, double angle, double friction) {
  std::vector<ContactSpec> specs = corners("b", half, friction);
  const Mat3d R = Eigen::AngleAxisd(angle, Vec3d::UnitY()).toRotationMatrix();
  for (ContactSpec& c : specs) c.X_p.R = R;
  const Eigen::Quaterniond p(R);
  const Vec3d at = R.col(2) * half.z();
  return Simulation(robot, specs, {at.x(), at.y(), at.z(), p.w(), p.x(), p.y(), p.z()});
}

TEST(ContactStep, SticksBelowTheAngleOfFrictionAndSlidesAboveIt) {
  const Robot robot = floating({block("b", half, 2)});
  const double mu = 0.5;  // 26.6 degrees
  for (double angle : {0.1, 0.3, 0.46, 0.47, 0.6, 0.9}) {
    SCOPED_TRACE(angle);
    Simulation x = on_incline(robot, angle, mu);
    x.sweeps = 200;
    const Numbers start = x.q;
    const int steps = 200;
    x.step(steps);
    const double t = steps * x.s.dt, g = 9.81, a = std::max(0.0, g * (std::sin(angle) - mu * std::cos(angle)));
    const Vec3d down(std::cos(angle), 0, -std::sin(angle));
    const Vec3d moved(x.q[0] - start[0], x.q[1] - start[1], x.q[2] - start[2]), v(x.v[0], x.v[1], x.v[2]);
    EXPECT_NEAR(v.dot(down), a * t, 1e-5);
    EXPECT_NEAR(moved.dot(down), a * t * (t + x.s.dt) / 2, 1e-5);
    EXPECT_NEAR(v.norm(), std::abs(v.dot(down)), 1e-5);
    // forces carry the weight: sum of normals m g cos, and friction
    double normal = 0;
    for (int k = 0; k < 4; k++) normal += x.lambda[3 * k] / x.s.dt;
    EXPECT_NEAR(normal, 2 * g * std::cos(angle), 1e-3);
  }
}

TEST(ContactStep, StopsASlidingBlockWhereCoulombSays) {
  const Robot robot = floating({block("b", half, 2)});
  Simulation x = on_incline(robot, 0, 0.4);
  x.sweeps = 200;
  const double v0 = 1, direction = 0.7;
  x.v[0] = v0 * std::cos(direction), x.v[1] = v0 * std::sin(direction);
  x.step(300);
  const double distance = v0 * v0 / (2 * 0.4 * 9.81);
  EXPECT_NEAR(std::hypot(x.q[0], x.q[1]), distance, v0 * x.s.dt);
  EXPECT_NEAR(std::atan2(x.q[1], x.q[0]), direction, 1e-3);  // the disc prefers no direction
  EXPECT_LT(vector(x.v).norm(), 1e-8);
}

TEST(ContactStep, DoesNotPenetrateAndDoesNotPull) {
  const Robot robot = floating({block("b", half, 2)});
  for (unsigned seed = 1; seed <= 6; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Numbers q{0, 0, 0.4, 1, 0, 0, 0};
    store_unit_quaternion(random, q.data() + 3);
    std::vector<ContactSpec> specs = corners("b", half, 0.5), upper = specs;
    for (ContactSpec& c : upper) c.centre.z() *= -1, specs.push_back(c);
    Simulation x(robot, specs, q, {random.uniform(-1, 1), 0.4, -1, 3, -2, 1});
    x.sweeps = 100;
    double E = x.total_energy();
    for (int k = 0; k < 1500; k++) {
      x.step();
      x.expect_no_adhesion_and_friction_in_the_disc();
      ASSERT_GT(x.gaps().minCoeff(), -2e-3) << k;
      // plastic impacts and friction dissipate; what a step may gain is what Baumgarte's push and the integrator do
      ASSERT_LT(x.total_energy(), E + 5e-3) << k;
      E = x.total_energy();
    }
    EXPECT_LT(vector(x.v).norm(), 1e-3);  // at rest on a face
    EXPECT_NEAR(x.gaps().array().abs().minCoeff(), 0, 1e-4);
  }
}

TEST(ContactStep, ReboundsByTheCoefficientOfRestitution) {
  const Robot robot = floating({ball("b", 0.1, 1)});
  for (double e : {0.5, 0.8, 1.0}) {
    Simulation x(robot, {on_ground("b", {0, 0, 0}, 0.1, 0, e)}, {0, 0, 1.1, 1, 0, 0, 0});
    x.s.dt = 1e-4;
    double highest = 0;
    bool hit = false;
    for (int k = 0; k < 9000; k++) {
      x.step();
      hit = hit || x.lambda[0] > 0;
      if (hit) highest = std::max(highest, x.gaps()(0));
    }
    EXPECT_NEAR(highest, e * e, 2e-3);
  }
  // slower rebounds than the threshold are none
  Simulation x(robot, {on_ground("b", {0, 0, 0}, 0.1, 0, 0.9)}, {0, 0, 0.1001, 1, 0, 0, 0});
  x.step(200);
  EXPECT_NEAR(x.gaps()(0), 0, 1e-9);
  EXPECT_EQ(vector(x.v).norm(), 0);
}

TEST(ContactStep, PushesPenetrationsOutWithoutEnergy) {
  const Robot robot = floating({ball("b", 0.1, 1)});
  Simulation x(robot, {on_ground("b", {0, 0, 0}, 0.1)}, {0, 0, 0.08, 1, 0, 0, 0});
  x.c.slop = 1e-3;
  x.step();
  EXPECT_NEAR(x.q[2], 0.08 + 1 * x.s.dt, 1e-15);  // max_push, less than erp of 0.019 m in a step
  EXPECT_NEAR(x.v[2], 0, 1e-14);
  x.step(500);
  EXPECT_NEAR(x.gaps()(0), -1e-3, 1e-12);
  EXPECT_NEAR(x.lambda[0] / x.s.dt, 9.81, 1e-9);
  // what the velocity would be with the push in it
  x.q[2] = 0.08, x.relax = 0;
  x.step();
  EXPECT_NEAR(x.v[2], 1, 1e-12);
}

TEST(ContactStep, ConservesMomentumBetweenBodies) {
  // two blocks in space, the upper one's corners on a face of the lower
  const Robot robot = floating({block("low", {0.3, 0.3, 0.1}, 3), block("up", half, 2)}, {0, 0, 0});
  std::vector<ContactSpec> specs = corners("up", half, 0.5, 0.3);
  for (ContactSpec& c : specs) c.predecessor = "low", c.X_p.r = {0, 0, 0.1}, c.half_x = c.half_y = 0.3;
  Numbers q = neutral(robot.model), v(12, 0.0);
  const int low = robot.joint("root_low"), up = robot.joint("root_up");
  q[robot.model.body[up].q + 2] = 0.1 + half.z() + 0.01;
  for (int k = 0; k < 3; k++) v[robot.model.body[up].v + k] = k == 2 ? -2 : 0.7;
  v[robot.model.body[low].v + 3] = 0.4;
  Simulation x(robot, specs, q, v);
  double pushed = 0;
  for (int k = 0; k < 30; k++) {
    // at one configuration: the position update turns moment arms by O(dt)
    Simulation before = x;
    x.step();
    Simulation after = before;
    after.v = x.v;
    EXPECT_LT((after.momentum_of_all().tail(3) - before.momentum_of_all().tail(3)).norm(), 1e-12);
    // forces within the pair have no moment; C alone turns angular momentum of free bodies by O(dt^2)
    EXPECT_LT((after.momentum_of_all().head(3) - before.momentum_of_all().head(3)).norm(), 1e-3);
    pushed += vector(x.lambda).norm();
  }
  EXPECT_GT(pushed, 0.5);
}

TEST(ContactStep, HoldsAStackOfBlocks) {
  const Robot robot = floating({block("a", half, 2), block("b", half, 2), block("c", half, 2)});
  std::vector<ContactSpec> specs = corners("a", half, 0.5);
  for (const char* pair : {"ab", "bc"})
    for (ContactSpec c : corners(std::string(1, pair[1]), half, 0.5)) {
      c.predecessor = std::string(1, pair[0]), c.X_p.r = {0, 0, half.z()}, c.half_x = c.half_y = 0.2;
      specs.push_back(c);
    }
  Numbers q = neutral(robot.model);
  for (int k = 0; k < 3; k++)
    q[robot.model.body[robot.joint("root_" + std::string(1, static_cast<char>('a' + k)))].q + 2] =
        half.z() * (2 * k + 1);
  Simulation x(robot, specs, q);
  x.sweeps = 30;
  x.step(1000);
  EXPECT_LT((vector(x.q) - vector(q)).norm(), 1e-3);
  EXPECT_LT(vector(x.v).norm(), 1e-4);
  double on_ground = 0;
  for (int k = 0; k < 4; k++) on_ground += x.lambda[3 * k] / x.s.dt;
  EXPECT_NEAR(on_ground, 6 * 9.81, 0.1);
}

Simulation standing_quadruped(const Robot& robot) {
  Simulation x(robot, feet(), standing(robot));
  for (int k = 6; k < 18; k++) {
    x.kp[k] = 300, x.kd[k] = 12;
    x.target[k] = x.q[robot.model.dof_q[k]];
  }
  return x;
}

TEST(ContactStep, KeepsAQuadrupedOnItsFeet) {
  const Robot robot = quadruped();
  Simulation x = standing_quadruped(robot);
  x.sweeps = 10;
  x.step(1000);  // the legs give by their stiffness first
  const VectorXd settled = vector(x.q);
  for (int k = 0; k < 1000; k++) {
    x.step();
    x.expect_no_adhesion_and_friction_in_the_disc();
    ASSERT_GT(x.gaps().minCoeff(), -1e-4);
    ASSERT_LT(x.gaps().maxCoeff(), 1e-4);
  }
  EXPECT_LT((vector(x.q) - settled).norm(), 1e-4);
  EXPECT_LT(vector(x.v).norm(), 1e-5);
  double mass = 0, weight = 0;
  for (int i = 1; i <= robot.model.nb; i++) mass += robot.model.body[i].I.m;
  for (int k = 0; k < 4; k++) weight += x.lambda[3 * k] / x.s.dt;
  EXPECT_NEAR(weight, mass * 9.81, 1e-3 * mass * 9.81);
}

// Sweeps until the residual is below `small` m/s, from the impulses in x.lambda.
int sweeps_needed(const Simulation& x, bool warm, double small) {
  const Model<double>& m = x.robot.model;
  const int nc = x.contacts.nc, nr = x.contacts.nr;
  Numbers phi(nc), v_free(m.nv), L(m.nh), Z(nr * m.nv), A(nr * nr), b(nr), weights(6 * nc);
  Numbers push(nc), lambda = x.lambda;
  if (!warm) lambda.assign(nr, 0.0);
  contact_step_prepare(m, x.contacts, x.q.data(), x.v.data(),
                       Drive{Zeros<double>{}, x.target.data(), x.kp.data(), x.kd.data()}, Zeros<double>{}, x.s, x.c,
                       phi.data(), v_free.data(), L.data(), Z.data(), A.data(), b.data(), weights.data(), push.data(),
                       lambda.data());
  for (int k = 0; k < 10000; k++) {
    if (contact_residual(x.contacts, A, b, weights, lambda) < small) return k;
    contact_sweep(x.contacts, A.data(), b.data(), weights.data(), lambda.data());
  }
  return 10000;
}

TEST(ContactStep, NeedsFewerSweepsFromAWarmStart) {
  const Robot robot = quadruped();
  Simulation x = standing_quadruped(robot);
  int warm = 0, cold = 0;
  x.step(300);  // it still moves
  for (int k = 0; k < 100; k++) {
    x.step();
    warm += sweeps_needed(x, true, 1e-5), cold += sweeps_needed(x, false, 1e-5);
  }
  EXPECT_LT(warm, cold / 2);
  EXPECT_LT(cold, 100 * 50);
  RecordProperty("warm", warm), RecordProperty("cold", cold);  // of 100 steps
}

}  // namespace
}  // namespace featherstorm::test_contact_step
