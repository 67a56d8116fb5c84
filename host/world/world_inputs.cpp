#include "host/world/world_inputs.h"

#include <algorithm>

#include "core/kinematics/world_axes.h"
#include "core/trace/expr.h"

namespace featherstorm {
namespace {

constexpr int no_gravity = 1 << 7;                         // mjtDisableBit
enum MujocoTransmission { at_joint, at_joint_in_parent };  // mjtTrn

// Sets the armature of coordinates, plus that of actuators at their joints times the square of the gear.
void set_armature(Model<Expr>& m, const WorldTables<Expr>& t) {
  for (int k = 0; k < m.nv; k++) m.armature[k] = t.real("dof_armature", k);
  for (int a = 0; a < t.integer("nactuator"); a++) {
    const int transmission = t.integer("actuator_trntype", a);
    if (transmission != at_joint && transmission != at_joint_in_parent) continue;
    const int first = t.integer("jnt_dofadr", static_cast<int>(t.row("actuator_trnid", a, 2)[0]));
    const int end = first + freedoms(m, m.dof_body[static_cast<std::size_t>(first)]);
    const Expr gear = t.numbers("actuator_gear", t.integer("actuator_outadr", a), 6)[0];
    for (int k = first; k < end; k++) m.armature[k] = m.armature[k] + gear * gear * t.real("actuator_armature", a);
  }
  for (int i = 1; i <= m.nb; i++) {
    Body<Expr>& b = m.body[i];
    b.rotor = false;
    const int last = i < m.nb ? m.body[i + 1].v : m.nv;
    for (int k = b.v; k < last; k++) b.rotor = b.rotor || known(m.armature[k]) != 0;  // NaN: an input
  }
}

bool is_revolute(const Body<Expr>& b) {
  return b.shape == JointShape::Revolute || b.shape == JointShape::RevoluteTilted;
}

// Splits the rotation of a revolute joint's placement (core/model/joints.h): R = Rz(phi) Rx(alpha) Rz(psi), with psi
// in `zero`.
void split_turn(Body<Expr>& b) {
  const Mat3<Expr> R = b.X_T.R;
  const Expr zero(0.0), one(1.0), square = R(0, 2) * R(0, 2) + R(1, 2) * R(1, 2);
  const auto straight = square < Expr(1e-20);
  const Expr sine = select(straight, zero, sqrt(select(straight, one, square)));
  const Expr inverse = rcp(select(straight, one, sine));
  const RotationZ<Expr> phi{select(straight, one, -(R(1, 2) * inverse)), select(straight, zero, R(0, 2) * inverse)};
  // psi is the rest after phi: phi has few digits if the axes are almost parallel
  const Expr x = phi.c * R(0, 0) + phi.s * R(1, 0), y = phi.c * R(0, 1) + phi.s * R(1, 1);
  const Expr length = rcp(sqrt(x * x + y * y));
  b.zero = RotationZ<Expr>{x * length, -(y * length)} * b.zero;
  const Expr c = R(2, 2), s = sine;
  b.X_T.R = rows<Expr>(phi.c, -(phi.s * c), phi.s * s, phi.s, phi.c * c, -(phi.c * s), zero, s, c);
  b.shape = JointShape::Revolute;
}

// Sets the placements of joints in the bodies that carry them. The first joint of each MuJoCo body moves with the
// body. The placement of a free body is in its coordinates.
void set_joint_places(Model<Expr>& m, const Model<double>& model, const Robot& robot, const WorldTables<Expr>& t) {
  const WorldTables<double> own(robot.source->tables);
  const std::vector<std::string>& names = robot.source->link_names;
  std::vector<Placement<double>> before{identity_placement<double>()};  // of links in their bodies
  std::vector<Placement<Expr>> after{identity_placement<Expr>()};
  for (int b = 1; b < t.integer("nbody"); b++) {
    const auto parent = static_cast<std::size_t>(t.integer("body_parentid", b));
    before.push_back(model.frame[static_cast<std::size_t>(robot.frame(names[static_cast<std::size_t>(b)]))].X);
    after.push_back(cast<Expr>(before.back()));
    if (t.integer("body_mocapid", b) >= 0) continue;
    const Placement<Expr> in_parent = after[parent] * place_of_body(t, b);
    if (t.integer("body_jntnum", b) == 0) {
      after.back() = in_parent;
      continue;
    }
    const int joint = t.integer("body_jntadr", b);
    const int i = robot.joint(robot.source->joint_names[static_cast<std::size_t>(joint)]);
    Body<Expr>& body = m.body[static_cast<std::size_t>(i)];
    if (body.shape == JointShape::Free) continue;
    const Placement<double>& X = model.body[static_cast<std::size_t>(i)].X_T;
    const Placement<double> usual = before[parent] * place_of_body(own, b);
    if (!t.is_given("body_quat")) {
      body.X_T.r = cast<Expr>(X.r) + (in_parent.r - cast<Expr>(usual.r));
      continue;
    }
    body.X_T = in_parent * cast<Expr>(Placement<double>(inverse(usual) * X));
    if (is_revolute(body)) split_turn(body);
  }
}

// Sets the coordinates at which the file shows the robot, for hinges and slides.
void set_references(Model<Expr>& m, const Robot& robot, const WorldTables<Expr>& t) {
  for (int j = 0; j < t.integer("njnt"); j++) {
    const int q = t.integer("jnt_qposadr", j);
    const Expr less = Expr(t.nominal("qpos0", q)) - t.real("qpos0", q);
    Body<Expr>& b =
        m.body[static_cast<std::size_t>(robot.joint(robot.source->joint_names[static_cast<std::size_t>(j)]))];
    if (is_revolute(b)) {
      Expr s, c;
      sincos(less, s, c);
      b.zero = {b.zero.c * c - b.zero.s * s, b.zero.s * c + b.zero.c * s};
    } else if (b.shape == JointShape::Prismatic) {
      for (int k = 0; k < 3; k++) b.X_T.r(k) = b.X_T.r(k) + b.X_T.R(k, 2) * less;
    }
  }
}

// Sums the inertia of each body over its links.
void set_inertias(Model<Expr>& m, const Model<double>& model, const Robot& robot) {
  for (int i = 1; i <= m.nb; i++) m.body[i].I = zero_inertia<Expr>();
  const std::vector<std::string>& names = robot.source->link_names;
  for (std::size_t l = 1; l < names.size(); l++) {
    const WorldLink<Expr>& link = m.world.link[l];
    const Placement<Expr>& X = link.inertial.X;
    const Expr o(0.0);
    const Sym3<Expr> moment{link.moment[0], o, o, link.moment[1], o, link.moment[2]};
    RigidBodyInertia<Expr> I = rigid_body_inertia(link.mass, X.r, conjugate(X.R, moment));
    if (&model != &robot.model) {
      const auto frame = static_cast<std::size_t>(robot.frame(names[l]));
      const Placement<double> turned = model.frame[frame].X * inverse(robot.model.frame[frame].X);
      I = apply_transpose(cast<Expr>(turned), I);
    }
    m.body[link.inertial.body].I += I;
  }
  for (int i = 1; i <= m.nb; i++) m.body[i].second_moments = second_moments(m.body[i].I.I);
}

}  // namespace

const std::vector<WorldInput>& world_inputs() {
  static const std::vector<WorldInput> all = {
      {"opt_timestep", 1},
      {"opt_impratio", 1},
      {"opt_density", 1, true},
      {"opt_viscosity", 1, true},
      {"opt_gravity", 3},
      {"opt_wind", 3},
      {"opt_magnetic", 3},
      {"body_pos", 3},
      {"body_quat", 4},
      {"body_mass", 1},
      {"body_ipos", 3},
      {"body_iquat", 4},
      {"body_inertia", 3},
      {"body_gravcomp", 1},
      {"body_invweight0", 2},
      {"jnt_stiffness", 1, true},
      {"jnt_stiffnesspoly", 2, true},
      {"jnt_range", 2},
      {"jnt_margin", 1},
      {"jnt_solref", 2},
      {"jnt_solimp", 5},
      {"jnt_actfrcrange", 2},
      {"qpos0", 1},
      {"qpos_spring", 1},
      {"dof_armature", 1},
      {"dof_damping", 1},
      {"dof_dampingpoly", 2},
      {"dof_frictionloss", 1, true},
      {"dof_solref", 2},
      {"dof_solimp", 5},
      {"dof_invweight0", 1},
      {"geom_size", 3},
      {"geom_margin", 1},
      {"geom_gap", 1},
      {"geom_pos", 3},
      {"geom_quat", 4},
      {"geom_friction", 3},
      {"geom_solref", 2},
      {"geom_solimp", 5},
      {"geom_solmix", 1},
      {"pair_margin", 1},
      {"pair_gap", 1},
      {"pair_friction", 5},
      {"pair_solref", 2},
      {"pair_solreffriction", 2},
      {"pair_solimp", 5},
      {"eq_active", 1},
      {"eq_data", 12},
      {"eq_solref", 2},
      {"eq_solimp", 5},
      {"tendon_stiffness", 1, true},
      {"tendon_stiffnesspoly", 2, true},
      {"tendon_damping", 1, true},
      {"tendon_dampingpoly", 2, true},
      {"tendon_armature", 1, true},
      {"tendon_lengthspring", 2},
      {"tendon_frictionloss", 1, true},
      {"tendon_range", 2},
      {"tendon_margin", 1},
      {"tendon_actfrcrange", 2},
      {"tendon_solref_fri", 2},
      {"tendon_solimp_fri", 5},
      {"tendon_solref_lim", 2},
      {"tendon_solimp_lim", 5},
      {"tendon_invweight0", 1},
      {"tendon_length0", 1},
      {"actuator_gear", 6},
      {"actuator_armature", 1, true},
      {"actuator_damping", 1, true},
      {"actuator_dampingpoly", 2, true},
      {"actuator_dynprm", 10},
      {"actuator_gainprm", 10},
      {"actuator_biasprm", 10},
      {"actuator_ctrlrange", 2},
      {"actuator_actrange", 2},
      {"actuator_forcerange", 2},
      {"actuator_lengthrange", 2},
      {"actuator_acc0", 1},
      {"site_pos", 3},
      {"site_quat", 4},
      {"cam_pos", 3},
      {"cam_quat", 4},
      {"mocap_pos", 3},
      {"mocap_quat", 4},
  };
  return all;
}

std::string table_name(std::string_view input) {
  return input.starts_with("opt_") ? "opt." + std::string(input.substr(4)) : std::string(input);
}

const WorldInput* world_input(std::string_view name) {
  for (const WorldInput& i : world_inputs())
    if (i.name == name) return &i;
  return nullptr;
}

std::vector<Expr> equality_weights(const Robot& robot, const WorldTables<Expr>::Given& given) {
  const auto active = given.find("eq_active");
  if (active == given.end()) return {};
  const WorldTables<double> t(robot.source->tables);
  std::vector<Expr> weights;
  for (const int i : held_equalities(t, Places<double>(robot, t, robot.source->link_names, robot.source->joint_names)))
    weights.push_back(active->second.at(static_cast<std::size_t>(i)));
  return weights;
}

void set_world_inputs(Model<Expr>& m, const Model<double>& model, const Robot& robot,
                      const WorldTables<Expr>::Given& given) {
  if (given.empty()) return;
  const WorldTables<Expr> t(robot.source->tables, given);
  m.world = world_of(robot, t);
  const auto any = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return t.is_given(name); });
  };
  if (t.is_given("opt.gravity") && (t.integer("opt.disableflags") & no_gravity) == 0) {
    const auto g = t.numbers("opt.gravity", 0, 3);
    m.gravity = {g[0], g[1], g[2]};
  }
  if (any({"dof_armature", "actuator_gear", "actuator_armature"})) set_armature(m, t);
  if (any({"body_pos", "body_quat"})) set_joint_places(m, model, robot, t);
  if (t.is_given("qpos0")) set_references(m, robot, t);
  // the inertia of a body includes the bodies welded to it
  if (any({"body_mass", "body_pos", "body_quat", "body_ipos", "body_iquat", "body_inertia"}))
    set_inertias(m, model, robot);
}

}  // namespace featherstorm
