// A robot with a world, without a model file: a cart with an arm of two links and a mast; a motor with a filter, a
// servo, a spring, dry friction, limits, a tendon over both joints of the arm, two sensors, and an equality between
// two coordinates.
#pragma once
#include "core/model/builder.h"

namespace featherstorm::testing {

inline Robot small_world(Integrator integrator = Integrator::Euler) {
  ModelBuilder b("small_world");
  const Mat3d inertia = Mat3d::Identity() * 0.02;
  b.add_link({"cart", 2, {0, 0, 0}, inertia});
  b.add_link({"upper", 1, {0, 0, -0.2}, inertia});
  b.add_link({"lower", 0.5, {0.01, 0, -0.15}, inertia});
  b.add_link({"flag", 0.2, {0, 0.02, 0.1}, inertia * 0.1});
  const auto joint = [&](const char* name, JointType type, const char* parent, const char* child, const Vec3d& at,
                         const Vec3d& axis) {
    JointSpec j{name, type, parent, child};
    j.X.r = at, j.axis = axis;
    b.add_joint(j);
  };
  joint("slide", JointType::Prismatic, "", "cart", {0, 0, 0}, {1, 0, 0});
  joint("shoulder", JointType::Revolute, "cart", "upper", {0, 0, 0}, {0, 1, 0});
  joint("elbow", JointType::Revolute, "upper", "lower", {0, 0, -0.4}, {0, 1, 0});
  joint("mast", JointType::Revolute, "cart", "flag", {0.1, 0, 0.1}, {1, 0, 0});
  Robot robot = b.build();
  const Model<double>& m = robot.model;

  World<double> w;
  w.timestep = 0.005, w.integrator = integrator;
  w.link.resize(5);
  for (int l = 1; l < 5; l++) {
    WorldLink<double>& link = w.link[l];
    link.place.body = link.inertial.body = l, link.mass = m.body[l].I.m;
    link.place.X = link.inertial.X = identity_placement<double>();
    link.inertial.X.r = m.body[l].I.h * (1 / m.body[l].I.m);
    link.parent = m.body[l].parent;
  }
  w.spring.push_back({4, {3, {0.5, 0}}, {0.2}});
  w.damping.assign(m.nv, Polynomial<double>{0.3, {0.1, 0}});
  Tendon<double> t;
  for (int k : {1, 2}) {
    TendonPart<double> part;
    part.q = part.v = k, part.number = k == 1 ? 0.5 : -0.3;
    t.part.push_back(part);
  }
  t.elastic = t.damped = true, t.stiffness.linear = 20, t.damping.linear = 0.5, t.slack_lower = -0.1,
  t.slack_upper = 0.1;
  w.tendon.push_back(t);
  w.nu = 2, w.na = 1, w.n_outputs = 2;
  w.control = {{true, -1, 1}, {false, 0, 0}};
  Actuator<double> motor;
  motor.activation = Activation::Filter, motor.body = 1, motor.acts = 1, motor.gear[0] = 2;
  motor.gains[0] = 10, motor.dynamics[0] = 0.03;
  Actuator<double> servo;
  servo.bias = Bias::Affine, servo.body = 3, servo.control = servo.output = 1, servo.gear[0] = 1;
  servo.gains[0] = 8, servo.biases[1] = -8, servo.biases[2] = -0.5;
  servo.force_limited = true, servo.force_lower = -4, servo.force_upper = 4;
  w.actuator = {motor, servo};
  w.compensated.assign(m.nv, 0), w.effort_limited.assign(m.nv, 0);
  w.effort_lower.assign(m.nv, 0), w.effort_upper.assign(m.nv, 0);

  Sensor<double> angle{SensorKind::JointPosition}, speed{SensorKind::Velocimeter, 1, 3};
  angle.body = 2, speed.place.body = 3, speed.place.X = identity_placement<double>();
  speed.place.X.r.z() = -0.3;
  w.sensor = {angle, speed}, w.n_sensordata = 4;

  const Softness<double> soft{{0.02, 1}, {0.9, 0.95, 0.001, 0.5, 2}, 2};
  w.constraints.friction.push_back({false, 0, soft, 0.4, 0.6});
  Limit<double> limit;
  limit.q = limit.v = 1, limit.softness = soft, limit.inverse_inertia = 5, limit.lower = -0.4, limit.upper = 0.5;
  w.constraints.limit.push_back(limit);
  limit.kind = LimitKind::Tendon, limit.lower = -0.15, limit.upper = 0.2, limit.inverse_inertia = 3;
  w.constraints.limit.push_back(limit);
  Equality<double> together;  // the mast follows the elbow
  together.kind = EqualityKind::Joint, together.softness = soft, together.inverse_inertia[0] = 20,
  together.coupled = true;
  together.q[0] = together.v[0] = 3, together.q[1] = together.v[1] = 2, together.coefficient[1] = 0.5;
  w.constraints.equality.push_back(together);
  robot.model.world = w;
  return robot;
}

// Adds geoms that may touch: the ground, a capsule on the cart, a ball at the end of the arm, a box on the flag.
inline Robot with_geoms(Robot robot) {
  GeomContacts<double>& c = robot.model.world.contacts;
  const auto add = [&](GeomType type, int body, const Vec3d& at, const Vec3d& size) {
    Geom<double> g;
    g.type = type, g.place = {body, identity_placement<double>()}, g.size = size;
    g.place.X.r = at;
    c.geom.push_back(g);
  };
  add(GeomType::Plane, 0, {0, 0, -0.5}, {0, 0, 0});
  add(GeomType::Capsule, 1, {0, 0.05, 0}, {0.08, 0.2, 0});
  add(GeomType::Sphere, 3, {0, 0, -0.3}, {0.06, 0, 0});
  add(GeomType::Box, 4, {0.02, 0, 0.1}, {0.03, 0.05, 0.1});
  const auto pair = [&](int g, int h, int slots, int dimension) {
    ContactPair<double> p;
    p.geom[0] = g, p.geom[1] = h, p.slots = slots, p.dimension = dimension;
    for (double& mu : p.friction) mu = 0.5;
    p.softness = {{0.02, 1}, {0.9, 0.95, 0.001, 0.5, 2}, 2};
    p.friction_reference[0] = 0.02, p.friction_reference[1] = 1;
    p.inverse_inertia[0] = 2, p.inverse_inertia[1] = 20;
    p.margin = 0.01, p.detection = 0.02;
    c.pair.push_back(p);
  };
  pair(0, 2, 1, 3), pair(0, 1, 2, 4), pair(2, 1, 1, 1), pair(0, 3, 4, 6), pair(2, 3, 1, 3);
  c.impedance_ratio = 1;
  return robot;
}

}  // namespace featherstorm::testing
