#include <gtest/gtest.h>

#include "core/contact/contact_impulse.h"
#include "core/dynamics/operational_inertia.h"
#include "core/kinematics/energy.h"
#include "core/kinematics/momentum.h"
#include "core/reference/contact/collision.h"
#include "core/reference/contact/lcp.h"
#include "tests/support/robots/contact_robots.h"

namespace featherstorm::test_contact_impulse {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

double kinetic(const Model<double>& m, const Numbers& q, const Numbers& v) {
  double e[2];
  energy(m, q.data(), v.data(), e);
  return e[0];
}
VectorXd total_momentum(const Model<double>& m, const Numbers& q, const Numbers& v) {
  VectorXd h(6);
  double com[3], cd[3], hc[3];
  momentum(m, q.data(), v.data(), com, cd, h.data(), hc);
  return h;
}
struct Impulse {
  Numbers v, lambda;
  VectorXd before, after;  // zeta (nr)
};
template <Friction friction = Friction::Cone>
Impulse impulse(const Robot& robot, const Contacts<double>& contacts, const Numbers& q, const Numbers& v,
                const Numbers& active, int sweeps) {
  const Model<double>& m = robot.model;
  Impulse r{Numbers(m.nv, NAN), Numbers(contacts.nr, 0.0), {}, {}};
  contact_impulse<friction>(m, contacts, q.data(), v.data(), active.data(), sweeps, r.lambda.data(), r.v.data());
  RowMatrix G(contacts.nr, m.nv);
  VectorXd phi(contacts.nc), margin(contacts.nc);
  contact_rows(m, contacts, q.data(), 3, phi.data(), margin.data(), G.data());
  r.before = G * vector(v), r.after = G * vector(r.v);
  return r;
}

// Two bodies of random inertia, the second's sphere on the first's.
struct Pair {
  Robot robot;
  Contacts<double> contacts;
  Numbers q, v;
};
Pair pair(unsigned seed, double friction, double restitution) {
  Random random(seed);
  LinkSpec a = random_link(random, "a"), b = random_link(random, "b");
  Pair p{floating({a, b}, {0, 0, 0}), {}, {}, {}};
  ContactSpec c;
  c.name = "c", c.predecessor = "a", c.successor = "b", c.surface = Surface::Sphere;
  c.radius = 0.4, c.radius_s = 0.3, c.centre = random.vector(0.1), c.X_p.r = random.vector(0.1);
  c.friction = friction, c.restitution = restitution;
  p.contacts = contacts_of(p.robot, {c});
  p.q = random_state(p.robot, seed).q;
  for (int k = 0; k < 12; k++) p.v.push_back(random.uniform(-2, 2));
  // b is put where the spheres touch, and moves towards a
  const Model<double>& m = p.robot.model;
  Numbers frame(12);
  double phi, margin;
  Numbers G(12);
  contact_rows(m, p.contacts, p.q.data(), 1, &phi, &margin, G.data());
  contact_frames(m, p.contacts, p.q.data(), frame.data());
  const int body = p.robot.joint("root_b");
  for (int k = 0; k < 3; k++) {
    p.q[m.body[body].q + k] -= phi * frame[3 + k];
    p.v[m.body[body].v + k] -= 6 * frame[3 + k];
  }
  return p;
}
// The same for the closed forms: inertia and velocity of a body in world axes at the world's origin.
struct WorldBody {
  InverseInertia<double> I;
  Motion<double> v;
};
WorldBody world_body(const Pair& p, const char* root) {
  const Body<double>& b = p.robot.model.body[p.robot.joint(root)];
  const double* q = p.q.data() + b.q;
  const double* v = p.v.data() + b.v;
  const Mat3d R = Eigen::Quaterniond(q[3], q[4], q[5], q[6]).toRotationMatrix();
  const Placement<double> X{R, {q[0], q[1], q[2]}};
  const Vec3d w = R * Vec3d(v[3], v[4], v[5]);
  return {inverse(apply_transpose(X, b.I)), {w, Vec3d(v[0], v[1], v[2]) + cross(X.r, w)}};
}

TEST(Collision, OfTwoBodiesIsThatOfTheSystem) {
  for (unsigned seed = 1; seed <= 12; seed++)
    for (double e : {0.0, 0.4, 1.0})
      for (bool sticking : {false, true}) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", e " + std::to_string(e));
        const Pair p = pair(seed, sticking ? 1e5 : 0, e);
        Numbers f(12);
        contact_frames(p.robot.model, p.contacts, p.q.data(), f.data());
        const WorldBody a = world_body(p, "root_a"), b = world_body(p, "root_b");
        const Vec3d C(f[0], f[1], f[2]), n(f[3], f[4], f[5]), t(f[6], f[7], f[8]), u(f[9], f[10], f[11]);
        const Collision<double> c =
            sticking ? collide_sticking(a.I, b.I, a.v, b.v, C, n, t, u, e) : collide(a.I, b.I, a.v, b.v, C, n, e);
        const Impulse r = impulse(p.robot, p.contacts, p.q, p.v, {1}, sticking ? 3000 : 1);
        ASSERT_LT(r.before(0), 0);
        for (int k = 0; k < 3; k++) EXPECT_NEAR(r.lambda[k], c.lambda(k), 1e-7 * c.lambda.norm());
        // zeta+ = -e zeta-, sliding stops where friction does
        EXPECT_NEAR(r.after(0), -e * r.before(0), 1e-7 * std::abs(r.before(0)));
        const double slip = r.after.tail(2).norm();
        EXPECT_TRUE(!sticking || slip < 1e-7 * r.before.norm()) << slip;
        // changes of velocity at the world's origin
        Pair after = p;
        after.v = r.v;
        const Motion<double> d1 = world_body(after, "root_a").v - a.v, d2 = world_body(after, "root_b").v - b.v;
        EXPECT_LT((d1.w - c.dv1.w).norm() + (d1.v - c.dv1.v).norm(), 1e-6 * (1 + c.dv1.v.norm()));
        EXPECT_LT((d2.w - c.dv2.w).norm() + (d2.v - c.dv2.v).norm(), 1e-6 * (1 + c.dv2.v.norm()));
        // momentum, all six components
        const VectorXd h = total_momentum(p.robot.model, p.q, p.v), h_next = total_momentum(p.robot.model, p.q, r.v);
        EXPECT_LT((h_next - h).norm(), 1e-11 * (1 + h.norm()));
        const double E = kinetic(p.robot.model, p.q, p.v), E_next = kinetic(p.robot.model, p.q, r.v);
        if (!sticking) {
          // energy lost: (1 - e^2) / 2 zeta^2 / M
          const double M = (r.after(0) - r.before(0)) / r.lambda[0];
          EXPECT_NEAR(E - E_next, (1 - e * e) / 2 * r.before(0) * r.before(0) / M, 1e-10 * E);
        }
        EXPECT_TRUE(e > 0 || E_next < E);
      }
}

TEST(Collision, LeavesPartingBodiesAlone) {
  const InverseInertia<double> ground = immovable<double>();
  const InverseInertia<double> b{0.5, {0, 0, 1}, {1, 0, 0, 1, 0, 1}};
  const Motion<double> still = zero_motion<double>(), up{{0, 0, 0}, {1, 0, 2}}, down{{0, 0, 0}, {0, 0, -2}};
  const Vec3d C(0, 0, 0), z(0, 0, 1), x(1, 0, 0), y(0, 1, 0);
  EXPECT_EQ(collide(ground, b, still, up, C, z, 1.0).lambda.norm(), 0);
  EXPECT_EQ(collide_sticking(ground, b, still, up, C, z, x, y, 1.0).lambda.norm(), 0);
  // m = 2 stopped: 4 N s
  EXPECT_NEAR(collide(ground, b, still, down, C, z, 0.0).lambda(0), 4, 1e-14);
  EXPECT_NEAR(collide(ground, b, still, down, C, z, 0.5).dv2.v.z(), 3, 1e-14);
  EXPECT_EQ(collide(ground, b, still, down, C, z, 0.5).dv1.v.norm(), 0);
}

TEST(Collision, InvertsInertias) {
  Random random(4);
  for (int k = 0; k < 10; k++) {
    const LinkSpec l = random_link(random, "l");
    const RigidBodyInertia<double> I = rigid_body_inertia(l.mass, l.com, upper(l.inertia));
    const Motion<double> v{random.vector(), random.vector()}, u = inverse(I) * (I * v);
    EXPECT_LT((u.w - v.w).norm() + (u.v - v.v).norm(), 1e-12);
  }
}

TEST(ContactImpulse, ConservesOrLosesEnergy) {
  int impacts = 0;
  for (unsigned seed = 1; seed <= 30; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 5, o.floating = seed % 2;
    const Robot robot = random_robot(seed, o);
    const State s = random_state(robot, seed);
    std::vector<ContactSpec> specs = random_contacts(robot, seed, 3);
    for (const bool friction : {false, true})
      for (double e : {0.0, 0.5, 1.0}) {
        if (friction && e > 0) continue;
        for (ContactSpec& c : specs) c.friction = friction ? 0.6 : 0, c.restitution = e;
        const Contacts<double> contacts = contacts_of(robot, specs);
        // those that approach
        Numbers active(3);
        const Impulse still = impulse(robot, contacts, s.q, s.v, {0, 0, 0}, 1);
        EXPECT_EQ(still.v, s.v);
        for (int k = 0; k < 3; k++) active[k] = still.before(3 * k) < 0;
        const Impulse r = impulse(robot, contacts, s.q, s.v, active, 5000);
        const double E = kinetic(robot.model, s.q, s.v), E_next = kinetic(robot.model, s.q, r.v);
        EXPECT_LE(E_next, E * (1 + 1e-7));
        EXPECT_TRUE(e < 1 || E_next >= E * (1 - 1e-7)) << E_next << " of " << E;
        for (int k = 0; k < 3; k++) {
          const double l = r.lambda[3 * k], t = std::hypot(r.lambda[3 * k + 1], r.lambda[3 * k + 2]);
          EXPECT_GE(l, 0);
          EXPECT_TRUE(active[k] || l == 0);
          EXPECT_TRUE(!active[k] || r.after(3 * k) + e * r.before(3 * k) > -1e-6 * still.before.norm());
          EXPECT_LE(t, (friction ? 0.6 : 0) * l * (1 + 1e-12) + 1e-300);
          // friction opposes the slip that is left
          const double power = r.lambda[3 * k + 1] * r.after(3 * k + 1) + r.lambda[3 * k + 2] * r.after(3 * k + 2);
          EXPECT_TRUE(!active[k] || power <= 1e-6 * (1 + l)) << power;
          impacts += l > 0;
        }
      }
  }
  EXPECT_GT(impacts, 60);
}

TEST(ContactImpulse, WithoutFrictionIsTheExactSolution) {
  for (unsigned seed = 1; seed <= 15; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 6;
    const Robot robot = random_robot(seed, o);
    const State s = random_state(robot, seed);
    std::vector<ContactSpec> specs = random_contacts(robot, seed, 5);
    for (ContactSpec& c : specs) c.friction = 0, c.restitution = 0;
    const Contacts<double> contacts = contacts_of(robot, specs);
    const Impulse r = impulse(robot, contacts, s.q, s.v, Numbers(5, 1.0), 20000);
    const ContactProblem p = contact_problem(robot.model, contacts, s.q, s.v, s.tau, s.f_ext);
    const ContactForces x = solve_lcp(p.M, p.zeta);
    if (!x.solved) continue;
    VectorXd normal(5);
    for (int k = 0; k < 5; k++) normal(k) = r.after(3 * k);
    EXPECT_LT((normal - x.zetad).norm(), 1e-8 * (1 + p.zeta.norm()));
  }
}

// A ball on a rough floor: it slides until the end of the impact, or rolls away.
TEST(ContactImpulse, OfABallIsTheClosedForm) {
  const double r = 0.1, m = 2, mu = 0.3, down = 2;
  const Robot robot = floating({ball("b", r, m)});
  const Numbers q{0, 0, r, 1, 0, 0, 0};
  for (double e : {0.0, 0.7})
    for (double along : {0.5, 2.0, 3.0, 8.0}) {
      const Contacts<double> contacts = contacts_of(robot, {on_ground("b", {0, 0, 0}, r, mu, e)});
      const double c = 0.6, s = 0.8, J = m * (1 + e) * down;
      const Impulse x = impulse(robot, contacts, q, {along * c, along * s, -down, 0, 0, 0}, {1}, 500);
      const bool sticks = along <= 3.5 * mu * (1 + e) * down;
      const double after = sticks ? along * 5 / 7 : along - mu * J / m;
      EXPECT_NEAR(x.lambda[0], J, 1e-12);
      EXPECT_NEAR(x.v[0], after * c, 1e-9);
      EXPECT_NEAR(x.v[1], after * s, 1e-9);
      EXPECT_NEAR(x.v[2], e * down, 1e-12);
      EXPECT_NEAR(x.after.tail(2).norm(), sticks ? 0 : along - 3.5 * mu * J / m, 1e-9);
    }
}

TEST(ContactImpulse, PyramidIsTheSquareAroundTheCone) {
  const Robot robot = floating({ball("b", 0.1, 2)});
  const Contacts<double> contacts = contacts_of(robot, {on_ground("b", {0, 0, 0}, 0.1, 0.3)});
  const Numbers q{0, 0, 0.1, 1, 0, 0, 0}, along{9, 0, -2, 0, 0, 0}, across{9, 9, -2, 0, 0, 0};
  const Impulse cone = impulse(robot, contacts, q, along, {1}, 300);
  const Impulse pyramid = impulse<Friction::Pyramid>(robot, contacts, q, along, {1}, 300);
  EXPECT_LT((vector(cone.v) - vector(pyramid.v)).norm(), 1e-10);
  const Impulse a = impulse(robot, contacts, q, across, {1}, 300);
  const Impulse b = impulse<Friction::Pyramid>(robot, contacts, q, across, {1}, 300);
  EXPECT_NEAR(std::hypot(a.lambda[1], a.lambda[2]), 0.3 * a.lambda[0], 1e-10);
  EXPECT_NEAR(std::hypot(b.lambda[1], b.lambda[2]), std::sqrt(2) * 0.3 * b.lambda[0], 1e-10);
  EXPECT_EQ(vector(impulse<Friction::Pyramid>(robot, contacts, q, across, {0}, 300).lambda).norm(), 0);
}

// A rod whose one end hits while the other rises slowly: the hit drives that end down, and the ground holds it.
TEST(ContactImpulse, HasNoRestitutionWhereContactsPart) {
  const Robot robot = floating({block("rod", {0.5, 0.001, 0.001}, 2)});
  const Contacts<double> contacts =
      contacts_of(robot, {on_ground("rod", {-0.5, 0, 0}, 0, 0, 0.5), on_ground("rod", {0.5, 0, 0}, 0, 0, 0.5)});
  const double left = -1, right = 0.1;
  const Numbers v{0, 0, (left + right) / 2, 0, left - right, 0};  // end at x: v_z - w_y x
  const Impulse r = impulse(robot, contacts, {0, 0, 0, 1, 0, 0, 0}, v, {1, 1}, 500);
  EXPECT_NEAR(r.before(0), left, 1e-12);
  EXPECT_NEAR(r.before(3), right, 1e-12);
  EXPECT_NEAR(r.after(0), 0.5, 1e-9);
  EXPECT_NEAR(r.after(3), 0, 1e-9);
  EXPECT_GT(r.lambda[3], 0);
}

// A robot that can slide in one direction only: A_tt is singular, and sweeps must still stop the slip.
TEST(ContactImpulse, StopsSlipWhereOnlyOneTangentMoves) {
  ModelBuilder b("slider");
  b.add_link({"x", 1}), b.add_link(ball("z", 0.1, 2));
  JointSpec x{"x", JointType::Prismatic, "", "x"}, z{"z", JointType::Prismatic, "x", "z"};
  x.axis = {1, 0, 0}, z.axis = {0, 0, 1};
  b.add_joint(x), b.add_joint(z);
  const Robot robot = b.build();
  const Contacts<double> contacts = contacts_of(robot, {on_ground("z", {0, 0, 0}, 0.1, 0.8)});
  const Impulse r = impulse(robot, contacts, {0, 0.1}, {0.5, -1}, {1}, 20);
  EXPECT_NEAR(r.v[0], 0, 1e-12);
  EXPECT_NEAR(r.v[1], 0, 1e-12);
}

}  // namespace
}  // namespace featherstorm::test_contact_impulse
