#include "host/gradients/world_stage.h"

#include <algorithm>

#include "core/mujoco/constrained.h"
#include "host/gradients/world_residual.h"

namespace featherstorm::stage {

TracedArrays in_order(const std::vector<Program::Array>& arrays, const Arrays& values, const std::string& suffix) {
  TracedArrays all;
  for (const Program::Array& a : arrays) {
    const auto at = values.find(a.name + suffix);
    all.push_back(at == values.end() ? Numbers(static_cast<std::size_t>(a.size), Expr(0.0)) : at->second);
  }
  return all;
}
Arrays by_name(const std::vector<Program::Array>& arrays, const TracedArrays& values, const std::string& suffix) {
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

Places::Places(const Texts& t, Program& p, bool needs_way) {
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

Numbers along_spheres(const Model<double>& model, const Numbers& q, Numbers rate) {
  for (int i = 1; i <= model.nb; i++) {
    const auto& body = model.body[i];
    const int quaternion = joint_traits(body.type).quaternion;
    if (quaternion < 0) continue;
    const std::size_t first = static_cast<std::size_t>(body.q) + static_cast<std::size_t>(quaternion);
    Expr along(0.0);
    for (std::size_t k = first; k < first + 4; k++) along += q[k] * rate[k];
    for (std::size_t k = first; k < first + 4; k++) rate[k] -= along * q[k];
  }
  return rate;
}

Model<Expr> model_at(const Texts& t, const Places& x) {
  std::vector<Numbers> values;
  for (const Parameters::Array& a : t.parameters.arrays()) values.push_back(x.way.at(std::string(a.name)));
  return t.parameters.apply(t.model, values);
}

void Matrices::factorise(const Numbers& a) {
  const auto of = [this](const char* name) -> const Numbers& { return e_.at(name); };
  const Numbers &mass = of("mass"), &J = of("jacobian"), &aref = of("row_aref");
  const std::vector<int> entry = entries_on(t_.model, t_.step.tree);
  Numbers on_tree(static_cast<std::size_t>(t_.step.tree.nh), Expr(0.0));
  for (std::size_t k = 0; k < entry.size(); k++) on_tree[static_cast<std::size_t>(entry[k])] = mass[k];
  const std::size_t n = static_cast<std::size_t>(t_.step.rows.rows());
  Numbers r(n), force(n), W(static_cast<std::size_t>(t_.step.rows.curvatures()));
  H_.resize(on_tree.size());
  const NewtonProblem problem{t_.step.tree, t_.step.rows,       on_tree.data(), of("b").data(),
                              J.data(),     of("row_D").data(), aref.data(),    of("row_friction").data()};
  rows_times(t_.step.rows, J.data(), a.data(), r.data());
  for (std::size_t i = 0; i < n; i++) r[i] -= aref[i];
  block_states(problem, r.data(), force.data(), W.data());
  curvature(problem, W.data(), H_.data());
  ltdl(t_.step.tree, H_.data());
}
Numbers Matrices::by_curvature(Numbers x) const {
  solve<Factor::LTDL>(t_.step.tree, H_.data(), x.data());
  return x;
}
Numbers Matrices::times_mass(const Numbers& x) const {
  Numbers y(x.size());
  mul_h(t_.model, e_.at("mass").data(), x.data(), y.data());
  return y;
}
Numbers Matrices::by_damped(Numbers x, bool transposed) const {
  const Expr *lower = e_.at("damping").data(), *upper = lower + (t_.step.slopes - t_.model.nh);
  const Expr h(m_.world.timestep);
  if (!transposed || lower == upper) {
    solve_with_slopes(m_, m_.world, e_.at("mass").data(), lower, upper, h, x.data());
    return x;
  }
  Numbers other(upper, upper + t_.model.nh);
  for (int k = 0; k < t_.model.nv; k++) other[static_cast<std::size_t>(m_.at(k, k))] = lower[m_.at(k, k)];
  solve_with_slopes(m_, m_.world, e_.at("mass").data(), other.data(), lower, h, x.data());
  return x;
}

void set_way(const Texts& t, const Matrices& matrices, Places& x) {
  x.at["qacc_next"] = t.damps ? matrices.by_damped(matrices.times_mass(x.at.at("qacc")), false) : x.at.at("qacc");
  x.way["qacc_next"] = x.at["qacc_next"];
  for (const std::string& name : lengths) x.way[name] = matrices[name];
}

Matrices solved(const Texts& t, const Model<Expr>& m, Places& x) {
  const Program& equations = t.step.equations;
  Matrices matrices(t, m, by_name(equations.outputs, replay(equations, in_order(equations.inputs, x.at))));
  matrices.factorise(x.at.at("qacc"));
  set_way(t, matrices, x);
  return matrices;
}

Arrays handed_on(const Texts& t, Program& p) {
  const std::map<std::string, int> size = sizes_of(t);
  Arrays e;
  for (const std::string& name : lengths) e[name] = p.input(name, size.at(name));
  if (t.damps)
    for (const char* name : {"mass", "damping"}) e[name] = p.input(name, size.at(name));
  return e;
}

}  // namespace featherstorm::stage
