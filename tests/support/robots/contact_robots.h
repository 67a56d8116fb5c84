// Robots with contacts for tests.
#pragma once
#include <Eigen/Dense>

#include "core/contact/contact_system.h"
#include "core/dynamics/articulated_bodies.h"
#include "core/reference/contact/contact_state.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::testing {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A floating solid sphere.
inline LinkSpec ball(const std::string& name, double radius, double mass) {
  return {name, mass, Vec3d::Zero(), Vec3d::Constant(0.4 * mass * radius * radius).asDiagonal()};
}
inline LinkSpec block(const std::string& name, const Vec3d& half, double mass) {
  const Vec3d s = half.cwiseProduct(half) * (mass / 3);
  return {name, mass, Vec3d::Zero(), Vec3d(s.y() + s.z(), s.x() + s.z(), s.x() + s.y()).asDiagonal()};
}
inline Robot floating(const std::vector<LinkSpec>& links, const Vec3d& gravity = {0, 0, -9.81}) {
  ModelBuilder b("bodies");
  b.set_gravity(gravity);
  for (const LinkSpec& l : links) b.add_link(l), b.float_root(l.name);
  return b.build();
}
// The four lower corners of a block on the ground.
inline std::vector<ContactSpec> corners(const std::string& link, const Vec3d& half, double friction = 0,
                                        double restitution = 0) {
  std::vector<ContactSpec> c;
  for (double x : {-1.0, 1.0})
    for (double y : {-1.0, 1.0})
      c.push_back(on_ground(link, {x * half.x(), y * half.y(), -half.z()}, 0, friction, restitution));
  return c;
}

// A trunk of 12 kg on four legs of three joints (abduction, hip, knee), feet of radius 0.02, standing height 0.30.
inline Robot quadruped() {
  ModelBuilder b("quadruped");
  b.add_link(block("trunk", {0.2, 0.1, 0.05}, 12));
  b.float_root("trunk");
  for (int leg = 0; leg < 4; leg++) {
    const std::string n = std::to_string(leg);
    const double x = leg < 2 ? 0.2 : -0.2, y = leg % 2 ? -0.1 : 0.1, side = leg % 2 ? -1 : 1;
    LinkSpec hip = ball("hip" + n, 0.04, 0.7), thigh = block("thigh" + n, {0.02, 0.02, 0.1}, 1);
    LinkSpec shank = block("shank" + n, {0.01, 0.01, 0.1}, 0.2);
    thigh.com.z() = shank.com.z() = -0.1;
    b.add_link(hip), b.add_link(thigh), b.add_link(shank);
    auto joint = [&](const std::string& name, const std::string& parent, const std::string& child, const Vec3d& axis,
                     const Vec3d& r) {
      JointSpec j{name + n, JointType::Revolute, parent, child};
      j.axis = axis, j.X.r = r;
      b.add_joint(j);
    };
    joint("abduction", "trunk", hip.name, {1, 0, 0}, {x, y, 0});
    joint("hip_joint", hip.name, thigh.name, {0, 1, 0}, {0, 0.05 * side, 0});
    joint("knee", thigh.name, shank.name, {0, 1, 0}, {0, 0, -0.2});
  }
  return b.build();
}
inline std::vector<ContactSpec> feet(double friction = 0.7) {
  std::vector<ContactSpec> c;
  for (int leg = 0; leg < 4; leg++) c.push_back(on_ground("shank" + std::to_string(leg), {0, 0, -0.2}, 0.02, friction));
  return c;
}
// A standing position, with the feet under the hips.
inline Numbers standing(const Robot& robot, double bend = 0.7) {
  Numbers q = neutral(robot.model);
  q[robot.model.body[robot.joint("root")].q + 2] = 0.4 * std::cos(bend) + 0.02;
  for (int leg = 0; leg < 4; leg++) {
    q[robot.model.body[robot.joint("hip_joint" + std::to_string(leg))].q] = bend;
    q[robot.model.body[robot.joint("knee" + std::to_string(leg))].q] = -2 * bend;
  }
  return q;
}

// Contacts between random bodies of a random robot, with all surfaces; body 0 takes part. They need not touch.
inline std::vector<ContactSpec> random_contacts(const Robot& robot, unsigned seed, int count) {
  Random random(seed + 77);
  std::vector<ContactSpec> specs;
  const int nb = robot.model.nb;
  auto name = [&](int body) { return body == 0 ? std::string() : robot.body_names[body]; };
  while (static_cast<int>(specs.size()) < count) {
    const int s = random.below(nb + 1), p = random.below(nb + 1);
    if (s == p) continue;
    ContactSpec c;
    c.name = "contact" + std::to_string(specs.size());
    c.successor = name(s), c.predecessor = name(p);
    c.centre = random.vector(0.3), c.radius_s = random.uniform(0.05, 0.2);
    c.X_p = {random.rotation(), random.vector(0.3)};
    c.surface = static_cast<Surface>(random.below(3));
    if (c.surface != Surface::Plane) c.radius = random.uniform(0.3, 0.8);
    c.friction = random.uniform(0.1, 1), c.restitution = random.uniform(0, 1);
    specs.push_back(c);
  }
  return specs;
}

// contact_system as dense matrices.
struct ContactProblem {
  Eigen::VectorXd phi, margin, zeta, d, bias, qdd_free;
  RowMatrix M, G;
  Eigen::MatrixXd H;
};
inline ContactProblem contact_problem(const Model<double>& m, const Contacts<double>& contacts, const Numbers& q,
                                      const Numbers& v, const Numbers& tau, const Numbers& f_ext) {
  const int n = contacts.nc;
  auto nan = [](int k) { return Eigen::VectorXd::Constant(k, NAN).eval(); };
  ContactProblem c{nan(n), nan(n), nan(n), nan(n), nan(n), nan(m.nv), {}, {}, {}};
  c.M = RowMatrix::Constant(n, n, NAN), c.G = RowMatrix::Constant(n, m.nv, NAN);
  c.H = Eigen::MatrixXd::Zero(m.nv, m.nv);
  Numbers L(m.nh), w(m.nv);
  RowMatrix Z(n, m.nv);
  contact_system(m, contacts, q.data(), v.data(), tau.data(), f_ext.data(), c.phi.data(), c.margin.data(),
                 c.zeta.data(), c.M.data(), c.d.data(), L.data(), Z.data(), w.data());
  contact_rows(m, contacts, q.data(), 1, c.phi.data(), c.margin.data(), c.G.data());
  contact_rates(m, contacts, q.data(), v.data(), c.zeta.data(), c.bias.data());
  crba(m, q.data(), L.data());
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j]) c.H(i, j) = c.H(j, i) = L[m.at(i, j)];
  articulated_bodies(m, q.data(), v.data(), tau.data(), f_ext.data(), c.qdd_free.data());
  return c;
}

}  // namespace featherstorm::testing
