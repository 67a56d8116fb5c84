#include "host/simulation/world_sequence.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/mujoco/constrained.h"
#include "host/solver/contact_solver.h"
#include "host/trace/world_programs.h"

namespace featherstorm {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Names = std::map<std::string, std::string>;

// Where a stage finds the state that a program calls q, v and act.
void rename(std::vector<std::string>& arrays, const Names& other) {
  for (std::string& name : arrays)
    if (const auto at = other.find(name); at != other.end()) name = at->second;
}

void append_felt(Sequence& s, Evaluator& e, Precision precision, const Program& felt, const Names& other) {
  std::vector<std::string> in;
  for (const OpRow::Argument& a : e.op("contacts").in) in.emplace_back(a.name);
  rename(in, other);
  for (const Program::Array& a : felt.inputs)
    if (a.name == "contact_dist")
      s.stage(stage_of(e, "contacts", precision, in, {"contact_dist", "contact_pos", "contact_frame"}));
  Stage stage = stage_of(e, precision, felt);
  rename(stage.in, other);
  stage.name = "felt";
  s.stage(stage);
}

}  // namespace

bool all_by_closed_forms(const Model<double>& m) {
  const GeomContacts<double>& c = m.world.contacts;
  return std::all_of(c.pair.begin(), c.pair.end(), [&](const ContactPair<double>& p) {
    return has_closed_form(c.geom[static_cast<std::size_t>(p.geom[0])].type,
                           c.geom[static_cast<std::size_t>(p.geom[1])].type);
  });
}
bool few_candidates(const Model<double>& m) {
  return all_by_closed_forms(m) && rows_of(m.world) <= few_rows && m.world.no_slip.iterations == 0;
}

Sequence world_sequence(Evaluator& e, Precision precision, const SolverOptions& options) {
  Sequence s(precision, e.threads(), e.isa());
  append_world_step(s, e, precision, options, [](int) {}, 1, {});
  return s;
}

void append_world_step(Sequence& s, Evaluator& e, Precision precision, const SolverOptions& options,
                       const std::function<void(int pass)>& begin, int substeps, const Program& felt,
                       const Program& left) {
  if (options.iterations < 1)
    throw Error("iterations is " + std::to_string(options.iterations) + ", expected 1 or more");
  const Model<double>& m = e.robot().model;
  const int contacts = rows_of(m.world.contacts);
  const bool all_candidates = options.all_candidates;
  const Parameters parameters(e.robot(), e.parameters());
  WorldPrograms all;
  try {
    all = world_programs(m, all_candidates ? Candidates::All : Candidates::None, options.tolerance, 1 << 22, parameters,
                         options.rigid ? &*options.rigid : nullptr);
  } catch (const std::length_error& error) {
    throw Error("robot '" + e.robot().name + "' has no step of its own: " + error.what());
  }
  for (const char* name : {"q", "q_next"}) s.array(name, m.nq);
  for (const char* name : {"v", "v_next", "qacc", "qacc_next", "qfrc_applied", "qfrc_constraint", "b", "qacc_smooth"})
    s.array(name, m.nv);
  for (const char* name : {"act", "act_next", "act_dot"}) s.array(name, m.world.na);
  for (const char* name : {"actuator_length", "actuator_velocity"}) s.array(name, m.world.n_outputs);
  for (const char* name : {"row_D", "row_aref", "row_friction"}) s.array(name, all.rows.rows());
  for (const char* name : {"row_force", "row_force_next"}) s.array(name, rows_of(m.world.constraints));
  const bool forces = options.forces || all_candidates;
  for (const char* name : {"contact_force", "contact_force_next"}) s.array(name, forces ? contacts : 0);
  s.array("mass", m.nh), s.array("factor", m.nh), s.array("damping", all.slopes);
  for (const char* name : {"more", "more_next", "passes", "passes_next", "residual", "gap", "rows"}) s.array(name, 1);
  if (!all_candidates) s.order_by("rows");
  s.array("ctrl", m.world.nu), s.array("xfrc_applied", 6L * m.world.n_links());
  s.array("jacobian", all.rows.entries());
  s.array("placement", contacts == 0 ? 0 : 12L * (m.nb + 1)), s.array("twist", contacts == 0 ? 0 : 6L * (m.nb + 1));
  s.array("axis", contacts == 0 ? 0 : 6L * m.nv), s.array("touch", all.touch.size);
  const long alone = static_cast<long>(all.alone.size());
  s.array("weights", all.weights), s.array("turning", 7 * alone), s.array("touched", all_candidates ? 0 : alone);
  for (const Parameters::Array& a : parameters.arrays()) s.array(std::string(a.name), a.components);

  for (const Program* p : {&felt, &left}) {
    for (const Program::Array& a : p->outputs) s.array(a.name, a.size);
    for (const Program::Array& a : p->inputs)
      if (a.name.starts_with("contact_") && s.components(a.name) < 0) s.array(a.name, a.size);
  }

  // What a program calls q, v and act may be the state at a stage of Runge-Kutta's method.
  std::vector<Stage> pass;
  const auto add = [&](const std::string& called, const Program& p, const Names& other, const Pairs& swaps,
                       bool repeated = false) {
    Stage stage = stage_of(e, precision, p);
    stage.name = called;
    rename(stage.in, other);
    stage.swaps = swaps;
    if (repeated) stage.repeat = options.iterations, stage.needed = "more";
    pass.push_back(shared(stage));
  };
  const Pairs solved = {{"qacc", "qacc_next"},
                        {"more", "more_next"},
                        {"passes", "passes_next"},
                        {"row_force", "row_force_next"},
                        {"contact_force", "contact_force_next"}};
  const auto solve = [&] {
    if (all_candidates) return add("solver", all.newton, {}, solved, true);
    const auto solver = std::make_shared<const ContactSolverStage>(
        contact_solver(m, all, precision, e.isa(),
                       {options.iterations, options.tolerance, options.rigid, options.report, options.forces}));
    Stage stage{[solver] { return solver->kernel; }, solver->in, solver->out, {{"qacc", "qacc_next"}}};
    stage.name = "solver", stage.on_device = solver->on_device;
    pass.push_back(std::move(stage));
  };
  const Pairs state = {{"q", "q_next"}, {"v", "v_next"}, {"act", "act_next"}};
  std::size_t solved_at = 0, left_at = 0;  // stages of a pass until its first and its last solution
  Names left_of;                           // where the state of the last one is
  const auto append_passes = [&] {
    for (int k = 0; k < substeps; k++) {
      begin(k);
      for (std::size_t i = 0; i < pass.size(); i++) {
        s.stage(pass[i]);
        if (k + 1 < substeps) continue;
        if (i + 1 == solved_at && !felt.outputs.empty()) append_felt(s, e, precision, felt, {});
        if (i + 1 == left_at && !left.outputs.empty()) append_felt(s, e, precision, left, left_of);
      }
    }
  };
  if (all.stages.empty()) {
    add("equations", all.equations, {}, {});
    solve();
    solved_at = left_at = pass.size();
    Pairs moved = state;
    if (alone > 0) moved.emplace_back("qacc", "qacc_next");
    add("advance", all.advance, {}, moved);
    return append_passes();
  }
  for (const char* name : {"q_i", "q_i_next"}) s.array(name, m.nq);
  for (const char* name : {"v_i", "v_i_next", "u_i", "u_i_next", "sum_u", "sum_u_next", "sum_a", "sum_a_next"})
    s.array(name, m.nv);
  for (const char* name : {"act_i", "act_i_next", "sum_rate", "sum_rate_next"}) s.array(name, m.world.na);
  const Pairs stage_state = {{"q_i", "q_i_next"},          {"v_i", "v_i_next"},     {"act_i", "act_i_next"},
                             {"u_i", "u_i_next"},          {"sum_u", "sum_u_next"}, {"sum_a", "sum_a_next"},
                             {"sum_rate", "sum_rate_next"}};
  left_of = {{"q", "q_i"}, {"v", "v_i"}, {"act", "act_i"}};
  for (int i = 0; i < 4; i++) {
    add("equations", all.equations, i == 0 ? Names{} : left_of, {});
    solve();
    if (i == 0) solved_at = pass.size();
    left_at = pass.size();
    add("advance", all.stages[static_cast<std::size_t>(i)], i == 0 ? Names{{"v_i", "v"}} : Names{},
        i == 3 ? state : stage_state);
  }
  append_passes();
}

}  // namespace featherstorm
