#include "host/gradients/world_stage.h"

namespace featherstorm::stage {
namespace {

// Declare the tangents of the integrator's inputs.
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
// Return the tangents of the equations' inputs.
Arrays tangents_there(const Texts& t, Arrays given) {
  for (const std::string& name : state_arrays)
    if (!t.first) given[name] = given.at(name + "_i");
  return given;
}
// Push tangents forward to the outputs of a program, by name.
Arrays pushed(const Program& of, const Arrays& at, const Arrays& tan) {
  TracedArrays all;
  for (const Program::Array& a : of.inputs) all.push_back(found(tan, a.name));
  return by_name(of.outputs, push_forward(of, in_order(of.inputs, at), all));
}

// Push tangents through the integrator. a: tangent of the acceleration; g: tangents of the residual's outputs.
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

}  // namespace

Program trace_jvp(const Texts& t) {
  Program p;
  p.graph.limit(t.most);
  Places x(t, p, true);
  Arrays given = given_tangents(t, p);
  Tracing scope(p.graph);
  const Model<Expr> m = model_at(t, x);
  given["q"] = along_spheres(t.model, x.way.at("q"), given.at("q"));
  const Matrices matrices = solved(t, m, x);
  const Arrays g = pushed(t.residual, x.at, tangents_there(t, given));
  push_way(t, p, matrices, x, given, matrices.by_curvature(negative(g.at("g"))), g);
  return p;
}

// Tangents with the acceleration held; the solution with Newton's last matrix follows.
Program tangents_before(const Texts& t) {
  Program p;
  p.graph.limit(t.most);
  Places x(t, p, true);
  Arrays given = given_tangents(t, p);
  const Arrays e = handed_on(t, p);
  Tracing scope(p.graph);
  const Model<Expr> m = model_at(t, x);
  given["q"] = along_spheres(t.model, x.way.at("q"), given.at("q"));
  set_way(t, Matrices(t, m, e), x);
  const Arrays there = tangents_there(t, given);
  const Arrays g = pushed(t.residual, x.at, there), moved = pushed(t.step.equations, x.at, there);
  p.output("qacc_damped", t.damps ? x.at.at("qacc_next") : Numbers{});
  for (const char* name : {"g", "g_h"}) p.output(std::string(name) + tangent_suffix, g.at(name));
  for (const std::string& name : lengths) p.output(name + tangent_suffix, g.at(name));
  for (const char* name : {"placement", "twist", "axis", "touch"})
    p.output(std::string(name) + tangent_suffix, moved.at(name));
  return p;
}

Program tangents_after(const Texts& t) {
  Program p;
  p.graph.limit(t.most);
  const int nv = t.model.nv;
  const std::map<std::string, int> size = sizes_of(t);
  Places x(t, p, true);
  Arrays given = given_tangents(t, p);
  const Arrays e = handed_on(t, p);
  const Numbers a_h = p.input("qacc_damped", t.damps ? nv : 0), a = p.input("qacc_tan", nv);
  Arrays g = {{"g_h", p.input("g_h_tan", t.damps ? nv : 0)}};
  for (const std::string& name : lengths) g[name] = p.input(name + tangent_suffix, size.at(name));
  Tracing scope(p.graph);
  const Model<Expr> m = model_at(t, x);
  given["q"] = along_spheres(t.model, x.way.at("q"), given.at("q"));
  x.way["qacc_next"] = t.damps ? a_h : x.at.at("qacc");
  for (const std::string& name : lengths) x.way[name] = e.at(name);
  push_way(t, p, Matrices(t, m, e), x, given, a, g);
  return p;
}

}  // namespace featherstorm::stage
