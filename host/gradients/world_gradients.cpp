#include "host/gradients/world_gradients.h"

#include <map>

#include "core/mujoco/constrained.h"
#include "core/program/differentiate.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

using Numbers = std::vector<Expr>;
using Arrays = std::map<std::string, Numbers>;

const std::vector<std::string> state_arrays = {"q", "v", "act"};
const std::vector<std::string> drive_arrays = {"ctrl", "qfrc_applied", "xfrc_applied"};

// How many numbers the arrays of a step have.
std::map<std::string, int> sizes_of(const Model<double>& m, const Parameters& parameters) {
  const World<double>& w = m.world;
  std::map<std::string, int> n = {{"q", m.nq},
                                  {"v", m.nv},
                                  {"act", w.na},
                                  {"ctrl", w.nu},
                                  {"qfrc_applied", m.nv},
                                  {"xfrc_applied", 6 * w.n_links()},
                                  {"qacc", m.nv}};
  for (const Parameters::Array& a : parameters.arrays()) n[std::string(a.name)] = a.components;
  return n;
}

// Arrays as a program's inputs or outputs; zeros for those that are not given.
TracedArrays in_order(const std::vector<Program::Array>& arrays, const Arrays& values, const std::string& suffix = "") {
  TracedArrays all;
  for (const Program::Array& a : arrays) {
    const auto at = values.find(a.name + suffix);
    all.push_back(at == values.end() ? Numbers(static_cast<std::size_t>(a.size), Expr(0.0)) : at->second);
  }
  return all;
}
Arrays by_name(const std::vector<Program::Array>& arrays, const TracedArrays& values, const std::string& suffix = "") {
  Arrays all;
  for (std::size_t k = 0; k < arrays.size(); k++) all[arrays[k].name + suffix] = values[k];
  return all;
}
Numbers sum(const Numbers& x, const Numbers& y) {
  if (x.empty()) return y;
  if (y.empty()) return x;
  Numbers s;
  for (std::size_t k = 0; k < x.size(); k++) s.push_back(x[k] + y[k]);
  return s;
}
Numbers negative(Numbers x) {
  for (Expr& e : x) e = -e;
  return x;
}

std::vector<Numbers> values_of(const Parameters& parameters, const Arrays& x) {
  std::vector<Numbers> all;
  for (const Parameters::Array& a : parameters.arrays()) all.push_back(x.at(std::string(a.name)));
  return all;
}
std::vector<Numbers> inputs_of(Program& p, const Parameters& parameters) {
  std::vector<Numbers> all;
  for (const Parameters::Array& a : parameters.arrays()) all.push_back(p.input(std::string(a.name), a.components));
  return all;
}

// y += D x of slopes packed as of tree_lu.h
void add_slopes_times(const Model<Expr>& m, const Numbers& lower, const Expr* upper, const Numbers& x, Numbers& y) {
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j]) {
      y[i] += lower[m.at(i, j)] * x[j];
      if (j != i) y[j] += upper[m.at(i, j)] * x[i];
    }
}

// g of both equations at accelerations that are held, and what the way on takes besides.
Program trace_residual(const Model<double>& model, const WorldPrograms& step, const Parameters& parameters, int most) {
  Program p;
  p.graph.limit(most);
  const std::map<std::string, int> size = sizes_of(model, parameters);
  const auto input = [&](const char* name) { return p.input(name, size.at(name)); };
  const Numbers q = input("q"), v = input("v"), act = input("act"), ctrl = input("ctrl"), qfrc = input("qfrc_applied"),
                xfrc = input("xfrc_applied"), a = input("qacc"), a_h = p.input("qacc_next", model.nv);
  const std::vector<Numbers> values = inputs_of(p, parameters);
  Tracing scope(p.graph);
  const Model<Expr> m = parameters.apply(model, values);
  const World<Expr>& w = m.world;
  Smooth<Expr> s(m, w);
  Equations<Expr> e(m, w);
  const Applied applied{ctrl.data(), qfrc.data(), xfrc.data()};
  Numbers tau(v.size()), g(v.size());
  smooth_forces(m, w, q.data(), v.data(), act.data(), applied, s, tau.data());
  newton_euler(m, q.data(), v.data(), a.data(), Zeros<Expr>{}, g.data());
  const Numbers id = g;
  for (std::size_t k = 0; k < g.size(); k++) g[k] -= tau[k];
  constraint_rows(m, w, s.x, s.X, q.data(), v.data(), s.ten_length, s.ten_J, e.rows());
  world_motion(m, s.x, s.X, v.data(), e.twist.data(), e.axis.data());
  Numbers of_contacts(static_cast<std::size_t>(step.pairs.entries(w.contacts)));
  all_contact_rows(m, w, step.pairs, static_cast<const Expr*>(nullptr), s, e, of_contacts.data());
  const Numbers weight = parameters.equality_weights(values);
  for (std::size_t i = 0, row = 0; i < w.constraints.equality.size() && !weight.empty(); i++)
    for (int k = rows_of(w.constraints.equality[i]); k > 0; k--, row++) e.D[row] = e.D[row] * weight[i];
  Numbers jacobian;
  for (int i = 0; i < rows_of(w.constraints); i++) {
    const PackedBlock& b = step.rows.block[static_cast<std::size_t>(i)];
    for (int k = 0; k < b.columns; k++) jacobian.push_back(e.J[i * m.nv + step.rows.column[b.column + k]]);
  }
  jacobian.insert(jacobian.end(), of_contacts.begin(), of_contacts.end());
  // - J^T f(J a - aref)
  const std::size_t n = static_cast<std::size_t>(step.rows.rows());
  Numbers r(n), force(n), W(static_cast<std::size_t>(step.rows.curvatures())), of_rows(v.size());
  const NewtonProblem problem{step.tree,       step.rows,           static_cast<const Expr*>(nullptr), tau.data(),
                              jacobian.data(), e.D.data(), e.aref.data(),                     e.friction.data()};
  rows_times(step.rows, jacobian.data(), a.data(), r.data());
  for (std::size_t i = 0; i < n; i++) r[i] -= e.aref[static_cast<int>(i)];
  block_states(problem, r.data(), force.data(), W.data());
  add_rows_transposed(step.rows, jacobian.data(), force.data(), of_rows.data());
  for (std::size_t k = 0; k < g.size(); k++) g[k] -= of_rows[k];
  p.output("g", g);
  Numbers g_h(step.damps ? v.size() : 0);
  if (step.damps) {
    // M (a - a_h) by inverse dynamics at both, which have the same bias
    newton_euler(m, q.data(), v.data(), a_h.data(), Zeros<Expr>{}, g_h.data());
    Numbers slopes(static_cast<std::size_t>(2 * m.nh)), moved(v.size());
    velocity_slopes(m, w, q.data(), v.data(), act.data(), ctrl.data(), s, slopes.data(), slopes.data() + m.nh);
    add_slopes_times(m, slopes, slopes.data() + (has_symmetric_slopes(m, w) ? 0 : m.nh), a_h, moved);
    for (std::size_t k = 0; k < g_h.size(); k++) g_h[k] = id[k] - g_h[k] - Expr(w.timestep) * moved[k];
  }
  p.output("g_h", g_h);
  const auto output = [&](const char* name, const auto& from, int count) {
    Numbers all;
    for (int k = 0; k < count; k++) all.push_back(from[k]);
    p.output(name, all);
  };
  output("act_dot", s.act_dot, w.na), output("actuator_length", s.actuator_length, w.n_outputs);
  output("actuator_velocity", s.actuator_velocity, w.n_outputs);
  return p;
}

Program trace_integration(const Model<double>& model, const Parameters& parameters) {
  Program p;
  const World<double>& shape = model.world;
  const Numbers q = p.input("q", model.nq), v = p.input("v", model.nv), act = p.input("act", shape.na),
                rate = p.input("act_dot", shape.na), length = p.input("actuator_length", shape.n_outputs),
                velocity = p.input("actuator_velocity", shape.n_outputs), a = p.input("qacc_next", model.nv);
  const std::vector<Numbers> values = inputs_of(p, parameters);
  Tracing scope(p.graph);
  const Model<Expr> m = parameters.apply(model, values);
  const World<Expr>& w = m.world;
  const Expr h(w.timestep);
  Numbers q_next(q.size()), v_next(v.size()), act_next(act.size());
  next_activations(w, length.data(), velocity.data(), act.data(), rate.data(), act_next.data());
  for (std::size_t k = 0; k < v.size(); k++) v_next[k] = v[k] + h * a[k];
  integrate(m, q.data(), v_next.data(), h, q_next.data());
  p.output("q_next", q_next), p.output("v_next", v_next), p.output("act_next", act_next);
  return p;
}

// Newton's last matrix at the solution, and that of the integrator: their solutions.
class Solved {
 public:
  // x: the arrays of the equations where they are solved
  Solved(const Model<double>& model, const Model<Expr>& m, const WorldPrograms& step, const Arrays& x)
      : model_(model), m_(m), step_(step), e_(by_name(step.equations.outputs,
                                                     replay(step.equations, in_order(step.equations.inputs, x)))) {
    const Numbers &mass = e_.at("mass"), &J = e_.at("jacobian"), &a = x.at("qacc");
    const std::vector<int> entry = entries_on(model, step.tree);
    Numbers on_tree(static_cast<std::size_t>(step.tree.nh), Expr(0.0));
    for (std::size_t k = 0; k < entry.size(); k++) on_tree[static_cast<std::size_t>(entry[k])] = mass[k];
    const std::size_t n = static_cast<std::size_t>(step.rows.rows());
    Numbers r(n), force(n), W(static_cast<std::size_t>(step.rows.curvatures()));
    H_.resize(on_tree.size());
    const NewtonProblem problem{step.tree,
                                step.rows,
                                on_tree.data(),
                                e_.at("b").data(),
                                J.data(),
                                e_.at("row_D").data(),
                                e_.at("row_aref").data(),
                                e_.at("row_friction").data()};
    rows_times(step.rows, J.data(), a.data(), r.data());
    for (std::size_t i = 0; i < n; i++) r[i] -= e_.at("row_aref")[i];
    block_states(problem, r.data(), force.data(), W.data());
    curvature(problem, W.data(), H_.data());
    ltdl(step.tree, H_.data());
  }
  // H^-1 x
  Numbers by_curvature(Numbers x) const {
    solve<Factor::LTDL>(step_.tree, H_.data(), x.data());
    return x;
  }
  // M x
  Numbers times_mass(const Numbers& x) const {
    Numbers y(x.size());
    mul_h(model_, e_.at("mass").data(), x.data(), y.data());
    return y;
  }
  // (M + h D)^-1 x, or by its transpose
  Numbers by_damped(Numbers x, bool transposed) const {
    const Expr *lower = e_.at("damping").data(), *upper = lower + (step_.slopes - model_.nh);
    const Expr h(m_.world.timestep);
    if (!transposed || lower == upper) {
      solve_with_slopes(m_, m_.world, e_.at("mass").data(), lower, upper, h, x.data());
      return x;
    }
    Numbers other(upper, upper + model_.nh);
    for (int k = 0; k < model_.nv; k++) other[static_cast<std::size_t>(m_.at(k, k))] = lower[m_.at(k, k)];
    solve_with_slopes(m_, m_.world, e_.at("mass").data(), other.data(), lower, h, x.data());
    return x;
  }
  const Numbers& operator[](const char* name) const { return e_.at(name); }

 private:
  const Model<double>& model_;
  const Model<Expr>& m_;
  const WorldPrograms& step_;
  Arrays e_;
  Numbers H_;
};

// One step, or a stage of one, as a map from its inputs to its outputs: the equations where they are solved, the way on.
//
// x     arrays of the equations and of the way on, by their names; of stages `at` those of the equations
// way   integration, or a stage of Runge-Kutta's method
class SolvedStep {
 public:
  SolvedStep(const Model<double>& model, const Model<Expr>& m, const WorldPrograms& step, const Program& residual,
             const Program& way, const Arrays& at, const Arrays& x)
      : step_(step), residual_(residual), way_(way), solved_(model, m, step, at), at_(at), x_(x) {
    at_["qacc_next"] = step.damps ? solved_.by_damped(solved_.times_mass(at.at("qacc")), false) : at.at("qacc");
    x_["qacc"] = at.at("qacc"), x_["qacc_next"] = at_["qacc_next"];
    for (const char* name : {"act_dot", "actuator_length", "actuator_velocity"}) x_[name] = solved_[name];
  }

  // bars: of the outputs of the way on; qacc_bar: of the solution besides. Those of the way's inputs, and of the residual's.
  std::pair<Arrays, Arrays> pull(const Arrays& bars, const Numbers& qacc_bar) const {
    Arrays of_way = by_name(way_.inputs, pull_back(way_, in_order(way_.inputs, x_),
                                                   in_order(way_.outputs, bars, cotangent_suffix)));
    Numbers a_bar = sum(qacc_bar, of_way.contains("qacc") ? of_way.at("qacc") : Numbers{});
    Arrays of_g;
    if (of_way.contains("qacc_next")) {
      Numbers mu = of_way.at("qacc_next");
      if (step_.damps) mu = of_g["g_h"] = solved_.by_damped(mu, true), mu = solved_.times_mass(mu);
      a_bar = sum(a_bar, mu);
    }
    of_g["g"] = negative(solved_.by_curvature(a_bar));
    for (const char* name : {"act_dot", "actuator_length", "actuator_velocity"})
      if (of_way.contains(name)) of_g[name] = of_way.at(name);
    return {of_way, by_name(residual_.inputs, pull_back(residual_, in_order(residual_.inputs, at_),
                                                        in_order(residual_.outputs, of_g)))};
  }

  // Tangents of the outputs of the way on, and of the solution, from those of the residual's inputs and of the way's.
  std::pair<Arrays, Numbers> push(const Arrays& at_tan, Arrays x_tan) const {
    const auto given = [](const Program& p, const Arrays& tan) {
      TracedArrays all;
      for (const Program::Array& a : p.inputs) {
        const auto found = tan.find(a.name);
        all.push_back(found == tan.end() ? Numbers{} : found->second);
      }
      return all;
    };
    const Arrays g = by_name(residual_.outputs,
                             push_forward(residual_, in_order(residual_.inputs, at_), given(residual_, at_tan)));
    const Numbers a = solved_.by_curvature(negative(g.at("g")));
    x_tan["qacc"] = x_tan["qacc_next"] = a;
    if (step_.damps) x_tan["qacc_next"] = solved_.by_damped(sum(solved_.times_mass(a), g.at("g_h")), false);
    for (const char* name : {"act_dot", "actuator_length", "actuator_velocity"}) x_tan[name] = g.at(name);
    return {by_name(way_.outputs, push_forward(way_, in_order(way_.inputs, x_), given(way_, x_tan))), a};
  }

 private:
  const WorldPrograms& step_;
  const Program &residual_, &way_;
  Solved solved_;
  Arrays at_, x_;
};

// The names of all that derivatives are taken by.
std::vector<std::string> varied(const Parameters& parameters) {
  std::vector<std::string> all = state_arrays;
  all.insert(all.end(), drive_arrays.begin(), drive_arrays.end());
  for (const Parameters::Array& a : parameters.arrays()) all.emplace_back(a.name);
  return all;
}

// Stage i of Runge-Kutta's method, or the whole step of another integrator.
Program trace_step(const Model<double>& model, const WorldPrograms& step, const WorldGradients& texts,
                   Derivative derivative, const Parameters& parameters, int i, int most) {
  const bool rk = !step.stages.empty(), first = !rk || i == 0, last = !rk || i == 3;
  const bool reverse = derivative == Derivative::vjp;
  const Program& way = rk ? step.stages[static_cast<std::size_t>(i)] : texts.integration;
  Program p;
  p.graph.limit(most);
  std::map<std::string, int> size = sizes_of(model, parameters);
  for (const auto* arrays : {&way.inputs, &way.outputs})
    for (const Program::Array& a : *arrays) size.try_emplace(a.name, a.size);
  Arrays x, at;  // of the way on, and where the equations are solved
  for (const std::string& name : varied(parameters)) x[name] = p.input(name, size.at(name));
  x["qacc"] = p.input("qacc", model.nv);
  at = x;
  if (!first) {
    for (const std::string& name : state_arrays) at[name] = x[name + "_i"] = p.input(name + "_i", size.at(name));
    x["u_i"] = p.input("u_i", model.nv);
    for (const char* name : {"sum_u", "sum_a", "sum_rate"}) x[name] = p.input(name, size.at(name));
  } else if (rk) {
    x["v_i"] = x["v"];
  }
  // what is handed from stage to stage besides, as inputs of the way on
  const std::vector<std::string> between = {"q_i", "v_i", "act_i", "u_i", "sum_u", "sum_a", "sum_rate"};
  const std::string suffix = reverse ? cotangent_suffix : tangent_suffix;
  Arrays given, summed;
  const std::vector<Program::Array>& out = way.outputs;
  if (reverse) {
    for (const Program::Array& a : out) given[a.name + suffix] = p.input(a.name + suffix, a.size);
    if (last) given["qacc_next_bar"] = p.input("qacc_next_bar", model.nv);
    for (const std::string& name : varied(parameters))
      if (!last) summed[name] = p.input(name + suffix, size.at(name));
  } else {
    for (const std::string& name : varied(parameters)) given[name] = p.input(name + suffix, size.at(name));
    for (const std::string& name : between)
      if (!first) given[name] = p.input(name + suffix, static_cast<int>(x.at(name).size()));
  }
  Tracing scope(p.graph);
  const Model<Expr> m = parameters.apply(model, values_of(parameters, x));
  const SolvedStep solved(model, m, step, texts.residual, way, at, x);
  if (!reverse) {
    Arrays at_tan = given, x_tan = given;
    if (!first)
      for (const char* name : {"q", "v", "act"}) at_tan[name] = given.at(std::string(name) + "_i");
    else if (rk) x_tan["v_i"] = given.at("v");
    const auto [tan, a_tan] = solved.push(at_tan, x_tan);
    for (const Program::Array& a : out) p.output(a.name + suffix, tan.at(a.name));
    if (last) p.output("qacc_next_tan", a_tan);
    return p;
  }
  auto [of_way, of_g] = solved.pull(given, last ? given.at("qacc_next_bar") : Numbers{});
  const auto bar = [](const Arrays& arrays, const std::string& name) {
    const auto found = arrays.find(name);
    return found == arrays.end() ? Numbers{} : found->second;
  };
  if (rk && first) of_way["v"] = sum(of_way.at("v"), bar(of_way, "v_i"));
  for (const std::string& name : varied(parameters)) {
    // of later stages the equations are not at the step's own state
    const bool is_state = name == "q" || name == "v" || name == "act";
    Numbers total = sum(bar(summed, name), bar(of_way, name));
    if (first || !is_state) total = sum(total, bar(of_g, name));
    total.resize(static_cast<std::size_t>(size.at(name)), Expr(0.0));
    p.output(name + suffix + (last ? "" : "_next"), total);
  }
  if (first) return p;
  for (const std::string& name : between) {
    Numbers total = bar(of_way, name);
    if (name == "q_i" || name == "v_i" || name == "act_i") total = sum(total, bar(of_g, name.substr(0, name.size() - 2)));
    p.output(name + suffix, total);
  }
  return p;
}

}  // namespace

WorldGradients world_gradients(const Model<double>& model, const WorldPrograms& step, Derivative derivative, int most,
                               const Parameters& parameters) {
  const World<double>& w = model.world;
  if (w.is_discrete())
    throw Error("the step of the integrator discrete has no derivatives, expected Euler, implicitfast, implicit or RK4");
  if (w.constraints.exact_inertia)
    throw Error("a step whose rows are weighed where the robot is (diagexact) has no derivatives, expected a file without");
  WorldGradients out;
  out.residual = trace_residual(model, step, parameters, most);
  if (step.stages.empty()) out.integration = trace_integration(model, parameters);
  const int stages = step.stages.empty() ? 1 : static_cast<int>(step.stages.size());
  for (int i = 0; i < stages; i++)
    out.steps.push_back(trace_step(model, step, out, derivative, parameters, i, most));
  return out;
}

}  // namespace featherstorm
