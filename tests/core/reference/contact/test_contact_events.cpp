#include <gtest/gtest.h>

#include "core/kinematics/energy.h"
#include "core/reference/contact/dense_output.h"
#include "core/reference/contact/event_simulation.h"
#include "core/reference/contact/lcp.h"
#include "core/reference/contact/minimal_contacts.h"
#include "tests/support/robots/contact_robots.h"

namespace featherstorm::test_contact_events {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;
constexpr double g = 9.81;

// A point mass (a small ball) that floats.
Robot point() { return floating({ball("b", 0.01, 1)}); }
VectorXd at(double x, double y, double z) { return (VectorXd(7) << x, y, z, 1, 0, 0, 0).finished(); }
VectorXd moving(double x, double y, double z) { return (VectorXd(6) << x, y, z, 0, 0, 0).finished(); }

double total_energy(const EventSimulation& s) {
  double e[2];
  energy(*s.model, s.q.data(), s.v.data(), e);
  return e[0] + e[1];
}
void expect_invariants(const EventSimulation& s) {
  const int nc = s.contacts->nc;
  VectorXd phi(nc), margin(nc);
  RowMatrix G(nc, s.model->nv);
  contact_rows(*s.model, *s.contacts, s.q.data(), 1, phi.data(), margin.data(), G.data());
  int active = 0, current = 0;
  for (int k = 0; k < nc; k++) {
    EXPECT_TRUE(s.current[k] || !s.active[k]);
    EXPECT_TRUE(s.active[k] || s.lambda(k) == 0);
    EXPECT_GE(s.lambda(k), -1e-6);
    EXPECT_TRUE(margin(k) <= 0 || phi(k) > -1e-4) << phi(k);
    active += s.active[k], current += s.current[k];
  }
  // active normals are a basis of the current ones
  if (current == 0) return;
  std::vector<int> a, c;
  for (int k = 0; k < nc; k++) {
    if (s.active[k]) a.push_back(k);
    if (s.current[k]) c.push_back(k);
  }
  const auto rank = [&](const std::vector<int>& set) {
    Eigen::FullPivLU<MatrixXd> lu;
    lu.setThreshold(1e-6);
    return set.empty() ? 0 : lu.compute(G(set, Eigen::all)).rank();
  };
  EXPECT_EQ(rank(a), active);
  EXPECT_EQ(rank(c), active);
}
std::vector<ContactEvent> run(EventSimulation& s, double time, double h) {
  std::vector<ContactEvent> events;
  const int steps = static_cast<int>(std::lround(time / h));
  for (int k = 0; k < steps; k++) {
    const auto e = advance(s, h);
    events.insert(events.end(), e.begin(), e.end());
    expect_invariants(s);
  }
  return events;
}

// The state at the first event and the event.
struct AtEvent {
  EventSimulation s;
  ContactEvent event;
};
AtEvent first_event(EventSimulation s, double h) {
  for (int k = 0; k < 10000; k++) {
    EventSimulation next = s;
    const auto events = advance(next, h);
    expect_invariants(next);
    if (events.empty()) {
      s = next;
      continue;
    }
    advance(s, events[0].t - s.t);
    return {s, events[0]};
  }
  ADD_FAILURE() << "no event";
  return {s, {}};
}

TEST(DenseOutput, IsTheIntegratorsPolynomial) {
  const HeunWeights<double> end = heun_weights(1.0), start = heun_weights(0.0);
  EXPECT_DOUBLE_EQ(end.k1, 0.25);
  EXPECT_DOUBLE_EQ(end.k2, 0.75);
  EXPECT_EQ(start.k1, 0);
  EXPECT_EQ(start.k2, 0);
  // yd = 2 + 3 t is integrated exactly at every delta
  const double h = 0.4;
  for (double d : {0.1, 0.5, 0.9}) {
    const HeunWeights<double> w = heun_weights(d);
    EXPECT_NEAR(h * (w.k1 * 2 + w.k2 * (2 + 3 * (2.0 / 3) * h)), 2 * d * h + 1.5 * d * d * h * h, 1e-15);
  }
}

TEST(DenseOutput, IsOfSecondOrderOnQuaternionsToo) {
  // a spinning body without torque, against small steps
  const Robot robot = floating({block("b", {0.3, 0.2, 0.05}, 2)}, {0, 0, 0});
  const Contacts<double> none;
  const VectorXd q0 = at(0, 0, 0), v0 = (VectorXd(6) << 0.1, 0.2, 0, 2, 0.3, 1).finished();
  auto end = [&](double h) {
    EventSimulation s = event_simulation(robot.model, none, q0, v0);
    run(s, 0.4, h);
    return VectorXd((VectorXd(13) << s.q, s.v).finished());
  };
  const VectorXd finer = end(0.4 / 64), exact = finer + (finer - end(0.4 / 32)) / 3;  // without the error of order h^2
  const double coarse = (end(0.05) - exact).norm(), fine = (end(0.025) - exact).norm();
  EXPECT_NEAR(coarse / fine, 4, 0.6);
  // Euler within a step, order 1
  Numbers q(7), v(6), a(6, 1.0);
  euler_state(robot.model, q0.data(), v0.data(), a.data(), 0.1, 0.5, q.data(), v.data());
  EXPECT_NEAR(v[0], 0.15, 1e-15);
  EXPECT_NEAR(q[0], 0.005, 1e-15);
}

TEST(EventSimulation, FindsTheTimesOfABouncingBall) {
  const Robot robot = point();
  const double height = 0.5, e = 0.6;
  const Contacts<double> contacts = contacts_of(robot, {on_ground("b", {0, 0, 0}, 0.1, 0, e)});
  EventSimulation s = event_simulation(robot.model, contacts, at(0, 0, 0.1 + height), moving(1, 0, 0));
  s.rebound = 0.05;
  const auto events = run(s, 1.5, 0.01);
  double t = std::sqrt(2 * height / g), v = g * t;
  int k = 0;
  for (; v * e > s.rebound; k++) {
    ASSERT_LT(k, static_cast<int>(events.size()));
    EXPECT_EQ(events[k].kind, EventKind::Gain);
    EXPECT_NEAR(events[k].t, t, 1e-12);
    v *= e, t += 2 * v / g;
  }
  ASSERT_EQ(static_cast<int>(events.size()), k + 1);  // the last has no rebound
  EXPECT_NEAR(events[k].t, t, 1e-11);
  EXPECT_TRUE(s.active[0]);
  EXPECT_NEAR(s.lambda(0), g, 1e-10);
  EXPECT_NEAR(s.q(0), 1.5, 1e-12);
  EXPECT_NEAR(s.v(2), 0, 1e-12);
  EXPECT_NEAR(s.q(2), 0.1, 1e-9);
}

// A ladder on a smooth floor and wall leaves the wall at two thirds of its height.
TEST(EventSimulation, ALadderLeavesTheWall) {
  LinkSpec rod{"rod", 3, Vec3d::Zero(), Vec3d(0.5, 0.25 - 1e-3, 0.25).asDiagonal()};  // 3 * 1 / 12 about y
  rod.inertia = Vec3d(0.25, 0.25, 1e-3).asDiagonal();
  const Robot robot = floating({rod});
  const double start = 1.1;  // from the floor
  ContactSpec foot = on_ground("rod", {0, 0, -0.5}, 0), top = on_ground("rod", {0, 0, 0.5}, 0);
  top.X_p.R = Eigen::AngleAxisd(M_PI / 2, Vec3d::UnitY()).toRotationMatrix();  // normal +x
  const Contacts<double> contacts = contacts_of(robot, {foot, top});
  // leaning against x = 0, its top on the wall
  const double tilt = -(M_PI / 2 - start);
  VectorXd q = at(0.5 * std::cos(start), 0, 0.5 * std::sin(start));
  q.tail(4) << std::cos(tilt / 2), 0, std::sin(tilt / 2), 0;
  EventSimulation s = event_simulation(robot.model, contacts, q, VectorXd::Zero(6));
  EXPECT_TRUE(s.active[0] && s.active[1]);
  EXPECT_EQ(s.problems_solved, 1);
  const double E = total_energy(s);
  const auto [end, event] = first_event(s, 2e-3);
  EXPECT_EQ(event.kind, EventKind::NegativeForce);
  EXPECT_EQ(event.contact, 1);
  EXPECT_NEAR(end.q(2), 2.0 / 3 * 0.5 * std::sin(start), 1e-5);
  s = end;
  run(s, 2e-3, 2e-3);
  EXPECT_EQ(s.problems_solved, 2);
  EXPECT_TRUE(s.current[0] && !s.current[1]);
  // then nothing pushes it along x
  const double vx = s.v(0);
  run(s, 0.1, 2e-3);
  EXPECT_NEAR(s.v(0), vx, 1e-10);
  EXPECT_NEAR(total_energy(s), E, 1e-5 * E);
}

TEST(EventSimulation, FourCornersCarryTheWeightOnThree) {
  const Vec3d half(0.1, 0.2, 0.3);
  const Robot robot = floating({block("b", half, 2)});
  const Contacts<double> contacts = contacts_of(robot, corners("b", half));
  EventSimulation s = event_simulation(robot.model, contacts, at(0, 0, half.z() + 0.2), moving(0, 0.3, 0));
  const auto events = run(s, 0.5, 0.01);
  ASSERT_EQ(events.size(), 1u);  // all four at once
  EXPECT_NEAR(events[0].t, std::sqrt(0.4 / g), 1e-12);
  EXPECT_EQ(std::count(s.current.begin(), s.current.end(), 1), 4);
  EXPECT_EQ(std::count(s.active.begin(), s.active.end(), 1), 3);
  EXPECT_NEAR(s.lambda.sum(), 2 * g, 1e-9);
  EXPECT_EQ(s.problems_solved, 1);  // at the impact
}

// Geometric loss is not visible in the equations of motion: the force is positive up to the edge.
TEST(EventSimulation, SlidesOffTheEdgeOfATable) {
  const Robot robot = point();
  ContactSpec table = on_ground("b", {0, 0, 0}, 0);
  table.half_x = table.half_y = 0.5, table.X_p.r = {0, 0, 1};
  const Contacts<double> contacts = contacts_of(robot, {table, on_ground("b", {0, 0, 0}, 0)});
  EventSimulation s = event_simulation(robot.model, contacts, at(0, 0, 1), moving(2, 0, 0));
  EXPECT_NEAR(s.lambda(0), g, 1e-12);
  const auto events = run(s, 0.8, 0.007);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::GeometricLoss);
  EXPECT_NEAR(events[0].t, 0.25, 1e-12);
  EXPECT_EQ(events[1].kind, EventKind::Gain);
  EXPECT_EQ(events[1].contact, 1);
  EXPECT_NEAR(events[1].t, 0.25 + std::sqrt(2 / g), 1e-12);
  EXPECT_TRUE(s.active[1]);
}

// Section 11.6: a curved surface costs no energy, the polyhedron in its place takes some at each concave edge.
TEST(EventSimulation, PolyhedraMakeSpuriousImpacts) {
  const Robot robot = point();
  ContactSpec bowl = on_ground("b", {0, 0, 0}, 0);
  bowl.surface = Surface::Cavity, bowl.radius = 2, bowl.X_p.r = {0, 0, 2};
  const Contacts<double> smooth = contacts_of(robot, {bowl});
  EventSimulation s = event_simulation(robot.model, smooth, at(0, 0, 0), moving(2, 0, 0));
  const double E = total_energy(s);
  EXPECT_EQ(run(s, 0.6, 0.002).size(), 0u);
  EXPECT_NEAR(total_energy(s), E, 5e-5 * E);
  // floor and a slope of 0.4 rad that begins at x = 0.5
  ContactSpec slope = on_ground("b", {0, 0, 0}, 0);
  slope.X_p.R = Eigen::AngleAxisd(-0.4, Vec3d::UnitY()).toRotationMatrix();
  slope.X_p.r = {0.5, 0, 0};
  const Contacts<double> polygon = contacts_of(robot, {on_ground("b", {0, 0, 0}, 0), slope});
  EventSimulation p = event_simulation(robot.model, polygon, at(0, 0, 0), moving(2, 0, 0));
  const auto events = run(p, 0.3, 0.002);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_NEAR(events[0].t, 0.25, 1e-12);
  EXPECT_NEAR(total_energy(p), E * std::pow(std::cos(0.4), 2), 1e-6 * E);
}

TEST(EventSimulation, RefusesBadInput) {
  const Robot robot = point();
  const Contacts<double> contacts = contacts_of(robot, {on_ground("b", {0, 0, 0}, 0.1)});
  EXPECT_THROW(event_simulation(robot.model, contacts, VectorXd::Zero(6), VectorXd::Zero(6)), std::invalid_argument);
  EXPECT_THROW(event_simulation(robot.model, contacts, at(0, 0, NAN), VectorXd::Zero(6)), std::invalid_argument);
  EXPECT_THROW(event_simulation(robot.model, contacts, at(0, 0, 0.05), VectorXd::Zero(6)), std::invalid_argument);
  EventSimulation s = event_simulation(robot.model, contacts, at(0, 0, 1), VectorXd::Zero(6));
  EXPECT_THROW(advance(s, 0), std::invalid_argument);
}

// Figure 11.7
MatrixXd normals_of(const std::vector<std::pair<Vec3d, Vec3d>>& points) {
  MatrixXd N(6, points.size());
  for (int k = 0; k < N.cols(); k++) N.col(k) << points[k].first.cross(points[k].second), points[k].second;
  return N;
}
TEST(MinimalContacts, AreThoseOfTheFigure) {
  const Vec3d up(0, 0, 1);
  std::vector<std::pair<Vec3d, Vec3d>> line, polygon, ruled, disc;
  for (int k = 0; k <= 10; k++) {
    const double y = -0.5 + 0.1 * k;
    line.push_back({{0.3, y, 0}, up});
    ruled.push_back({{0, y, 0}, Vec3d(-std::tan(y), 0, 1).normalized()});  // z = x tan y
  }
  EXPECT_EQ(minimal_contacts(normals_of(line)), (std::vector<int>{0, 10}));
  EXPECT_EQ(minimal_contacts(normals_of(ruled)).size(), ruled.size());
  for (int k = 0; k < 5; k++) polygon.push_back({{std::cos(2 * k * M_PI / 5), std::sin(2 * k * M_PI / 5), 0}, up});
  const int hull = 5;
  Random random(8);
  for (int k = 0; k < 12; k++) polygon.push_back({{random.uniform(-0.5, 0.5), random.uniform(-0.5, 0.5), 0}, up});
  polygon.push_back({(polygon[0].first + polygon[1].first) / 2, up});  // on an edge
  std::vector<int> vertices;
  for (int k = 0; k < hull; k++) vertices.push_back(k);
  EXPECT_EQ(minimal_contacts(normals_of(polygon)), vertices);
  for (int k = 0; k < 24; k++) disc.push_back({{std::cos(k * M_PI / 12), std::sin(k * M_PI / 12), 0}, up});
  disc.push_back({{0.2, 0.1, 0}, up});
  EXPECT_EQ(minimal_contacts(normals_of(disc)).size(), 24u);
  // coincident contacts count once
  EXPECT_EQ(minimal_contacts(normals_of({{{1, 0, 0}, up}, {{1, 0, 0}, up}})).size(), 1u);
}

TEST(MinimalContacts, GiveTheSameAcceleration) {
  const Robot robot = floating({block("b", {0.3, 0.2, 0.1}, 3)});
  std::vector<ContactSpec> specs;
  Random random(2);
  for (int k = 0; k < 12; k++)
    specs.push_back(on_ground("b", {random.uniform(-0.3, 0.3), random.uniform(-0.2, 0.2), -0.1}, 0));
  const Contacts<double> contacts = contacts_of(robot, specs);
  for (int trial = 0; trial < 10; trial++) {
    const Numbers q{0, 0, 0.1, 1, 0, 0, 0}, rest(6, 0.0),
        f{random.uniform(-5, 5), random.uniform(-5, 5), 0, 0, 0, random.uniform(-9, 40)};
    const ContactProblem p = contact_problem(robot.model, contacts, q, rest, rest, f);
    const std::vector<int> stay = minimal_contacts(p.G.transpose());
    EXPECT_LT(stay.size(), specs.size());
    const MatrixXd G = p.G(stay, Eigen::all);
    const ContactForces all = solve_lcp(p.M, p.d), few = solve_lcp(p.M(stay, stay), p.d(stay));
    ASSERT_TRUE(all.solved && few.solved);
    EXPECT_LT((p.G.transpose() * all.lambda - G.transpose() * few.lambda).norm(), 1e-8 * (1 + all.lambda.norm()));
  }
}

}  // namespace
}  // namespace featherstorm::test_contact_events
