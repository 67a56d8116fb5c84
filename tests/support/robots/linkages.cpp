#include "tests/support/robots/linkages.h"

#include "core/loops/loop_constraints.h"
#include "core/model/coupling.h"

namespace featherstorm::testing {

LoopRows constraints(const Model<double>& m, const Loops<double>& loops, const Numbers& q, const Numbers& v,
                     double rate) {
  LoopRows c{RowMatrix::Constant(loops.nc, m.nv, NAN), Eigen::VectorXd::Constant(loops.nc, NAN),
             Eigen::VectorXd::Constant(loops.nc, NAN)};
  loop_constraints(m, loops, q.data(), v.data(), rate, c.K.data(), c.k.data(), c.delta.data());
  return c;
}

Numbers numbers(const Eigen::VectorXd& x) { return Numbers(x.data(), x.data() + x.size()); }
Eigen::VectorXd least_squares(const Eigen::MatrixXd& K, const Eigen::VectorXd& k) {
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> orthogonal;
  orthogonal.setThreshold(1e-9);
  orthogonal.compute(K);
  return orthogonal.solve(k);
}

Numbers closed(const Model<double>& m, const Loops<double>& loops, Numbers q, int iterations) {
  for (int i = 0; i < iterations; i++) {
    const LoopRows c = constraints(m, loops, q, Numbers(m.nv, 0.0));
    q = moved(m, q, numbers(least_squares(c.K, -c.delta)), 1);
  }
  return q;
}

Numbers admissible(const Model<double>& m, const Loops<double>& loops, const Numbers& q, const Numbers& v) {
  const RowMatrix K = constraints(m, loops, q, v).K;
  return numbers(vector(v) - least_squares(K, K * vector(v)));
}

State admissible_state(const Linkage& l, unsigned seed) {
  const Model<double>& m = l.model();
  State s = random_state(l.robot, seed);
  s.q = closed(m, l.loops, moved(m, l.q, admissible(m, l.loops, l.q, s.a), 0.05));
  s.v = admissible(m, l.loops, s.q, s.v);
  return s;
}
ClosedLoopSystem system_of(const Linkage& l, const State& s, double rate) {
  return closed_loop_system(l.model(), l.loops, s.q.data(), s.v.data(), s.f_ext.data(), rate);
}

LinkSpec bar(const std::string& name, double length, double mass) {
  const double I = mass * length * length / 12;
  return {name, mass, {length / 2, 0, 0.01}, Vec3d(0.1 * I, I, 1.05 * I).asDiagonal()};
}

JointSpec hinge(const std::string& name, const std::string& parent, const std::string& child, const Vec3d& r) {
  JointSpec j{name, JointType::Revolute, parent, child};
  j.X.r = r;
  return j;
}

LoopSpec pin(const std::string& p, const Vec3d& at_p, const std::string& s, const Vec3d& at_s) {
  LoopSpec l;
  l.name = "pin", l.predecessor = p, l.X_P.r = at_p, l.successor = s, l.X_S.r = at_s;
  return l;
}

Linkage finish(const std::string& name, const ModelBuilder& b, const std::vector<LoopSpec>& specs, Numbers guess,
               std::vector<char> actuated, std::vector<char> independent, int mobility) {
  Linkage l{name, b.build(), {}, {}, std::move(actuated), std::move(independent), mobility};
  l.loops = close_loops(l.robot, specs);
  l.q = closed(l.model(), l.loops, std::move(guess));
  return l;
}

ModelBuilder open_four_bar(double base, const Vec3d& gravity) {
  ModelBuilder b("four_bar");
  b.set_gravity(gravity);
  b.add_link(bar("crank", 0.3, 1)), b.add_link(bar("coupler", 0.8, 2)), b.add_link(bar("rocker", 0.6, 1.5));
  b.add_joint(hinge("a", "", "crank", {0, 0, 0})), b.add_joint(hinge("b", "crank", "coupler", {0.3, 0, 0}));
  b.add_joint(hinge("d", "", "rocker", {base, 0, 0}));
  return b;
}
Linkage four_bar(LoopType type) {
  LoopSpec c = pin("coupler", {0.8, 0, 0}, "rocker", {0.6, 0, 0});
  c.type = type;
  // a sphere in a cylinder along the pin's axis: 2 constraints instead of 5, so the mechanism is no longer
  // over-constrained
  return finish("four_bar", open_four_bar(0.7, {0.3, -9.81, 0.5}), {c}, {0.8, -0.3, 1.7}, {1, 0, 0}, {1, 0, 0}, 1);
}

Linkage slider_crank() {
  ModelBuilder b("slider_crank");
  b.set_gravity({0, -9.81, 0});
  b.add_link(bar("crank", 0.2, 1)), b.add_link(bar("rod", 0.7, 2)), b.add_link(bar("slider", 0.1, 3));
  b.add_joint(hinge("a", "", "crank", {0, 0, 0})), b.add_joint(hinge("b", "crank", "rod", {0.2, 0, 0}));
  JointSpec s{"s", JointType::Prismatic, "", "slider"};
  s.axis = {1, 0, 0};
  b.add_joint(s);
  return finish("slider_crank", b, {pin("rod", {0.7, 0, 0}, "slider", {0, 0, 0})}, {0.9, -1.1, 0.8}, {1, 0, 0},
                {1, 0, 0}, 1);
}

Linkage five_bar() {
  ModelBuilder b("five_bar");
  b.set_gravity({0, -9.81, 0});
  for (const std::string side : {"left", "right"}) {
    b.add_link(bar(side + "_upper", 0.4, 1)), b.add_link(bar(side + "_lower", 0.5, 0.7));
    b.add_joint(hinge(side + "_hip", "", side + "_upper", {side == "left" ? -0.2 : 0.2, 0, 0}));
    b.add_joint(hinge(side + "_knee", side + "_upper", side + "_lower", {0.4, 0, 0}));
  }
  return finish("five_bar", b, {pin("left_lower", {0.5, 0, 0}, "right_lower", {0.5, 0, 0})}, {2.2, -1.4, 0.9, 1.4},
                {1, 0, 1, 0}, {1, 0, 1, 0}, 2);
}

Linkage stewart_platform() {
  ModelBuilder b("stewart");
  Random random(3);
  LinkSpec top = random_link(random, "platform");
  top.mass = 5;
  b.add_link(top), b.float_root("platform");
  std::vector<LoopSpec> balls;
  std::vector<char> actuated(6, 0), independent(6, 1);
  Numbers guess{0.03, -0.02, 0.8, 1, 0, 0, 0};
  for (int k = 0; k < 6; k++) {
    const std::string n = std::to_string(k);
    const double third = 2.0943951, foot = third * (k / 2) + (k % 2 ? 0.25 : -0.25);
    const double head = third * ((k + 1) / 2) + (k % 2 ? -0.3 : 0.3) - third / 2;
    LinkSpec barrel = random_link(random, "barrel" + n), rod = random_link(random, "rod" + n);
    b.add_link(barrel), b.add_link(rod);
    JointSpec u{"hooke" + n, JointType::Universal, "", barrel.name};
    JointSpec p{"piston" + n, JointType::Prismatic, barrel.name, rod.name};
    u.X.r = {0.6 * std::cos(foot), 0.6 * std::sin(foot), 0};
    u.X.R << 0, 0, 1, 1, 0, 0, 0, 1, 0;  // first axis along x, the second in the plane across it
    p.axis = {0, 1, 0};
    b.add_joint(u), b.add_joint(p);
    LoopSpec l = pin("platform", {0.35 * std::cos(head), 0.35 * std::sin(head), -0.05}, rod.name, {0, 0, 0});
    l.type = LoopType::Spherical;
    balls.push_back(l);
    guess.insert(guess.end(), {0.1, 0.1, 0.8});
    actuated.insert(actuated.end(), {0, 0, 1}), independent.insert(independent.end(), {0, 0, 0});
  }
  return finish("stewart", b, balls, guess, actuated, independent, 6);
}

Linkage parallel_leg() {
  ModelBuilder b("parallel_leg");
  b.add_link({"trunk", 8, {0, 0.02, 0.01}, Vec3d(0.1, 0.3, 0.25).asDiagonal()});
  b.float_root("trunk");
  b.add_link(bar("thigh", 0.3, 1.2)), b.add_link(bar("shank", 0.35, 0.6));
  b.add_link(bar("crank", 0.06, 0.2)), b.add_link(bar("rod", 0.3, 0.15));
  b.add_joint(hinge("hip", "trunk", "thigh", {0.1, 0, 0})), b.add_joint(hinge("knee", "thigh", "shank", {0.3, 0, 0}));
  b.add_joint(hinge("motor", "trunk", "crank", {0.1, 0, 0})), b.add_joint(hinge("wrist", "crank", "rod", {0.06, 0, 0}));
  return finish("parallel_leg", b, {pin("rod", {0.3, 0, 0}, "shank", {0.06, 0, 0})},
                {0.2, 0.1, 0.6, 1, 0, 0, 0, -1.1, 0.9, 0.1, -1.1}, {0, 0, 0, 0, 0, 0, 1, 0, 1, 0},
                {1, 1, 1, 1, 1, 1, 1, 0, 1, 0}, 8);
}

std::vector<Linkage> linkages() { return {four_bar(), slider_crank(), five_bar(), stewart_platform(), parallel_leg()}; }

Robot closed_robot(const Linkage& l) {
  Robot r = l.robot;
  r.model.loops = l.loops;
  return r;
}

Robot gripper() {
  ModelBuilder b("gripper");
  b.add_link(bar("palm", 0.2, 1.3)), b.add_link(bar("left", 0.08, 0.2)), b.add_link(bar("right", 0.08, 0.2));
  b.add_link(bar("tip", 0.05, 0.1));
  JointSpec wrist = hinge("wrist", "", "palm", {0, 0, 0.3});
  wrist.axis = {0, 1, 0}, wrist.armature = {0.01}, wrist.damping = {0.1};
  JointSpec left{"left_finger", JointType::Prismatic, "palm", "left"};
  left.X.r = {0.2, 0.01, 0}, left.axis = {0, 1, 0}, left.lower = {0}, left.upper = {0.05}, left.friction = {0.02};
  JointSpec right{"right_finger", JointType::Prismatic, "palm", "right"};
  right.X.r = {0.2, -0.01, 0}, right.axis = {0, -1, 0};
  b.add_joint(wrist), b.add_joint(left), b.add_joint(right), b.add_joint(hinge("knuckle", "left", "tip", {0.08, 0, 0}));
  Robot r = b.build();
  r.model.coupling = couple(
      r, {{"right_finger", {{"left_finger", 1}}, 0.004}, {"knuckle", {{"left_finger", -12}, {"wrist", 0.25}}, 0.1}});
  return r;
}

}  // namespace featherstorm::testing
