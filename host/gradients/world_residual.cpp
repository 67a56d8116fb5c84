#include "host/gradients/world_residual.h"

#include "core/mujoco/constrained.h"
#include "core/world/touch_numbers.h"

namespace featherstorm {
namespace {

using Numbers = std::vector<Expr>;

// y += D x, with the slopes D packed as in tree_lu.h.
void add_slopes_times(const Model<Expr>& m, const Numbers& lower, const Expr* upper, const Numbers& x, Numbers& y) {
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j]) {
      y[i] += lower[m.at(i, j)] * x[j];
      if (j != i) y[j] += upper[m.at(i, j)] * x[i];
    }
}

// y = M a + C, including the inertia of tendons.
void inverse_dynamics(const Model<Expr>& m, const World<Expr>& w, const Smooth<Expr>& s, const Numbers& q,
                      const Numbers& v, const Numbers& a, Numbers& y) {
  newton_euler(m, q.data(), v.data(), a.data(), Zeros<Expr>{}, y.data());
  add_tendon_bias<Expr>(m, w, s.x, s.X, v, s.ten_J, y.data());
  for_each_tendon_inertia<Expr>(m, w, s.ten_J, [&](int i, int j, const Expr& entry) {
    y[i] += entry * a[j];
    if (j != i) y[j] += entry * a[i];
  });
}

}  // namespace

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

bool takes_slopes(const WorldPrograms& step) { return step.damps && step.stages.empty(); }

Program trace_residual(const Model<double>& model, const WorldPrograms& step, bool contacts,
                       const Parameters& parameters, int most) {
  Program p;
  p.graph.limit(most);
  const std::map<std::string, int> size = sizes_of(model, parameters);
  const auto input = [&](const char* name) { return p.input(name, size.at(name)); };
  const Numbers q = input("q"), v = input("v"), act = input("act"), ctrl = input("ctrl"), qfrc = input("qfrc_applied"),
                xfrc = input("xfrc_applied"), a = input("qacc"), a_h = p.input("qacc_next", model.nv);
  const Numbers lambda = p.input("lambda", contacts ? 0 : model.nv);
  const TracedModel traced(p, model, parameters);
  const Model<Expr>& m = traced.model();
  const World<Expr>& w = m.world;
  Smooth<Expr> s(m, w);
  Equations<Expr> e(m, w);
  Numbers tau(v.size()), g(v.size());
  smooth_forces(m, w, q.data(), v.data(), act.data(), Applied{ctrl.data(), qfrc.data(), xfrc.data()}, s, tau.data());
  inverse_dynamics(m, w, s, q, v, a, g);
  const Numbers id = g;
  for (std::size_t k = 0; k < g.size(); k++) g[k] -= tau[k];
  constraint_rows(m, w, s.x, s.X, q.data(), v.data(), s.ten_length, s.ten_J, e.rows());
  world_motion(m, s.x, s.X, v.data(), e.twist.data(), e.axis.data());
  Numbers of_contacts(static_cast<std::size_t>(contacts ? step.pairs.entries(w.contacts) : 0));
  if (contacts) all_contact_rows(m, w, step.pairs, static_cast<const Expr*>(nullptr), s, e, of_contacts.data());
  traced.weigh_equalities(e.D.data());
  const Numbers jacobian = packed_jacobian(step.rows, rows_of(w.constraints), m.nv, e.J.data(), of_contacts);
  // - J^T f(J a - aref)
  const std::size_t n = static_cast<std::size_t>(step.rows.rows());
  Numbers r(n), force(n), W(static_cast<std::size_t>(step.rows.curvatures())), of_rows(v.size());
  const NewtonProblem problem{step.tree,     step.rows,        static_cast<const Expr*>(nullptr),
                              tau.data(),    jacobian.data(),  e.D.data(),
                              e.aref.data(), e.friction.data()};
  rows_times(step.rows, jacobian.data(), a.data(), r.data());
  for (std::size_t i = 0; i < n; i++) r[i] -= e.aref[static_cast<int>(i)];
  block_states(problem, r.data(), force.data(), W.data());
  add_rows_transposed(step.rows, jacobian.data(), force.data(), of_rows.data());
  for (std::size_t k = 0; k < g.size(); k++) g[k] -= of_rows[k];
  p.output("g", g);
  Numbers g_h(takes_slopes(step) ? v.size() : 0);
  if (takes_slopes(step)) {
    // M (a - a_h) as the difference of two inverse dynamics, in which the bias cancels
    inverse_dynamics(m, w, s, q, v, a_h, g_h);
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
  const bool moves = !contacts && !w.contacts.pair.empty();
  Numbers placement;
  for (int i = 0; moves && i <= m.nb; i++) {
    for (int k = 0; k < 9; k++) placement.push_back(i == 0 ? Expr(0.0) : s.X[i].R(k / 3, k % 3));
    for (int k = 0; k < 3; k++) placement.push_back(i == 0 ? Expr(0.0) : s.X[i].r(k));
  }
  p.output("placement", placement);
  const auto motions = [&](const char* name, const Expr* by) {
    Numbers all;
    auto V = scratch<Motion<Expr>>(m.nb + 1);
    if (moves) body_velocities(m, s.x, by, V);
    for (int i = 0; moves && i <= m.nb; i++) {
      const Motion<Expr> in_axes = i == 0 ? zero_motion<Expr>() : in_world(s.X[i], V[i]);
      const Vec3<Expr> at_origin = i == 0 ? in_axes.v : Vec3<Expr>(in_axes.v - cross(in_axes.w, s.X[i].r));
      for (int k = 0; k < 3; k++) all.push_back(in_axes.w(k));
      for (int k = 0; k < 3; k++) all.push_back(at_origin(k));
    }
    p.output(name, all);
  };
  Numbers touch;
  if (!contacts) touch_numbers(w, touch);
  p.output("touch", touch);
  motions("lambda_motion", lambda.data()), motions("qacc_motion", a.data()), motions("twist", v.data());
  return p;
}

Program trace_integration(const Model<double>& model, const Parameters& parameters) {
  Program p;
  const World<double>& shape = model.world;
  const Numbers q = p.input("q", model.nq), v = p.input("v", model.nv), act = p.input("act", shape.na),
                rate = p.input("act_dot", shape.na), length = p.input("actuator_length", shape.n_outputs),
                velocity = p.input("actuator_velocity", shape.n_outputs), a = p.input("qacc_next", model.nv);
  const TracedModel traced(p, model, parameters);
  const Model<Expr>& m = traced.model();
  const World<Expr>& w = m.world;
  const Expr h(w.timestep);
  Numbers q_next(q.size()), v_next(v.size()), act_next(act.size());
  next_activations(w, length.data(), velocity.data(), act.data(), rate.data(), act_next.data());
  for (std::size_t k = 0; k < v.size(); k++) v_next[k] = v[k] + h * a[k];
  integrate(m, q.data(), v_next.data(), h, q_next.data());
  p.output("q_next", q_next), p.output("v_next", v_next), p.output("act_next", act_next);
  return p;
}

}  // namespace featherstorm
