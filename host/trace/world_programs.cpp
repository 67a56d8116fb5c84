#include "host/trace/world_programs.h"

#include "core/constraint/delassus.h"
#include "core/mujoco/constrained.h"
#include "core/mujoco/position_slopes.h"
#include "core/rigid/rigid_constraints.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

using Numbers = std::vector<Expr>;

Numbers numbers(const auto& scratch, int n) {
  Numbers all;
  for (int k = 0; k < n; k++) all.push_back(scratch[k]);
  return all;
}

// What of J is not zero by structure; contacts: whether their rows are there.
RowPattern pattern_of(const Equations<Expr>& e, const World<Expr>& w, const PairColumns& pairs, int nv, bool contacts) {
  RowPattern p;
  const int constraints = rows_of(w.constraints);
  const std::vector<RowBlock> blocks = row_blocks(w);
  for (int i = 0; i < constraints; i++) {
    std::vector<int> column;
    for (int k = 0; k < nv; k++)
      if (lane(e.J[i * nv + k], 0) != 0) column.push_back(k);  // NaN where it is no constant
    p.add(blocks[i].kind, 1, column);
  }
  int block = constraints;
  for (int i = 0; contacts && i < static_cast<int>(w.contacts.pair.size()); i++) {
    std::vector<int> column;
    for (int k = pairs.start[i]; k < pairs.start[i + 1]; k++) column.push_back(pairs.column[k].v);
    for (int slot = 0; slot < w.contacts.pair[i].slots; slot++, block++)
      p.add(blocks[block].kind, blocks[block].rows, column);
  }
  return p;
}

// The packed inertia matrix of the robot's tree with the entries of another.
Numbers on_tree(const Model<double>& m, const EliminationTree& tree, const Numbers& mass) {
  Numbers all(static_cast<std::size_t>(tree.nh), Expr(0.0));
  const std::vector<int> entry = entries_on(m, tree);
  for (std::size_t k = 0; k < entry.size(); k++) all[entry[k]] = mass[k];
  return all;
}

// The inputs of a problem.
struct Problem {
  Numbers mass, b, jacobian, D, aref, friction;
  Problem(Program& p, const Model<double>& m, const RowPattern& rows)
      : mass(p.input("mass", m.nh)),
        b(p.input("b", m.nv)),
        jacobian(p.input("jacobian", rows.entries())),
        D(p.input("row_D", rows.rows())),
        aref(p.input("row_aref", rows.rows())),
        friction(p.input("row_friction", rows.rows())) {}
};

// The numbers of placements and motions, as host/solver/contact_solve.h takes them.
Numbers numbers_of(const Scratch<Placement<Expr>>& X, int n) {
  Numbers all;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 9; k++) all.push_back(X[i].R(k / 3, k % 3));
    for (int k = 0; k < 3; k++) all.push_back(X[i].r(k));
  }
  return all;
}
Numbers numbers_of(const Scratch<Motion<Expr>>& V, int n) {
  Numbers all;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) all.push_back(V[i].w(k));
    for (int k = 0; k < 3; k++) all.push_back(V[i].v(k));
  }
  return all;
}

// Throws Error where the integrator discrete would couple coordinates of several branches: M^ has no place for that.
void check_branches(const Model<Expr>& m, const World<Expr>& w, const Smooth<Expr>& s,
                    const LengthSlopes<Expr>& slopes) {
  const auto is_zero = [](const Expr& x) { return lane(x, 0) == 0; };  // false for an input
  const auto check = [&](const auto& J, int row, const Expr& K, const Expr& D, const std::string& what) {
    if (is_zero(K) && is_zero(D)) return;
    int last = -1;
    for (int k = 0; k < m.nv; k++) {
      if (is_zero(J[row * m.nv + k])) continue;
      int above = k;
      while (above > last) above = m.dof_parent[above];
      if (above != last && last >= 0)
        throw Error("the integrator discrete: " + what + " " + std::to_string(row) +
                    " acts on joints of several branches at once, and its stiffness and damping cannot be taken to the "
                    "end of the step, expected one along a single branch, or another integrator");
      last = k;
    }
  };
  for (int t = 0; t < w.n_tendons() && w.implicit_lengths; t++)
    check(s.ten_J, t, slopes.tendon_K[t], slopes.tendon_D[t], "tendon");
  for (int o = 0; o < w.n_outputs && w.implicit_lengths; o++)
    check(s.moment, o, slopes.K[o], slopes.D[o], "actuator output");
}

void trace_equations(const Model<double>& model, const Parameters& parameters, bool contacts,
                     const RigidLaw<double>* rigid, WorldPrograms& out) {
  Program& p = out.equations;
  const World<double>& shape = model.world;
  const Numbers q = p.input("q", model.nq), v = p.input("v", model.nv), act = p.input("act", shape.na),
                ctrl = p.input("ctrl", shape.nu), qfrc = p.input("qfrc_applied", model.nv),
                xfrc = p.input("xfrc_applied", 6 * shape.n_links());
  const TracedModel traced(p, model, parameters);
  const Model<Expr>& m = traced.model();
  const World<Expr>& w = m.world;
  Smooth<Expr> s(m, w);
  Equations<Expr> e(m, w);
  const Applied applied{ctrl.data(), qfrc.data(), xfrc.data()};
  equations(m, w, q.data(), v.data(), act.data(), applied, s, e);
  out.pairs = PairColumns(model, shape.contacts);
  Numbers of_contacts, weights, turning;
  if (!rigid) {
    if (w.is_discrete()) {
      LengthSlopes<Expr> slopes(w);
      length_slopes(m, w, act.data(), ctrl.data(), s, slopes);
      check_branches(m, w, s, slopes);
    }
    out.alone = alone_bodies(m, w);
    weights.resize(static_cast<std::size_t>(weights_of(m, w))), turning.resize(7 * out.alone.size());
    end_of_step(m, w, q.data(), v.data(), act.data(), ctrl.data(), s, e, weights.data(), turning.data());
  }
  if (contacts) {
    of_contacts.resize(static_cast<std::size_t>(out.pairs.entries(shape.contacts)));
    all_contact_rows(m, w, out.pairs, weights.data(), s, e, of_contacts.data());
    find_touched(w, out.alone, e.D, turning.data());
    weights.clear();
  }
  out.weights = static_cast<int>(weights.size());
  out.rows = pattern_of(e, w, out.pairs, m.nv, contacts);
  out.tree = tree_with(model, out.rows);
  const Numbers jacobian = packed_jacobian(out.rows, rows_of(w.constraints), m.nv, e.J.data(), of_contacts);
  // D of (M + h D) a = b + J^T f, entries of M; then those above the diagonal where it is not symmetric
  Numbers damping(static_cast<std::size_t>(2 * m.nh), Expr(0.0));
  if (rigid) {
    // forces of rows act on M + h D + h^2 K
    const Expr h(w.timestep);
    Numbers K(static_cast<std::size_t>(m.nh), Expr(0.0)), Kv(v.size());
    add_force_slopes(m, w, v.data(), act.data(), ctrl.data(), s, false, damping.data(), damping.data());
    position_slopes(m, w, q.data(), act.data(), ctrl.data(), s, K.data());
    mul_h(m, K, v.data(), Kv.data());
    for (std::size_t k = 0; k < K.size(); k++)
      e.mass[static_cast<int>(k)] = e.mass[static_cast<int>(k)] + h * (damping[k] + h * K[k]);
    for (int k = 0; k < m.nv; k++) e.b[k] = e.b[k] - h * Kv[static_cast<std::size_t>(k)];
    damping.clear();
    rigid_constraint_rows(m, w, cast<Expr>(*rigid), v.data(), e.rows());
  } else if (w.is_discrete()) {
    damping.clear();
  } else {
    velocity_slopes(m, w, q.data(), v.data(), act.data(), ctrl.data(), s, damping.data(), damping.data() + m.nh);
    if (has_symmetric_slopes(m, w)) damping.resize(static_cast<std::size_t>(m.nh));
  }
  out.slopes = static_cast<int>(damping.size());
  for (const Expr& d : damping) out.damps |= lane(d, 0) != 0;
  traced.weigh_equalities(e.D.data());
  p.output("mass", numbers(e.mass, m.nh)), p.output("b", numbers(e.b, m.nv));
  p.output("jacobian", jacobian);
  p.output("row_D", numbers(e.D, out.rows.rows())), p.output("row_aref", numbers(e.aref, out.rows.rows()));
  p.output("row_friction", numbers(e.friction, out.rows.rows()));
  p.output("act_dot", numbers(s.act_dot, w.na));
  p.output("actuator_length", numbers(s.actuator_length, w.n_outputs));
  p.output("actuator_velocity", numbers(s.actuator_velocity, w.n_outputs));
  p.output("damping", damping), p.output("weights", weights), p.output("turning", turning);
  if (contacts) {
    p.output("more", {Expr(1.0)}), p.output("passes", {Expr(0.0)});
  } else {
    Numbers factor(static_cast<std::size_t>(m.nh)), a0 = numbers(e.b, m.nv);
    half_factor(m, e.mass, factor.data());
    solve_from_tips(m, factor, a0.data()), solve_from_root(m, factor, a0.data());
    p.output("factor", factor), p.output("qacc_smooth", a0);
    // nothing where nothing can touch
    const bool any = !shape.contacts.pair.empty();
    p.output("placement", numbers_of(s.X, any ? m.nb + 1 : 0));
    p.output("twist", numbers_of(e.twist, any ? m.nb + 1 : 0)), p.output("axis", numbers_of(e.axis, any ? m.nv : 0));
    Numbers touch;
    out.touch = touch_numbers(w, touch);
    p.output("touch", touch);
  }
}

void trace_newton(const Model<double>& model, double tolerance, WorldPrograms& out) {
  Program& p = out.newton;
  const Problem in(p, model, out.rows);
  const Numbers qacc = p.input("qacc", model.nv), passes = p.input("passes", 1);
  Tracing scope(p.graph);
  const Numbers mass = on_tree(model, out.tree, in.mass);
  Numbers next(qacc.size()), force(in.D.size());
  const NewtonProblem problem{out.tree,           out.rows,    mass.data(),    in.b.data(),
                              in.jacobian.data(), in.D.data(), in.aref.data(), in.friction.data()};
  const NewtonOutcome<Expr> outcome = newton_step(problem, qacc.data(), next.data(), force.data());
  p.output("qacc_next", next);
  p.output("more_next", {select(Expr(tolerance) < outcome.left, Expr(1.0) - outcome.exact, Expr(0.0))});
  p.output("passes_next", {passes[0] + Expr(1.0)});
  const auto contacts = force.begin() + rows_of(model.world.constraints);
  p.output("row_force_next", {force.begin(), contacts}), p.output("contact_force_next", {contacts, force.end()});
}

void trace_advance(const Model<double>& model, const Parameters& parameters, Candidates candidates,
                   WorldPrograms& out) {
  Program& p = out.advance;
  const World<double>& shape = model.world;
  const Numbers q = p.input("q", model.nq), v = p.input("v", model.nv), act = p.input("act", shape.na),
                act_dot = p.input("act_dot", shape.na), length = p.input("actuator_length", shape.n_outputs),
                velocity = p.input("actuator_velocity", shape.n_outputs), damping = p.input("damping", out.slopes),
                mass = p.input("mass", model.nh), qacc = p.input("qacc", model.nv);
  const bool all = candidates == Candidates::All;
  const Numbers smooth = p.input(all ? "b" : "qacc_smooth", model.nv);
  const int alone = static_cast<int>(out.alone.size());
  const Numbers turning = p.input("turning", 7 * alone), touched = p.input("touched", all ? 0 : alone);
  const TracedModel traced(p, model, parameters);
  const Model<Expr>& m = traced.model();
  const World<Expr>& w = m.world;
  const Expr h(w.timestep);
  // of the rows: M a - b, or M (a - a0), which is nothing but for them
  Numbers by = qacc;
  for (std::size_t k = 0; k < by.size() && !all; k++) by[k] = by[k] - smooth[k];
  Numbers force(qacc.size()), a = qacc, q_next(q.size()), v_next(v.size()), act_next(act.size());
  mul_h(m, mass, by.data(), force.data());
  for (std::size_t k = 0; k < force.size() && all; k++) force[k] = force[k] - smooth[k];
  if (out.damps) damped_acceleration(m, w, mass, damping, slice(damping.data(), out.slopes - m.nh), h, a.data());
  for (int i = 0; i < alone; i++) {
    const std::size_t body = static_cast<std::size_t>(out.alone[static_cast<std::size_t>(i)]);
    const Expr* const t = turning.data() + 7 * i;
    const Expr free = all ? t[0] : select(Expr(0.0) < touched[static_cast<std::size_t>(i)], Expr(0.0), t[0]);
    for (int k = 0; k < 6; k++) {
      Expr& own = a[static_cast<std::size_t>(m.body[body].v) + static_cast<std::size_t>(k)];
      own = select(Expr(0.0) < free, t[1 + k], own);
    }
  }
  if (alone > 0) p.output("qacc_next", a);
  next_activations(w, length.data(), velocity.data(), act.data(), act_dot.data(), act_next.data());
  for (int k = 0; k < m.nv; k++) v_next[k] = v[k] + h * a[k];
  integrate(m, q.data(), v_next.data(), h, q_next.data());
  p.output("q_next", q_next), p.output("v_next", v_next), p.output("act_next", act_next);
  p.output("qfrc_constraint", force);
}

// Stage i of the classical Runge-Kutta method on the tangent space at q (core/step/rk4_step.h), q_i = q (+) u_i.
Program trace_stage(const Model<double>& model, const Parameters& parameters, int i) {
  Program p;
  const World<double>& shape = model.world;
  const Numbers q = p.input("q", model.nq), v = p.input("v", model.nv), act = p.input("act", shape.na),
                ui = p.input("u_i", model.nv), vi = p.input("v_i", model.nv), rate = p.input("act_dot", shape.na),
                a = p.input("qacc", model.nv);
  Numbers sum_u = p.input("sum_u", model.nv), sum_a = p.input("sum_a", model.nv),
          sum_rate = p.input("sum_rate", shape.na), length, velocity;
  if (i == 3)
    length = p.input("actuator_length", shape.n_outputs), velocity = p.input("actuator_velocity", shape.n_outputs);
  const TracedModel traced(p, model, parameters);
  const Model<Expr>& m = traced.model();
  const World<Expr>& w = m.world;
  const double weight = i == 0 || i == 3 ? 1.0 / 6 : 1.0 / 3;
  const auto add = [&](Numbers& sum, const Numbers& x) {
    for (std::size_t k = 0; k < x.size(); k++) sum[k] = (i == 0 ? Expr(0.0) : sum[k]) + Expr(weight) * x[k];
  };
  const Numbers u = i == 0 ? Numbers(vi.size(), Expr(0.0)) : ui;
  Numbers along(vi.size());
  tangent_rate(m, u.data(), vi.data(), along.data());
  add(sum_u, along), add(sum_a, a), add(sum_rate, rate);
  Numbers u_next(v.size()), q_next(q.size()), v_next(v.size()), act_next(act.size());
  const Expr h = Expr(w.timestep) * Expr(i < 2 ? 0.5 : 1.0);
  const Numbers &to = i == 3 ? sum_u : along, &by = i == 3 ? sum_a : a;
  for (std::size_t k = 0; k < v.size(); k++) u_next[k] = h * to[k], v_next[k] = v[k] + h * by[k];
  integrate(m, q.data(), u_next.data(), Expr(1.0), q_next.data());
  if (i == 3) next_activations(w, length.data(), velocity.data(), act.data(), sum_rate.data(), act_next.data());
  else
    for (std::size_t k = 0; k < act.size(); k++) act_next[k] = act[k] + h * rate[k];
  const auto name = [&](const char* of) { return of + std::string(i == 3 ? "_next" : "_i_next"); };
  p.output(name("q"), q_next), p.output(name("v"), v_next), p.output(name("act"), act_next);
  if (i == 3) return p;
  p.output("u_i_next", u_next);
  p.output("sum_u_next", sum_u), p.output("sum_a_next", sum_a), p.output("sum_rate_next", sum_rate);
  return p;
}

// The parameters as further inputs.
std::vector<Numbers> inputs_of(Program& p, const Parameters& parameters) {
  std::vector<Numbers> all;
  for (const Parameters::Array& a : parameters.arrays()) all.push_back(p.input(std::string(a.name), a.components));
  return all;
}

}  // namespace

TracedModel::TracedModel(Program& program, const Model<double>& model, const Parameters& parameters)
    : parameters_(parameters),
      values_(inputs_of(program, parameters)),
      scope_(program.graph),
      model_(parameters.apply(model, values_)) {}

void TracedModel::weigh_equalities(Expr* D) const {
  const Numbers weight = parameters_.equality_weights(values_);
  const auto& equality = model_.world.constraints.equality;
  for (std::size_t i = 0, row = 0; i < equality.size() && !weight.empty(); i++)
    for (int k = rows_of(equality[i]); k > 0; k--, row++) D[row] = D[row] * weight[i];
}

Numbers packed_jacobian(const RowPattern& rows, int constraints, int nv, const Expr* J, const Numbers& of_contacts) {
  Numbers all;
  for (int i = 0; i < constraints; i++) {
    const PackedBlock& b = rows.block[static_cast<std::size_t>(i)];
    for (int k = 0; k < b.columns; k++) all.push_back(J[i * nv + rows.column[b.column + k]]);
  }
  all.insert(all.end(), of_contacts.begin(), of_contacts.end());
  return all;
}

EliminationTree tree_with(const Model<double>& model, const RowPattern& rows,
                          const std::vector<std::vector<int>>& further) {
  std::vector<std::vector<int>> sets = further;
  for (const PackedBlock& b : rows.block)
    sets.emplace_back(rows.column.begin() + b.column, rows.column.begin() + b.column + b.columns);
  return elimination_tree(model.dof_parent, sets);
}

std::vector<int> entries_on(const Model<double>& m, const EliminationTree& tree) {
  std::vector<int> entry(static_cast<std::size_t>(m.nh));
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j]) entry[m.at(i, j)] = tree.at(i, j);
  return entry;
}

WorldPrograms world_programs(const Model<double>& model, Candidates candidates, double tolerance, int most,
                             const Parameters& parameters, const RigidLaw<double>* rigid) {
  if (!model.world.is_given()) throw Error("the robot has no world, expected one of an MJCF file");
  const Integrator integrator = model.world.integrator;
  WorldPrograms out;
  for (Program* p : {&out.equations, &out.newton, &out.advance}) p->graph.limit(most);
  if (rigid && integrator == Integrator::RungeKutta)
    throw Error(
        "the rigid law finds velocities at the end of a step: RK4 is not supported, expected another integrator");
  if (rigid && candidates == Candidates::All) throw Error("the rigid law is not there for the rows of all candidates");
  if (model.world.no_slip.iterations > 0 && !rigid && candidates == Candidates::All)
    throw Error("option noslip_iterations is " + std::to_string(model.world.no_slip.iterations) +
                ": programs with the rows of all candidates have no sweeps, expected 0, or contacts that are found");
  trace_equations(model, parameters, candidates == Candidates::All, rigid, out);
  if (candidates == Candidates::All) trace_newton(model, tolerance, out);
  if (model.world.integrator == Integrator::RungeKutta)
    for (int i = 0; i < 4; i++) out.stages.push_back(trace_stage(model, parameters, i));
  else trace_advance(model, parameters, candidates, out);
  return out;
}

}  // namespace featherstorm
