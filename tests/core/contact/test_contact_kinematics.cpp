#include <gtest/gtest.h>

#include "core/contact/contact_kinematics.h"
#include "core/kinematics/jacobian.h"
#include "core/scalar/pack.h"
#include "tests/support/robots/contact_robots.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_contact_kinematics {
namespace {

using namespace testing;
using Eigen::VectorXd;

// Pose of a link in the world, of "" too.
Placement<double> pose(const Robot& robot, const std::string& link, const Numbers& q) {
  if (link.empty()) return identity_placement<double>();
  Numbers poses(12 * robot.model.nf);
  forward_kinematics(robot.model, q.data(), poses.data());
  const double* x = poses.data() + 12 * robot.frame(link);
  return {rows<double>(x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11]), {x[0], x[1], x[2]}};
}
// The gap from the specification and the poses of links.
double gap(const Robot& robot, const ContactSpec& c, const Numbers& q) {
  const Placement<double> s = pose(robot, c.successor, q), p = pose(robot, c.predecessor, q);
  const Vec3d in_p = p.R.transpose() * (s.R * c.centre + s.r - p.r), local = c.X_p.R.transpose() * (in_p - c.X_p.r);
  switch (c.surface) {
    case Surface::Plane: return local.z() - c.radius_s;
    case Surface::Sphere: return local.norm() - c.radius - c.radius_s;
    case Surface::Cavity: return c.radius - local.norm() - c.radius_s;
  }
  return NAN;
}

struct Case {
  Robot robot;
  std::vector<ContactSpec> specs;
  Contacts<double> contacts;
  State s;
};
Case random_case(unsigned seed) {
  RandomOptions o;
  o.bodies = 6, o.floating = seed % 3 == 0;
  Case c{random_robot(seed, o), {}, {}, {}};
  c.specs = random_contacts(c.robot, seed, 6);
  c.contacts = contacts_of(c.robot, c.specs);
  c.s = random_state(c.robot, seed);
  return c;
}
struct Rows {
  VectorXd phi, margin;
  RowMatrix G;
};
Rows rows_of(const Case& c, const Numbers& q, int per) {
  const int n = c.contacts.nc;
  Rows r{VectorXd::Constant(n, NAN), VectorXd::Constant(n, NAN), RowMatrix::Constant(per * n, c.robot.model.nv, NAN)};
  contact_rows(c.robot.model, c.contacts, q.data(), per, r.phi.data(), r.margin.data(), r.G.data());
  return r;
}

TEST(ContactKinematics, RowsAreDerivativesOfTheGap) {
  for (unsigned seed = 1; seed <= 24; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case c = random_case(seed);
    const Model<double>& m = c.robot.model;
    const Rows r = rows_of(c, c.s.q, 1);
    VectorXd zeta = VectorXd::Constant(6, NAN), bias = zeta;
    contact_rates(m, c.contacts, c.s.q.data(), c.s.v.data(), zeta.data(), bias.data());
    for (int k = 0; k < 6; k++) {
      EXPECT_NEAR(r.phi(k), gap(c.robot, c.specs[k], c.s.q), 1e-12);
      const double zd = derivative([&](double t) {
        return VectorXd::Constant(1, gap(c.robot, c.specs[k], moved(m, c.s.q, c.s.v, t))).eval();
      })(0);
      const double scale = 1 + r.G.row(k).cwiseAbs().dot(vector(c.s.v).cwiseAbs());
      EXPECT_NEAR(zeta(k), zd, 1e-8 * scale);
      EXPECT_NEAR(r.G.row(k).dot(vector(c.s.v)), zeta(k), 1e-12 * scale);
      // td^T qd: how zeta changes along the motion at qdd = 0
      const Numbers rest(m.nv, 0.0);
      const double b = rate(m, c.s.q, c.s.v, rest, [&](const Numbers& q, const Numbers& v) {
        VectorXd z(6), unused(6);
        contact_rates(m, c.contacts, q.data(), v.data(), z.data(), unused.data());
        return VectorXd::Constant(1, z(k)).eval();
      })(0);
      EXPECT_NEAR(bias(k), b, 1e-6 * (1 + std::abs(b) + scale * scale));
    }
    // coordinate by coordinate
    for (int j = 0; j < m.nv; j++) {
      Numbers e(m.nv, 0.0);
      e[j] = 1;
      const VectorXd column = derivative([&](double t) {
        VectorXd phi(6);
        for (int k = 0; k < 6; k++) phi(k) = gap(c.robot, c.specs[k], moved(m, c.s.q, e, t));
        return phi;
      });
      EXPECT_LT((r.G.col(j) - column).norm(), 1e-8 * (1 + column.norm()));
    }
  }
}

TEST(ContactKinematics, TangentRowsMeasureTheSlipAtTheContactPoint) {
  for (unsigned seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case c = random_case(seed);
    const Model<double>& m = c.robot.model;
    const Rows r = rows_of(c, c.s.q, 3), normals = rows_of(c, c.s.q, 1);
    Numbers frames(12 * 6, NAN);
    contact_frames(m, c.contacts, c.s.q.data(), frames.data());
    for (int k = 0; k < 6; k++) {
      const Eigen::Map<const Eigen::Matrix3d> E(frames.data() + 12 * k + 3);  // columns normal, tangents
      const Vec3d at(frames[12 * k], frames[12 * k + 1], frames[12 * k + 2]);
      EXPECT_LT((E.transpose() * E - Eigen::Matrix3d::Identity()).norm(), 1e-12);
      EXPECT_NEAR(E.determinant(), 1, 1e-12);
      EXPECT_LT((r.G.row(3 * k) - normals.G.row(k)).norm(), 1e-15);
      // the point is midway between the surfaces, below the sphere's centre
      const Placement<double> X = pose(c.robot, c.specs[k].successor, c.s.q);
      const Vec3d below = X.r + X.R * c.specs[k].centre - at;
      EXPECT_LT((below - E.col(0) * (c.specs[k].radius_s + r.phi(k) / 2)).norm(), 1e-12);
      // velocities of the two body-fixed points at the contact point
      auto point = [&](const std::string& link, double t) {
        const Placement<double> at_0 = pose(c.robot, link, c.s.q), X = pose(c.robot, link, moved(m, c.s.q, c.s.v, t));
        return Vec3d(X.r + X.R * Vec3d(at_0.R.transpose() * (at - at_0.r)));
      };
      const VectorXd slip = derivative(
          [&](double t) { return VectorXd(point(c.specs[k].successor, t) - point(c.specs[k].predecessor, t)); });
      const VectorXd zeta = r.G.middleRows(3 * k, 3) * vector(c.s.v);
      EXPECT_LT((zeta - E.transpose() * slip).norm(), 1e-7 * (1 + slip.norm()));
    }
  }
}

TEST(ContactKinematics, IsTheSameFarFromTheOrigin) {
  const Robot robot = floating({block("b", {0.2, 0.3, 0.1}, 2)});
  const Contacts<double> contacts = contacts_of(robot, corners("b", {0.2, 0.3, 0.1}));
  Numbers q{0, 0, 0.125, 0.8, 0.0, 0.0, 0.6}, far = q;
  far[0] += 1048576, far[1] -= 2097152;
  VectorXd phi(4), margin(4), phi_far(4);
  RowMatrix G(12, 6), G_far(12, 6);
  contact_rows(robot.model, contacts, q.data(), 3, phi.data(), margin.data(), G.data());
  contact_rows(robot.model, contacts, far.data(), 3, phi_far.data(), margin.data(), G_far.data());
  EXPECT_EQ(phi, phi_far);
  EXPECT_EQ(G, G_far);
}

TEST(ContactKinematics, MeasuresTheEdgesOfPatches) {
  const Robot robot = floating({ball("b", 0.1, 1)});
  ContactSpec c = on_ground("b", {0, 0, 0}, 0.1);
  c.half_x = 0.5, c.half_y = 0.25, c.X_p.r = {1, 2, 0.5};
  const Contacts<double> contacts = contacts_of(robot, {c});
  auto at = [&](double x, double y) {
    const Numbers q{x, y, 0.7, 1, 0, 0, 0};
    double phi, margin;
    Numbers G(6);
    contact_rows(robot.model, contacts, q.data(), 1, &phi, &margin, G.data());
    EXPECT_NEAR(phi, 0.1, 1e-15);
    return margin;
  };
  EXPECT_NEAR(at(1.4, 2), 0.1, 1e-15);
  EXPECT_NEAR(at(1, 1.8), 0.05, 1e-15);
  EXPECT_NEAR(at(1.6, 2), -0.1, 1e-15);
  EXPECT_NEAR(at(1, 2.5), -0.25, 1e-15);
}

TEST(ContactKinematics, HasNoNormalAtTheCentreOfASphere) {
  const Robot robot = floating({ball("b", 0.1, 1)});
  ContactSpec c = on_ground("b", {0, 0, 0}, 0.1);
  c.surface = Surface::Cavity, c.radius = 1;
  const Contacts<double> contacts = contacts_of(robot, {c});
  const Numbers q{0, 0, 0, 1, 0, 0, 0};
  double phi, margin;
  Numbers G(18);
  contact_rows(robot.model, contacts, q.data(), 3, &phi, &margin, G.data());
  EXPECT_NEAR(phi, 0.9, 1e-12);
  for (double g : G) EXPECT_TRUE(std::isfinite(g));
  for (int j = 0; j < 6; j++) EXPECT_NEAR(G[j], 0, 1e-12);
}

TEST(ContactStates, AreThoseOfTheFigure) {
  auto state = [](double phi, double zeta) { return contact_state(phi, zeta, 1e-6, 1e-3); };
  EXPECT_EQ(state(0.1, -5), Apart);
  EXPECT_EQ(state(0.1, 0), Apart);
  EXPECT_EQ(state(1e-7, -1), Colliding);
  EXPECT_EQ(state(-1e-3, -1), Colliding);
  EXPECT_EQ(state(0, 1), Parting);
  EXPECT_EQ(state(0, 5e-4), Touching);
  EXPECT_EQ(is_touching(0.0, 1.0, 0.0, 1e-6, 1e-3), 1);
  EXPECT_EQ(is_touching(0.0, -1.0, 0.0, 1e-6, 1e-3), 0);  // beside its patch
  EXPECT_EQ(is_touching(0.0, 1.0, 0.1, 1e-6, 1e-3), 0);
  EXPECT_EQ(is_touching(0.1, 1.0, 0.0, 1e-6, 1e-3), 0);
  using T = Pack<double, 2>;
  T phi(0.0), zeta(-1.0);
  set_lane(phi, 1, 1);
  const T s = contact_state(phi, zeta, 1e-6, 1e-3);
  EXPECT_EQ(lane(s, 0), Colliding);
  EXPECT_EQ(lane(s, 1), Apart);
}

TEST(Contacts, RefusesWhatCannotBe) {
  const Robot robot = floating({ball("a", 0.1, 1), ball("b", 0.1, 1)});
  const ContactSpec good = on_ground("a", {0, 0, 0}, 0.1, 0.5, 0.5);
  EXPECT_EQ(contacts_of(robot, {good, good}).nr, 6);
  auto expect_error = [&](const std::string& reason, auto change) {
    ContactSpec c = good;
    change(c);
    EXPECT_NE(message([&] { contacts_of(robot, {c}); }).find(reason), std::string::npos) << reason;
  };
  expect_error("'c' does not exist", [](ContactSpec& c) { c.successor = "c"; });
  expect_error("of a body with itself", [](ContactSpec& c) { c.predecessor = "a"; });
  expect_error("not a rotation", [](ContactSpec& c) { c.X_p.R *= 2; });
  expect_error("centre is not finite", [](ContactSpec& c) { c.centre.x() = NAN; });
  expect_error("friction is -0.1", [](ContactSpec& c) { c.friction = -0.1; });
  expect_error("friction is nan", [](ContactSpec& c) { c.friction = NAN; });
  expect_error("restitution is 1.5", [](ContactSpec& c) { c.restitution = 1.5; });
  expect_error("radius_s is -1", [](ContactSpec& c) { c.radius_s = -1; });
  expect_error("a plane has no radius", [](ContactSpec& c) { c.radius = 1; });
  expect_error("for planes only", [](ContactSpec& c) { c.surface = Surface::Sphere, c.half_x = c.half_y = 1; });
  expect_error("expected both or none", [](ContactSpec& c) { c.half_x = 1; });
  expect_error("not larger", [](ContactSpec& c) { c.surface = Surface::Cavity, c.radius = 0.05; });
  expect_error("two points", [](ContactSpec& c) { c.surface = Surface::Sphere, c.radius_s = 0; });
}

}  // namespace
}  // namespace featherstorm::test_contact_kinematics
