#include "host/gradients/world_gradients.h"

#include <algorithm>
#include <map>

#include "core/mujoco/constrained.h"
#include "core/program/differentiate.h"
#include "host/gradients/world_residual.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

using Numbers = std::vector<Expr>;
using Arrays = std::map<std::string, Numbers>;

const std::vector<std::string> state_arrays = {"q", "v", "act"};
const std::vector<std::string> drive_arrays = {"ctrl", "qfrc_applied", "xfrc_applied"};

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
// M, the slopes that the integrator takes along, and Newton's last matrix at a solution.
class Matrices {
 public:
  // e: what the equations hand on
  Matrices(const Model<double>& model, const Model<Expr>& m, const WorldPrograms& step, Arrays e)
      : model_(model), m_(m), step_(step), e_(std::move(e)) {}
  // H of all rows at a, factorised
  void factorise(const Numbers& a) {
    const auto of = [this](const char* name) -> const Numbers& { return e_.at(name); };
    const Numbers &mass = of("mass"), &J = of("jacobian"), &aref = of("row_aref");
    const std::vector<int> entry = entries_on(model_, step_.tree);
    Numbers on_tree(static_cast<std::size_t>(step_.tree.nh), Expr(0.0));
    for (std::size_t k = 0; k < entry.size(); k++) on_tree[static_cast<std::size_t>(entry[k])] = mass[k];
    const std::size_t n = static_cast<std::size_t>(step_.rows.rows());
    Numbers r(n), force(n), W(static_cast<std::size_t>(step_.rows.curvatures()));
    H_.resize(on_tree.size());
    const NewtonProblem problem{step_.tree, step_.rows,         on_tree.data(), of("b").data(),
                                J.data(),   of("row_D").data(), aref.data(),    of("row_friction").data()};
    rows_times(step_.rows, J.data(), a.data(), r.data());
    for (std::size_t i = 0; i < n; i++) r[i] -= aref[i];
    block_states(problem, r.data(), force.data(), W.data());
    curvature(problem, W.data(), H_.data());
    ltdl(step_.tree, H_.data());
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

// What a step, or a stage of one, is traced from.
struct Texts {
  const Model<double>& model;
  const WorldPrograms& step;
  const Program &residual, &way;  // way: integration, or a stage of Runge-Kutta's method
  const Parameters& parameters;
  int most;
  bool first, last;  // of the stages; both without
  bool is_stage;
  bool damps;  // whether the integrator takes slopes of forces along
};

const std::vector<std::string> lengths = {"act_dot", "actuator_length", "actuator_velocity"};
// What is handed from stage to stage, as inputs of the way on.
const std::vector<std::string> between = {"q_i", "v_i", "act_i", "u_i", "sum_u", "sum_a", "sum_rate"};

// The names of all that derivatives are taken by.
std::vector<std::string> varied(const Parameters& parameters) {
  std::vector<std::string> all = state_arrays;
  all.insert(all.end(), drive_arrays.begin(), drive_arrays.end());
  for (const Parameters::Array& a : parameters.arrays()) all.emplace_back(a.name);
  return all;
}
bool is_state(const std::string& name) { return std::ranges::find(state_arrays, name) != state_arrays.end(); }
Numbers found(const Arrays& arrays, const std::string& name) {
  const auto at = arrays.find(name);
  return at == arrays.end() ? Numbers{} : at->second;
}

std::map<std::string, int> sizes_of(const Texts& t) {
  std::map<std::string, int> size = sizes_of(t.model, t.parameters);
  for (const Program* p : {&t.way, &t.step.equations})
    for (const auto* arrays : {&p->inputs, &p->outputs})
      for (const Program::Array& a : *arrays) size.try_emplace(a.name, a.size);
  return size;
}

// Inputs of the equations and of the way on, by their names.
struct Places {
  Arrays way, at;  // at: where the equations are solved
  Places(const Texts& t, Program& p, bool needs_way) {
    const std::map<std::string, int> size = sizes_of(t);
    for (const std::string& name : varied(t.parameters))
      if (needs_way || t.first || !is_state(name)) way[name] = p.input(name, size.at(name));
    way["qacc"] = p.input("qacc", t.model.nv);
    at = way;
    for (const std::string& name : state_arrays)
      if (!t.first) at[name] = way[name + "_i"] = p.input(name + "_i", size.at(name));
    if (!t.first && needs_way)
      for (const char* name : {"u_i", "sum_u", "sum_a", "sum_rate"}) way[name] = p.input(name, size.at(name));
    if (t.first && t.is_stage) way["v_i"] = way.at("v");
  }
};

// The acceleration that the way on takes.
void set_way(const Texts& t, const Matrices& matrices, Places& x) {
  x.at["qacc_next"] = t.damps ? matrices.by_damped(matrices.times_mass(x.at.at("qacc")), false) : x.at.at("qacc");
  x.way["qacc_next"] = x.at["qacc_next"];
  for (const std::string& name : lengths) x.way[name] = matrices[name.c_str()];
}

// The matrices at the solution, where the equations have the rows of all candidates, and the way on from it.
Matrices solved(const Texts& t, const Model<Expr>& m, Places& x) {
  const Program& equations = t.step.equations;
  Matrices matrices(t.model, m, t.step,
                    by_name(equations.outputs, replay(equations, in_order(equations.inputs, x.at))));
  matrices.factorise(x.at.at("qacc"));
  set_way(t, matrices, x);
  return matrices;
}

// Cotangents of the outputs of the way on, to those of its inputs.
struct PulledWay {
  Arrays of_inputs;
  Numbers a_bar, mu;
  // given: with "_bar"
  PulledWay(const Texts& t, const Matrices& matrices, const Places& x, const Arrays& given) {
    of_inputs = by_name(t.way.inputs, pull_back(t.way, in_order(t.way.inputs, x.way),
                                                in_order(t.way.outputs, given, cotangent_suffix)));
    a_bar = sum(found(given, "qacc_next_bar"), found(of_inputs, "qacc"));
    Numbers by_next = found(of_inputs, "qacc_next");
    if (t.damps) mu = matrices.by_damped(by_next, true), by_next = matrices.times_mass(mu);
    a_bar = sum(a_bar, by_next);
    if (t.first && t.is_stage) of_inputs["v"] = sum(of_inputs.at("v"), of_inputs.at("v_i"));
  }
};

// The inputs of all stages' cotangents, declared.
Arrays given_bars(const Texts& t, Program& p) {
  Arrays given;
  for (const Program::Array& a : t.way.outputs)
    given[a.name + cotangent_suffix] = p.input(a.name + cotangent_suffix, a.size);
  if (t.last) given["qacc_next_bar"] = p.input("qacc_next_bar", t.model.nv);
  return given;
}
Arrays summed_bars(const Texts& t, Program& p) {
  Arrays summed;
  const std::map<std::string, int> size = sizes_of(t);
  for (const std::string& name : varied(t.parameters))
    if (!t.last) summed[name] = p.input(name + cotangent_suffix, size.at(name));
    else if (t.is_stage && is_state(name))
      summed[name + "_left"] = p.input(name + "_left" + cotangent_suffix, size.at(name));
  return summed;
}

// Cotangents by way of the way on and of the residual, summed up.
void hand_out_bars(const Texts& t, Program& p, const Arrays& summed, const Arrays& of_way, const Arrays& of_g) {
  const std::map<std::string, int> size = sizes_of(t);
  for (const std::string& name : varied(t.parameters)) {
    // of later stages the equations are not at the step's own state
    Numbers total = sum(found(summed, name), found(of_way, name));
    if (t.first || !is_state(name)) total = sum(total, found(of_g, name));
    total.resize(static_cast<std::size_t>(size.at(name)), Expr(0.0));
    p.output(name + cotangent_suffix + (t.last ? "" : "_next"), total);
  }
  if (t.first) return;
  for (const std::string& name : between) {
    Numbers total = found(of_way, name);
    const std::string state = name.substr(0, name.size() - 2);
    if (is_state(state)) total = sum(sum(total, found(of_g, state)), found(summed, state + "_left"));
    p.output(name + cotangent_suffix, total);
  }
}

Arrays cotangents_of_residual(const PulledWay& way, const Numbers& lambda) {
  Arrays of_g = {{"g", negative(lambda)}};
  if (!way.mu.empty()) of_g["g_h"] = way.mu;
  for (const std::string& name : lengths)
    if (way.of_inputs.contains(name)) of_g[name] = way.of_inputs.at(name);
  return of_g;
}

// With the rows of all candidates.
Program trace_vjp(const Texts& t) {
  Program p;
  p.graph.limit(t.most);
  Places x(t, p, true);
  const Arrays given = given_bars(t, p), summed = summed_bars(t, p);
  Tracing scope(p.graph);
  const Model<Expr> m = t.parameters.apply(t.model, values_of(t.parameters, x.way));
  const Matrices matrices = solved(t, m, x);
  const PulledWay way(t, matrices, x, given);
  const Arrays of_g = cotangents_of_residual(way, matrices.by_curvature(way.a_bar));
  hand_out_bars(t, p, summed, way.of_inputs,
                by_name(t.residual.inputs,
                        pull_back(t.residual, in_order(t.residual.inputs, x.at), in_order(t.residual.outputs, of_g))));
  return p;
}

// Tangents that a stage is given, declared: of the inputs of its way on.
Arrays given_tangents(const Texts& t, Program& p) {
  const std::map<std::string, int> size = sizes_of(t);
  Arrays given;
  for (const std::string& name : varied(t.parameters)) given[name] = p.input(name + tangent_suffix, size.at(name));
  for (const std::string& name : between) {
    const std::string state = name.substr(0, name.size() - 2);
    if (!t.first) given[name] = p.input(name + tangent_suffix, size.at(is_state(state) ? state : name));
  }
  return given;
}
// Of where the equations are solved.
Arrays tangents_there(const Texts& t, Arrays given) {
  for (const std::string& name : state_arrays)
    if (!t.first) given[name] = given.at(name + "_i");
  return given;
}
// Of a program's outputs, by their names.
Arrays pushed(const Program& of, const Arrays& at, const Arrays& tan) {
  TracedArrays all;
  for (const Program::Array& a : of.inputs) all.push_back(found(tan, a.name));
  return by_name(of.outputs, push_forward(of, in_order(of.inputs, at), all));
}

// Tangents of the way on: a of the acceleration, g of the residual's outputs.
void push_way(const Texts& t, Program& p, const Matrices& matrices, const Places& x, Arrays given, const Numbers& a,
              const Arrays& g) {
  if (t.first && t.is_stage) given["v_i"] = given.at("v");
  given["qacc"] = given["qacc_next"] = a;
  if (t.damps) given["qacc_next"] = matrices.by_damped(sum(matrices.times_mass(a), g.at("g_h")), false);
  for (const std::string& name : lengths) given[name] = g.at(name);
  const Arrays out = pushed(t.way, x.way, given);
  for (const Program::Array& of : t.way.outputs) p.output(of.name + tangent_suffix, out.at(of.name));
  if (t.last) p.output("qacc_next_tan", a);
}

Program trace_jvp(const Texts& t) {
  Program p;
  p.graph.limit(t.most);
  Places x(t, p, true);
  const Arrays given = given_tangents(t, p);
  Tracing scope(p.graph);
  const Model<Expr> m = t.parameters.apply(t.model, values_of(t.parameters, x.way));
  const Matrices matrices = solved(t, m, x);
  const Arrays g = pushed(t.residual, x.at, tangents_there(t, given));
  push_way(t, p, matrices, x, given, matrices.by_curvature(negative(g.at("g"))), g);
  return p;
}

// Where contacts are found, what the equations hand on and programs need, as inputs.
Arrays handed_on(const Texts& t, Program& p) {
  const std::map<std::string, int> size = sizes_of(t);
  Arrays e;
  for (const std::string& name : lengths) e[name] = p.input(name, size.at(name));
  if (t.damps)
    for (const char* name : {"mass", "damping"}) e[name] = p.input(name, size.at(name));
  return e;
}

// Tangents with the acceleration held, before the solution with Newton's last matrix.
Program trace_tangents_before(const Texts& t) {
  Program p;
  p.graph.limit(t.most);
  Places x(t, p, true);
  const Arrays given = tangents_there(t, given_tangents(t, p)), e = handed_on(t, p);
  Tracing scope(p.graph);
  const Model<Expr> m = t.parameters.apply(t.model, values_of(t.parameters, x.way));
  set_way(t, Matrices(t.model, m, t.step, e), x);
  const Arrays g = pushed(t.residual, x.at, given), moved = pushed(t.step.equations, x.at, given);
  p.output("qacc_damped", t.damps ? x.at.at("qacc_next") : Numbers{});
  for (const char* name : {"g", "g_h"}) p.output(std::string(name) + tangent_suffix, g.at(name));
  for (const std::string& name : lengths) p.output(name + tangent_suffix, g.at(name));
  for (const char* name : {"placement", "twist", "axis"}) p.output(std::string(name) + tangent_suffix, moved.at(name));
  return p;
}

// And behind it.
Program trace_tangents_after(const Texts& t) {
  Program p;
  p.graph.limit(t.most);
  const int nv = t.model.nv;
  const std::map<std::string, int> size = sizes_of(t);
  Places x(t, p, true);
  const Arrays given = given_tangents(t, p), e = handed_on(t, p);
  const Numbers a_h = p.input("qacc_damped", t.damps ? nv : 0), a = p.input("qacc_tan", nv);
  Arrays g = {{"g_h", p.input("g_h_tan", t.damps ? nv : 0)}};
  for (const std::string& name : lengths) g[name] = p.input(name + tangent_suffix, size.at(name));
  Tracing scope(p.graph);
  const Model<Expr> m = t.parameters.apply(t.model, values_of(t.parameters, x.way));
  x.way["qacc_next"] = t.damps ? a_h : x.at.at("qacc");
  for (const std::string& name : lengths) x.way[name] = e.at(name);
  push_way(t, p, Matrices(t.model, m, t.step, e), x, given, a, g);
  return p;
}

// Cotangents, before the solution.
Program trace_before(const Texts& t) {
  Program p;
  p.graph.limit(t.most);
  Places x(t, p, true);
  const Arrays given = given_bars(t, p), e = handed_on(t, p);
  Tracing scope(p.graph);
  const Model<Expr> m = t.parameters.apply(t.model, values_of(t.parameters, x.way));
  const Matrices matrices(t.model, m, t.step, e);
  set_way(t, matrices, x);
  const PulledWay way(t, matrices, x, given);
  p.output("qacc_bar", way.a_bar);
  p.output("mu", way.mu), p.output("qacc_damped", t.damps ? x.at.at("qacc_next") : Numbers{});
  for (const Program::Array& a : t.way.inputs)
    if (a.name != "qacc" && a.name != "qacc_next") p.output("way_" + a.name, way.of_inputs.at(a.name));
  return p;
}

// And behind it.
Program trace_after(const Texts& t) {
  Program p;
  p.graph.limit(t.most);
  Places x(t, p, false);
  const int nv = t.model.nv, nb = t.model.nb;
  const Arrays summed = summed_bars(t, p);
  Numbers &a_h = x.at["qacc_next"], &lambda = x.at["lambda"];
  a_h = p.input("qacc_damped", t.damps ? nv : 0), lambda = p.input("lambda", nv);
  if (!t.damps) a_h = x.at.at("qacc");
  const Numbers mu = p.input("mu", t.damps ? nv : 0);
  Arrays of_way;
  for (const Program::Array& a : t.way.inputs)
    if (a.name != "qacc" && a.name != "qacc_next") of_way[a.name] = p.input("way_" + a.name, a.size);
  const int moving = t.model.world.contacts.pair.empty() ? 0 : nb + 1;
  const Numbers pose = p.input("pose_bar", 6 * moving);
  Arrays of_g;
  for (const char* name : {"lambda_motion", "qacc_motion", "twist"})
    of_g[name] = p.input(std::string(name) + cotangent_suffix, 6 * moving);
  Tracing scope(p.graph);
  of_g["g"] = negative(lambda);
  if (t.damps) of_g["g_h"] = mu;
  for (const std::string& name : lengths) of_g[name] = found(of_way, name);
  for (const std::string& name : lengths)
    if (of_g[name].empty()) of_g.erase(name);
  // a turn w past the world's origin and a displacement v change R by w x R and r by v + w x r
  const Arrays now = by_name(t.residual.outputs, replay(t.residual, in_order(t.residual.inputs, x.at)));
  Numbers placement(static_cast<std::size_t>(12 * moving), Expr(0.0));
  const auto number = [](int n) { return static_cast<std::size_t>(n); };
  for (int i = 1; i < moving; i++) {
    const auto at = [&](int k) { return now.at("placement")[number(12 * i + k)]; };
    const auto bar = [&](int k) { return pose[number(6 * i + k)]; };
    const Vec3<Expr> r(at(9), at(10), at(11)), force(bar(3), bar(4), bar(5));
    const Vec3<Expr> moment = Vec3<Expr>(bar(0), bar(1), bar(2)) - cross(r, force);
    for (int c = 0; c < 3; c++) {
      const Vec3<Expr> turned = cross(moment, Vec3<Expr>(at(c), at(3 + c), at(6 + c)));
      for (int k = 0; k < 3; k++) placement[number(12 * i + 3 * k + c)] = Expr(0.5) * turned(k);
      placement[number(12 * i + 9 + c)] = force(c);
    }
  }
  of_g["placement"] = placement;
  hand_out_bars(t, p, summed, of_way,
                by_name(t.residual.inputs,
                        pull_back(t.residual, in_order(t.residual.inputs, x.at), in_order(t.residual.outputs, of_g))));
  return p;
}

}  // namespace

WorldGradients world_gradients(const Model<double>& model, const WorldPrograms& step, Derivative derivative,
                               Candidates candidates, int most, const Parameters& parameters) {
  const World<double>& w = model.world;
  if (w.is_discrete())
    throw Error(
        "the step of the integrator discrete has no derivatives, expected Euler, implicitfast, implicit or RK4");
  if (w.constraints.exact_inertia)
    throw Error(
        "a step whose rows are weighed where the robot is (diagexact) has no derivatives, expected a file without");
  WorldGradients out;
  const bool all = candidates == Candidates::All;
  out.residual = trace_residual(model, step, all, parameters, most);
  if (step.stages.empty()) out.integration = trace_integration(model, parameters);
  const int stages = static_cast<int>(step.stages.size());
  for (int i = 0; i < std::max(stages, 1); i++) {
    const Texts texts{model,        step,
                      out.residual, stages == 0 ? out.integration : step.stages[static_cast<std::size_t>(i)],
                      parameters,   most,
                      i == 0,       i + 1 >= stages,
                      stages > 0,   takes_slopes(step)};
    const bool forward = derivative == Derivative::jvp;
    if (all) {
      out.steps.push_back(forward ? trace_jvp(texts) : trace_vjp(texts));
    } else {
      out.before.push_back(forward ? trace_tangents_before(texts) : trace_before(texts));
      out.after.push_back(forward ? trace_tangents_after(texts) : trace_after(texts));
    }
  }
  return out;
}

}  // namespace featherstorm
