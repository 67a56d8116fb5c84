// Reads the actuators of a MuJoCo model, their controls, and limits of effort at joints.
#include "core/collision/candidates.h"
#include "core/trace/expr.h"
#include "host/world/world_of.h"

namespace featherstorm {
namespace {

constexpr int no_clamped_controls = 1 << 8, no_actuation = 1 << 11;  // mjtDisableBit
constexpr int ball = 1;                                              // mjtJoint
constexpr int n_dofs[] = {6, 3, 1, 1};                               // by mjtJoint

// A value of an enumeration with `count` values, in MuJoCo's order.
template <class Kind> Kind kind_of(const auto& tables, const std::string& table, int i, int count) {
  const int value = tables.integer(table, i);
  if (value < 0 || value >= count)
    throw Error("actuator " + std::to_string(i) + ": " + table + " " + std::to_string(value) + " is not supported");
  return static_cast<Kind>(value);
}

template <class T> void refuse(const WorldTables<T>& tables, int i) {
  const auto no = [&](const std::string& what) {
    throw Error("actuator " + std::to_string(i) + ": " + what + " not supported");
  };
  if (tables.integer("actuator_plugin", i) >= 0) no("plugins are");
}

// Assigns numbers of act to the states of a DC motor or PID servo, in MuJoCo's order.
template <class T> void place_activations(Actuator<T>& a, const WorldTables<T>& tables, int i) {
  int k = a.act;
  const auto dynamics = tables.nominal_row("actuator_dynprm", i, 10),
             gains = tables.nominal_row("actuator_gainprm", i, 10);
  const auto place = [&](bool has, int& slot) {
    if (has) slot = k++;
  };
  if (a.activation == Activation::Pid) {
    place(dynamics[1] > 0, a.slew);
    place(gains[0] > 0, a.integral);
  } else if (a.activation == Activation::DcMotor || a.gain == Gain::DcMotor || a.bias == Bias::DcMotor) {
    place(dynamics[7] > 0, a.slew);
    place(gains[5] > 0, a.integral);
    place(dynamics[2] > 0, a.temperature);
    place(dynamics[5] > 0, a.bristle);
    place(dynamics[0] > 0, a.current);
  } else {
    return;
  }
  if (k != a.act + a.acts)
    throw Error("actuator " + std::to_string(i) + ": has " + std::to_string(a.acts) +
                " activations, expected as many as its parameters define: " + std::to_string(k - a.act));
}

// True if setpoints are angles of a periodic rotation: position servos (with any activation but muscle) and PID
// servos, at ball joints and at sites with a reference and a gear of rotation alone.
template <class T> bool is_periodic(const WorldTables<T>& tables, const Actuator<T>& a, int i, int joint) {
  const bool servo =
      a.gain == Gain::Fixed && a.bias == Bias::Affine &&
      tables.nominal_row("actuator_gainprm", i, 10)[0] == -tables.nominal_row("actuator_biasprm", i, 10)[1] &&
      a.activation != Activation::Muscle;
  if (!servo && a.gain != Gain::Pid) return false;
  const auto gear = tables.nominal_row("actuator_gear", a.output, 6);
  const auto none = [&](std::size_t k) { return gear[k] == 0 && gear[k + 1] == 0 && gear[k + 2] == 0; };
  if (a.transmission == Transmission::Site) return a.relative && none(0) && !none(3);
  const bool at_joint = a.transmission == Transmission::Joint || a.transmission == Transmission::JointInParent;
  return at_joint && tables.integer("jnt_type", joint) == ball && !none(0);
}

bool is_disabled(const auto& tables, int i) {
  const int group = tables.integer("actuator_group", i);
  return group >= 0 && group <= 30 && (tables.integer("opt.disableactuator") >> group & 1) != 0;
}

template <class T> void set_transmission(Actuator<T>& a, const WorldTables<T>& tables, const Places<T>& places, int i) {
  a.site.X = a.reference.X = identity_placement<T>();  // numbers also where it has none of these
  const auto target = tables.row("actuator_trnid", i, 2);
  const int object = static_cast<int>(target[0]), reference = static_cast<int>(target[1]);
  switch (a.transmission) {
    case Transmission::Joint:
    case Transmission::JointInParent: a.body = places.joint(object); break;
    case Transmission::Tendon: a.tendon = object; break;
    case Transmission::SliderCrank:
      a.site = places.site(object), a.reference = places.site(reference);
      a.crank_length = tables.real("actuator_cranklength", i);
      break;
    case Transmission::So3:
      if (reference < 0) {
        a.body = places.joint(object);
        break;
      }
      [[fallthrough]];
    case Transmission::Site:
      a.site = places.site(object), a.relative = reference >= 0;
      if (a.relative) a.reference = places.site(reference);
      break;
    case Transmission::Adhesion: break;
  }
}

template <class T> Actuator<T> actuator_of(const WorldTables<T>& tables, const Places<T>& places, int i) {
  Actuator<T> a;
  a.transmission = kind_of<Transmission>(tables, "actuator_trntype", i, 7);
  a.activation = kind_of<Activation>(tables, "actuator_dyntype", i, 7);
  a.gain = kind_of<Gain>(tables, "actuator_gaintype", i, 6);
  a.bias = kind_of<Bias>(tables, "actuator_biastype", i, 5);
  a.control = tables.integer("actuator_ctrladr", i), a.controls = tables.integer("actuator_ctrlnum", i);
  a.inputs = static_cast<unsigned>(tables.integer("actuator_ctrlspec", i));
  a.acts = tables.integer("actuator_actnum", i);
  a.act = a.acts > 0 ? tables.integer("actuator_actadr", i) : 0;
  a.output = tables.integer("actuator_outadr", i), a.outputs = tables.integer("actuator_outnum", i);
  for (int k = 0; k < 6; k++) a.gear[k] = tables.numbers("actuator_gear", a.output, 6)[static_cast<std::size_t>(k)];
  for (int k = 0; k < 10; k++) {
    const auto n = static_cast<std::size_t>(k);
    a.dynamics[k] = tables.numbers("actuator_dynprm", i, 10)[n];
    a.gains[k] = tables.numbers("actuator_gainprm", i, 10)[n];
    a.biases[k] = tables.numbers("actuator_biasprm", i, 10)[n];
  }
  a.act_limited = tables.flag("actuator_actlimited", i);
  a.act_lower = tables.numbers("actuator_actrange", i, 2)[0],
  a.act_upper = tables.numbers("actuator_actrange", i, 2)[1];
  a.act_early = tables.flag("actuator_actearly", i);
  a.force_limited = tables.flag("actuator_forcelimited", i);
  a.force_lower = tables.numbers("actuator_forcerange", i, 2)[0];
  a.force_upper = tables.numbers("actuator_forcerange", i, 2)[1];
  a.length_lower = tables.numbers("actuator_lengthrange", a.output, 2)[0];
  a.length_upper = tables.numbers("actuator_lengthrange", a.output, 2)[1];
  a.acceleration = tables.real("actuator_acc0", a.output);
  a.disabled = is_disabled(tables, i);
  set_transmission(a, tables, places, i);
  place_activations(a, tables, i);
  a.periodic = is_periodic(tables, a, i, static_cast<int>(tables.row("actuator_trnid", i, 2)[0]));
  return a;
}

}  // namespace

template <class T> void add_actuators(World<T>& world, const WorldTables<T>& tables, const Places<T>& places) {
  const int flags = tables.integer("opt.disableflags");
  world.nu = tables.integer("nu"), world.na = tables.integer("na"), world.n_outputs = tables.integer("nout");
  for (int k = 0; k < world.nu; k++) {
    const auto range = tables.numbers("actuator_ctrlrange", k, 2);
    const bool limited = tables.flag("actuator_ctrllimited", k) && (flags & no_clamped_controls) == 0;
    world.control.push_back({limited, range[0], range[1]});
  }
  // with actuation disabled, ctrl and act keep their numbers but have no effect
  for (int i = 0; i < tables.integer("nactuator") && (flags & no_actuation) == 0; i++) {
    refuse(tables, i);
    world.actuator.push_back(actuator_of(tables, places, i));
  }
  if (tables.has("nhistory")) world.n_history = tables.integer("nhistory");
  for (int i = 0; i < tables.integer("nactuator") && world.n_history > 0; i++) {
    const auto samples = tables.row("actuator_history", i, 2);
    if (samples[0] <= 0) continue;
    History<T> h;
    h.index = tables.integer("actuator_ctrladr", i), h.first = tables.integer("actuator_historyadr", i);
    h.samples = static_cast<int>(samples[0]), h.order = static_cast<int>(samples[1]);
    h.delay = tables.real("actuator_delay", i), h.is_delayed = tables.nominal("actuator_delay", i) > 0;
    world.history.push_back(h);
  }
  const auto nv = static_cast<std::size_t>(tables.integer("nv"));
  world.compensated.assign(nv, 0), world.effort_limited.assign(nv, 0);
  world.effort_lower.assign(nv, T(0.0)), world.effort_upper.assign(nv, T(0.0));
  for (int j = 0; j < tables.integer("njnt"); j++) {
    const auto v = static_cast<std::size_t>(tables.integer("jnt_dofadr", j));
    const auto n = static_cast<std::size_t>(n_dofs[tables.integer("jnt_type", j)]);
    for (std::size_t k = v; k < v + n; k++) world.compensated[k] = tables.flag("jnt_actgravcomp", j);
    world.effort_limited[v] = tables.flag("jnt_actfrclimited", j);
    world.effort_lower[v] = tables.numbers("jnt_actfrcrange", j, 2)[0];
    world.effort_upper[v] = tables.numbers("jnt_actfrcrange", j, 2)[1];
  }
}

// Finds the pairs of geoms through which bodies with adhesion touch others.
template <class T> void add_adhesion(World<T>& world, const WorldTables<T>& tables) {
  const GeomContacts<T>& c = world.contacts;
  for (std::size_t i = 0; i < world.actuator.size(); i++) {
    Actuator<T>& a = world.actuator[i];
    if (a.transmission != Transmission::Adhesion) continue;
    const int actuator = static_cast<int>(i), body = static_cast<int>(tables.row("actuator_trnid", actuator, 2)[0]);
    for (std::size_t p = 0; p < c.pair.size(); p++) {
      const auto& geom = c.pair[p].geom;
      if (tables.integer("geom_bodyid", geom[0]) != body && tables.integer("geom_bodyid", geom[1]) != body) continue;
      a.pair.push_back(static_cast<int>(p));
    }
  }
}

template void add_adhesion(World<double>&, const WorldTables<double>&);
template void add_adhesion(World<Expr>&, const WorldTables<Expr>&);
template void add_actuators(World<double>&, const WorldTables<double>&, const Places<double>&);
template void add_actuators(World<Expr>&, const WorldTables<Expr>&, const Places<Expr>&);

}  // namespace featherstorm
