#include "host/trace/world_programs.h"

#include "core/constraint/delassus.h"
#include "core/mujoco/stages.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

using Numbers = std::vector<Expr>;

Numbers numbers(const auto& scratch, int n) {
  Numbers all;
  for (int k = 0; k < n; k++) all.push_back(scratch[k]);
  return all;
}

// Adds the rows of all possible contacts.
void add_contact_rows(RowPattern& p, const World<Expr>& w, const PairColumns& pairs) {
  const std::vector<RowBlock> blocks = row_blocks(w);
  int block = rows_of(w.constraints);
  for (int i = 0; i < static_cast<int>(w.contacts.pair.size()); i++) {
    std::vector<int> column;
    for (int k = pairs.start[i]; k < pairs.start[i + 1]; k++) column.push_back(pairs.column[k].v);
    for (int slot = 0; slot < w.contacts.pair[i].slots; slot++, block++)
      p.add(blocks[block].kind, blocks[block].rows, column);
  }
}

// The packed inertia matrix of the robot's tree, padded with the entries of another elimination tree.
Numbers on_tree(const Model<double>& m, const EliminationTree& tree, const Numbers& mass) {
  Numbers all(static_cast<std::size_t>(tree.nh), Expr(0.0));
  const std::vector<int> entry = entries_on(m, tree);
  for (std::size_t k = 0; k < entry.size(); k++) all[entry[k]] = mass[k];
  return all;
}

// State and controls, the inputs of the equations.
struct StateInputs {
  Numbers q, v, act, ctrl, qfrc, xfrc;
  StateInputs(Program& p, const Model<double>& m)
      : q(p.input("q", m.nq)),
        v(p.input("v", m.nv)),
        act(p.input("act", m.world.na)),
        ctrl(p.input("ctrl", m.world.nu)),
        qfrc(p.input("qfrc_applied", m.nv)),
        xfrc(p.input("xfrc_applied", 6 * m.world.n_links())) {}
};

// The inputs of a constraint problem.
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

void trace_equations(const Model<double>& model, const Parameters& parameters, bool contacts,
                     const RigidLaw<double>* rigid, const std::vector<int>& zones, WorldPrograms& out) {
  Program& p = out.equations;
  const World<double>& shape = model.world;
  const StateInputs in(p, model);
  const TracedModel traced(p, model, parameters);
  const Model<Expr>& m = traced.model();
  const World<Expr>& w = m.world;
  Smooth<Expr> s(m, w);
  Equations<Expr> e(m, w);
  out.alone = rigid ? std::vector<int>{} : alone_bodies(m, w);
  out.slopes = slopes_of(m, rigid != nullptr);
  Numbers of_contacts, weights(static_cast<std::size_t>(rigid ? 0 : weights_of(m, w))), turning(7 * out.alone.size()),
      slopes(static_cast<std::size_t>(out.slopes));
  const std::optional<RigidLaw<Expr>> law = rigid ? std::optional(cast<Expr>(*rigid)) : std::nullopt;
  const Applied applied{in.ctrl.data(), in.qfrc.data(), in.xfrc.data()};
  step_equations(m, w, law ? &*law : nullptr, in.q.data(), in.v.data(), in.act.data(), applied, s, e, weights.data(),
                 turning.data(), slopes.data());
  if (!rigid && w.is_discrete()) check_branches(m, in.act, in.ctrl, s);
  for (const Expr& d : slopes) out.damps |= lane(d, 0) != 0;
  out.pairs = PairColumns(model, shape.contacts);
  if (contacts) {
    of_contacts.resize(static_cast<std::size_t>(out.pairs.entries(shape.contacts)));
    all_contact_rows(m, w, out.pairs, weights.data(), s, e, of_contacts.data());
    find_touched(w, out.alone, e.D, turning.data());
    weights.clear();
  }
  out.weights = static_cast<int>(weights.size());
  out.rows = constraint_pattern(w, m.nv, e.J.data());
  if (contacts) add_contact_rows(out.rows, w, out.pairs);
  out.tree = tree_with(model, out.rows);
  const Numbers jacobian = packed_jacobian(out.rows, rows_of(w.constraints), m.nv, e.J.data(), of_contacts);
  traced.weigh_equalities(e.D.data());
  p.output("mass", numbers(e.mass, m.nh)), p.output("b", numbers(e.b, m.nv));
  p.output("jacobian", jacobian);
  p.output("row_D", numbers(e.D, out.rows.rows())), p.output("row_aref", numbers(e.aref, out.rows.rows()));
  p.output("row_friction", numbers(e.friction, out.rows.rows()));
  p.output("act_dot", numbers(s.act_dot, w.na));
  p.output("actuator_length", numbers(s.actuator_length, w.n_outputs));
  p.output("actuator_velocity", numbers(s.actuator_velocity, w.n_outputs));
  p.output("damping", slopes), p.output("weights", weights), p.output("turning", turning);
  if (contacts) {
    p.output("more", {Expr(1.0)}), p.output("passes", {Expr(0.0)});
  } else {
    Numbers factor(static_cast<std::size_t>(m.nh)), a0 = numbers(e.b, m.nv);
    half_factor(m, e.mass, factor.data());
    solve_from_tips(m, factor, a0.data()), solve_from_root(m, factor, a0.data());
    p.output("factor", factor), p.output("qacc_smooth", a0);
    // empty if no geoms can touch
    const int bodies = shape.contacts.pair.empty() ? 0 : m.nb + 1, axes = bodies > 0 ? m.nv : 0;
    Numbers placement(12UL * static_cast<std::size_t>(bodies)), twist(6UL * static_cast<std::size_t>(bodies)),
        axis(6UL * static_cast<std::size_t>(axes));
    store_placements(s.X, bodies, placement.data());
    store_motions(e.twist, bodies, twist.data()), store_motions(e.axis, axes, axis.data());
    p.output("placement", placement), p.output("twist", twist), p.output("axis", axis);
    Numbers touch;
    out.touch = touch_numbers(w, touch);
    p.output("touch", touch);
    Numbers zone(12 * zones.size());
    store_frames<Expr>(s.X, zone_frames(w, zones), zone.data());
    p.output("contact_zones", zone);
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
  // force of the rows: M a - b, or M (a - a0), where a0 is the acceleration without them
  Numbers by = qacc;
  for (std::size_t k = 0; k < by.size() && !all; k++) by[k] = by[k] - smooth[k];
  Numbers force(qacc.size()), a(qacc.size()), q_next(q.size()), v_next(v.size()), act_next(act.size());
  mul_h(m, mass, by.data(), force.data());
  for (std::size_t k = 0; k < force.size() && all; k++) force[k] = force[k] - smooth[k];
  const auto free = [&](int i) {
    const Expr& t = turning[7 * static_cast<std::size_t>(i)];
    return all ? t : select(Expr(0.0) < touched[static_cast<std::size_t>(i)], Expr(0.0), t);
  };
  const AdvanceInputs<const Expr*> in{q.data(),        v.data(),       act.data(),  act_dot.data(), length.data(),
                                      velocity.data(), damping.data(), mass.data(), qacc.data(),    turning.data()};
  const AdvanceOutputs<Expr*> to{q_next.data(), v_next.data(), act_next.data(), a.data()};
  advance<Expr>(m, w, out.damps, out.alone, free, in, to);
  if (alone > 0) p.output("qacc_next", a);
  p.output("q_next", q_next), p.output("v_next", v_next), p.output("act_next", act_next);
  p.output("qfrc_constraint", force);
}

Program trace_stage(const Model<double>& model, const Parameters& parameters, int i) {
  Program p;
  const World<double>& shape = model.world;
  const Numbers q = p.input("q", model.nq), v = p.input("v", model.nv), act = p.input("act", shape.na),
                ui = p.input("u_i", model.nv), vi = p.input("v_i", model.nv), rate = p.input("act_dot", shape.na),
                a = p.input("qacc", model.nv), sum_u = p.input("sum_u", model.nv), sum_a = p.input("sum_a", model.nv),
                sum_rate = p.input("sum_rate", shape.na);
  Numbers length, velocity;
  if (i == 3)
    length = p.input("actuator_length", shape.n_outputs), velocity = p.input("actuator_velocity", shape.n_outputs);
  const TracedModel traced(p, model, parameters);
  const StageInputs<const Expr*> in{q.data(),     v.data(),        act.data(),    ui.data(),
                                    vi.data(),    rate.data(),     a.data(),      sum_u.data(),
                                    sum_a.data(), sum_rate.data(), length.data(), velocity.data()};
  Numbers q_next(q.size()), v_next(v.size()), act_next(act.size()), u(v.size()), u_sum(v.size()), a_sum(v.size()),
      rate_sum(rate.size());
  const StageOutputs<Expr*> to{q_next.data(), v_next.data(), act_next.data(), u.data(),
                               u_sum.data(),  a_sum.data(),  rate_sum.data()};
  runge_kutta_stage<Expr>(traced.model(), traced.model().world, i, in, to);
  const auto name = [&](const char* of) { return of + std::string(i == 3 ? "_next" : "_i_next"); };
  p.output(name("q"), q_next), p.output(name("v"), v_next), p.output(name("act"), act_next);
  if (i == 3) return p;
  p.output("u_i_next", u);
  p.output("sum_u_next", u_sum), p.output("sum_a_next", a_sum), p.output("sum_rate_next", rate_sum);
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

std::vector<Frame<Expr>> zone_frames(const World<Expr>& w, const std::vector<int>& sensors) {
  std::vector<Frame<Expr>> all;
  for (const int i : sensors) all.push_back(w.sensor[static_cast<std::size_t>(i)].place);
  return all;
}

RowPattern constraint_pattern(const World<Expr>& w, int nv, const Expr* J) {
  RowPattern p;
  const std::vector<RowBlock> blocks = row_blocks(w);
  for (int i = 0; i < rows_of(w.constraints); i++) {
    std::vector<int> column;
    for (int k = 0; k < nv; k++)
      if (lane(J[i * nv + k], 0) != 0) column.push_back(k);  // NaN for values that are not constant
    p.add(blocks[static_cast<std::size_t>(i)].kind, 1, column);
  }
  return p;
}

void check_branches(const Model<Expr>& m, const std::vector<Expr>& act, const std::vector<Expr>& ctrl,
                    const Smooth<Expr>& s) {
  const World<Expr>& w = m.world;
  LengthSlopes<Expr> slopes(w);
  length_slopes(m, w, act.data(), ctrl.data(), s, slopes);
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
                             const Parameters& parameters, const RigidLaw<double>* rigid,
                             const std::vector<int>& zones) {
  if (!model.world.is_given()) throw Error("the robot has no world, expected one of an MJCF file");
  const Integrator integrator = model.world.integrator;
  WorldPrograms out;
  for (Program* p : {&out.equations, &out.newton, &out.advance}) p->graph.limit(most);
  if (rigid && integrator == Integrator::RungeKutta)
    throw Error(
        "the rigid law finds velocities at the end of a step: RK4 is not supported, expected another integrator");
  if (rigid && candidates == Candidates::All)
    throw Error("the rigid law is not supported with the rows of all candidates");
  if (model.world.no_slip.iterations > 0 && !rigid && candidates == Candidates::All)
    throw Error(
        "option noslip_iterations is " + std::to_string(model.world.no_slip.iterations) +
        ": programs with the rows of all candidates have no sweeps, expected 0, or a solver that finds contacts");
  trace_equations(model, parameters, candidates == Candidates::All, rigid, zones, out);
  if (candidates == Candidates::All) trace_newton(model, tolerance, out);
  if (model.world.integrator == Integrator::RungeKutta)
    for (int i = 0; i < 4; i++) out.stages.push_back(trace_stage(model, parameters, i));
  else trace_advance(model, parameters, candidates, out);
  return out;
}

}  // namespace featherstorm
