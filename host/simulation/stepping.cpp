#include "host/simulation/stepping.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "host/assemble/assemble.h"
#include "host/compile/traced_kernel.h"

namespace featherstorm {
namespace {

// An element that a robot can have besides its tree, and the operation that steps it.
struct Carried {
  const char *what, *op;
  int count;
};
std::vector<Carried> carried(const Model<double>& m) {
  return {{"contacts", "contact_step", m.contacts.nc},
          {"loops", "loop_step", m.loops.nl},
          {"couplings", "coupled_step", m.coupling.nu},
          {"world", "world", m.world.is_given() ? 1 : 0}};
}

constexpr double must_be_given = std::numeric_limits<double>::quiet_NaN();

std::string step_op(const Robot& robot, const std::string& caller, const std::vector<std::string>& ignore) {
  const std::vector<Carried> all = carried(robot.model);
  const auto named = [&](const std::string& name) {
    return std::any_of(all.begin(), all.end(), [&](const Carried& c) { return c.what == name; });
  };
  for (const std::string& name : ignore)
    if (!named(name))
      throw Error(caller + ": ignore has '" + name + "', expected some of contacts, loops, couplings, world");
  std::vector<Carried> found;
  for (const Carried& c : all)
    if (c.count > 0 && std::find(ignore.begin(), ignore.end(), c.what) == ignore.end()) found.push_back(c);
  if (found.size() > 1)
    throw Error(caller + ": " + robot.name + " carries " + found[0].what + " and " + found[1].what +
                ", which no operation steps together; ignore all of these but one");
  return found.empty() ? "step" : found[0].op;
}

// In a sequence, "u" means controls.
std::string array_of(std::string_view name) {
  return name == "u" ? "independent" : name == "u_next" ? "independent_next" : std::string(name);
}
std::vector<std::string> inputs_of(const OpRow& row) {
  std::vector<std::string> names;
  for (const auto* all : {&row.in, &row.uniforms})
    for (const OpRow::Argument& a : *all) names.push_back(array_of(a.name));
  return names;
}

// Pick the independent velocities from all velocities.
Program pick_independent(const Model<double>& m) {
  Program p;
  const std::vector<Expr> v = p.input("v", m.nv);
  std::vector<Expr> u;
  for (int c : m.coupling.driver) u.push_back(v[c]);
  Tracing scope(p.graph);
  p.output("independent", u);
  return p;
}

}  // namespace

std::vector<std::pair<std::string, double>> step_defaults(const std::string& op, double pass_time) {
  // no drive, no joint stops, friction smooth below 1 cm/s or 0.01 rad/s
  std::vector<std::pair<std::string, double>> all = {
      {"kp", 0}, {"kd", 0}, {"limit_stiffness", 0}, {"limit_damping", 0}, {"friction_velocity", 0.01}};
  const auto add = [&](std::initializer_list<std::pair<std::string, double>> more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  if (op == "contact_step")
    // a substep pushes out 20 % of the penetration beyond 1 mm, at most at 1 m/s; no rebound below 0.1 m/s; contacts
    // are rigid
    add({{"erp", 0.2}, {"slop", 1e-3}, {"max_push", 1}, {"rebound", 0.1}, {"compliance", 0}});
  else if (op == "soft_contact_step")
    add({{"K_n", must_be_given},
         {"D_n", must_be_given},
         {"K_t", must_be_given},
         {"D_t", must_be_given},
         {"rolling", 0}});
  else if (op == "loop_step")
    // A substep closes a tenth of a loop's gap. A gap of 1e-5 must not look like one more constraint, so the tolerance
    // is that of single precision.
    add({{"rate", 0.1 / pass_time}, {"tolerance", 1e-5}});
  else if (op != "step" && op != "coupled_step") throw Error(op + " is not an operation that steps");
  return all;
}

namespace {

Stepping stepping_of_world(const Evaluator& evaluator, const std::string& caller, const StepOptions& o) {
  const double h = evaluator.robot().model.world.timestep;
  const double dt = o.dt == 0 ? h * o.substeps : o.dt;
  const long count = std::lround(dt / h);
  if (count < 1 || std::abs(dt - static_cast<double>(count) * h) > 1e-6 * dt ||
      (o.substeps != 1 && o.substeps != count))
    throw Error(caller + ": dt is " + std::to_string(o.dt) + " in " + std::to_string(o.substeps) +
                " substeps, expected a multiple of " + std::to_string(h) + ", the timestep of the world's file");
  if (!o.numbers.empty())
    throw Error(caller + ": " + o.numbers.begin()->first +
                " is given, but the step of a model file's world takes its numbers from the file");
  for (const std::string& name : evaluator.parameters())
    if (name == "opt_timestep")
      throw Error(caller + ": opt_timestep is a parameter of the model, but all instances share their time");
  Stepping s{"world", static_cast<int>(count), h, {}, false, {}};
  s.solver.rigid = o.rigid;
  return s;
}

}  // namespace

SolverOptions solver_options(const Model<double>& model, Precision precision,
                             const std::optional<RigidLaw<double>>& rigid) {
  return {std::max(model.world.iterations, 1), precision == Precision::float32 ? 1e-6 : 1e-10, false, rigid};
}

Stepping stepping_of(const Evaluator& evaluator, const std::string& caller, const StepOptions& o) {
  const std::string op = step_op(evaluator.robot(), caller, o.ignore);
  if ((!(o.dt > 0) && !(op == "world" && o.dt == 0)) || !std::isfinite(o.dt))
    throw Error(caller + ": dt is " + std::to_string(o.dt) + ", expected a positive number of seconds");
  if (o.substeps < 1) throw Error(caller + ": substeps is " + std::to_string(o.substeps) + ", expected 1 or more");
  if (op == "world") return stepping_of_world(evaluator, caller, o);
  if (o.rigid) throw Error(caller + ": the rigid law is for the world of a model file, and " + op + " has none");
  Stepping s{op, o.substeps, o.dt / o.substeps, {}, o.numbers.contains("kp"), {}};
  const OpRow& row = evaluator.op(s.op);
  if (!row.refused.empty()) throw Error(s.op + ": " + std::string(row.refused));
  const auto list = step_defaults(s.op, s.pass_time);
  const std::map<std::string, double> defaults(list.begin(), list.end());
  for (const auto& [name, values] : o.numbers)
    if (!defaults.contains(name)) {
      std::string known;
      for (const auto& [other, value] : list) known += (known.empty() ? "" : ", ") + other;
      throw Error(s.op + ": unknown number " + name + "; there are " + known);
    }
  for (const OpRow::Argument& a : row.uniforms) {
    const std::string name(a.name);
    const auto given = o.numbers.find(name);
    std::vector<double> values =
        given != o.numbers.end() ? given->second : std::vector<double>{name == "dt" ? s.pass_time : defaults.at(name)};
    if (values.size() == 1) values.resize(a.components, values[0]);
    if (static_cast<int>(values.size()) != a.components)
      throw Error(caller + ": " + name + " has " + std::to_string(values.size()) + " numbers, expected 1 or " +
                  std::to_string(a.components));
    for (double x : values)
      if (!std::isfinite(x))
        throw Error(caller + ": " + name + " is " + std::to_string(x) + ", expected finite numbers");
    s.uniforms.push_back({name, std::move(values)});
  }
  return s;
}

void declare_state(Sequence& s, const Evaluator& evaluator, const Stepping& stepping) {
  const OpRow& row = evaluator.op(stepping.op);
  std::vector<std::string> declared = {"tau", "target"};
  const auto declare = [&](const OpRow::Argument& a) {
    const std::string name = array_of(a.name);
    if (std::find(declared.begin(), declared.end(), name) != declared.end()) return;
    declared.push_back(name);
    s.array(name, a.components);
  };
  for (const auto* all : {&row.in, &row.out})
    for (const OpRow::Argument& a : *all) declare(a);
  if (stepping.op == "coupled_step") declare({"v", evaluator.robot().model.nv});
  for (const OpRow::Argument& a : row.uniforms) s.uniform(std::string(a.name), a.components);
}

void append_start(Sequence& s, Evaluator& e, const Stepping& stepping, Precision precision) {
  if (stepping.op != "coupled_step") return;
  s.stage(
      stage_of(e, "coupled_position", precision, inputs_of(e.op("coupled_position")), {"q_next"}, {{"q", "q_next"}}));
  Program pick = pick_independent(e.robot().model);
  Stage stage{[pick, precision, &e] {
                return traced_kernel(pick, precision, e.isa(), e.assembles(),
                                     [&e](const std::string& what) { e.notify(what); });
              },
              {"v"},
              {"independent"}};
  stage.program = [pick] { return pick; };
  s.stage(stage);
  s.stage(stage_of(e, "coupled_velocity", precision, inputs_of(e.op("coupled_velocity")), {"v"}));
}

void append_step(Sequence& s, Evaluator& e, const Stepping& stepping, Precision precision, const std::string& tau,
                 const std::string& target) {
  const OpRow& row = e.op(stepping.op);
  std::vector<std::string> in = inputs_of(row), out;
  for (const OpRow::Argument& a : row.out) out.push_back(array_of(a.name));
  // the outputs are the first inputs of the next substep
  std::vector<std::pair<std::string, std::string>> swaps;
  for (std::size_t k = 0; k < out.size(); k++) swaps.push_back({in[k], out[k]});
  for (std::string& name : in)
    if (name == "tau") name = tau;
    else if (name == "target") name = target;
  s.stage(stage_of(e, stepping.op, precision, in, out, swaps, stepping.substeps));
  if (stepping.op == "coupled_step")
    s.stage(stage_of(e, "coupled_velocity", precision, inputs_of(e.op("coupled_velocity")), {"v"}));
}

}  // namespace featherstorm
