#include "host/simulation/world_sequence.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/mujoco/constrained.h"
#include "host/simulation/contact_readings.h"
#include "host/simulation/world_stages.h"
#include "host/solver/contact_solver.h"
#include "host/trace/world_programs.h"

namespace featherstorm {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Names = std::map<std::string, std::string>;

// Replace the names q, v and act of a program's arrays by those of the state at a stage.
void rename(std::vector<std::string>& arrays, const Names& other) {
  for (std::string& name : arrays)
    if (const auto at = other.find(name); at != other.end()) name = at->second;
}

// Append the programs that read the solution, in order, at the state that `other` names.
void append_readers(Sequence& s, Evaluator& e, Precision precision, const std::vector<Program>& readers,
                    const Names& other) {
  for (const Program& reader : readers) {
    Stage stage = stage_of(e, precision, reader);
    rename(stage.in, other);
    stage.name = "at_solve";
    s.stage(stage);
  }
}

}  // namespace

bool all_by_closed_forms(const Model<double>& m) {
  const GeomContacts<double>& c = m.world.contacts;
  return std::all_of(c.pair.begin(), c.pair.end(), [&](const ContactPair<double>& p) { return has_closed_form(c, p); });
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
                       const std::function<void(int pass)>& begin, int substeps, const Program& at_solve,
                       const Program& at_last_stage) {
  if (options.iterations < 1)
    throw Error("iterations is " + std::to_string(options.iterations) + ", expected 1 or more");
  const Model<double>& m = e.robot().model;
  const int contacts = rows_of(m.world.contacts);
  const bool all_candidates = options.all_candidates;
  const Parameters parameters(e.robot(), e.parameters());
  const RigidLaw<double>* const rigid = options.rigid ? &*options.rigid : nullptr;
  std::set<std::string> names = options.readings;
  for (const Program* p : {&at_solve, &at_last_stage})
    for (const Program::Array& a : p->inputs)
      if (is_contact_reading(a.name)) names.insert(a.name);
  if (all_candidates && !names.empty())
    throw Error("contact readings are requested from a step with all candidates, expected a step that finds contacts");
  const AskedReadings asked = asked_readings(e.robot(), names);
  WorldPrograms programs;
  std::optional<WorldStages> as_data;  // replaces the programs if they are too long
  try {
    const int most = all_candidates ? 1 << 22 : options.most_traced;
    programs = world_programs(m, all_candidates ? Candidates::All : Candidates::None, options.tolerance, most,
                              parameters, rigid, asked.zones());
  } catch (const std::length_error& error) {
    if (all_candidates) throw Error("robot '" + e.robot().name + "' has no step of its own: " + error.what());
    as_data = world_stages(m, parameters, rigid, asked.zones(), precision, e.isa(), error.what());
  }
  const WorldPrograms& all = as_data ? as_data->form : programs;
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
  for (const char* name :
       {"more", "more_next", "passes", "passes_next", "residual", "gap", "rows", "order_key", "searches"})
    s.array(name, 1);
  if (!all_candidates) s.order_by("order_key");
  s.array("ctrl", m.world.nu), s.array("xfrc_applied", 6L * m.world.n_links());
  s.array("jacobian", all.rows.entries());
  s.array("placement", contacts == 0 ? 0 : 12L * (m.nb + 1)), s.array("twist", contacts == 0 ? 0 : 6L * (m.nb + 1));
  s.array("axis", contacts == 0 ? 0 : 6L * m.nv), s.array("touch", all.touch.size);
  const long alone = static_cast<long>(all.alone.size());
  s.array("weights", all.weights), s.array("turning", 7 * alone), s.array("touched", all_candidates ? 0 : alone);
  for (const Parameters::Array& a : parameters.arrays()) s.array(std::string(a.name), a.components);
  if (as_data) s.array("model_numbers", as_data->model_numbers);

  for (const auto& [name, size] : asked.arrays) s.array(name, size);
  if (!all_candidates) {
    for (const char* name : {"contact_count", "contact_link", "contact_sensor"})
      if (!names.contains(name)) s.array(name, 0);
    s.array("contact_selection", selection_numbers * asked.readings.selections);
    s.array("contact_zones", static_cast<long>(zone_numbers * asked.readings.zone.size()));
  }
  for (const Program* p : {&at_solve, &at_last_stage})
    for (const Program::Array& a : p->outputs) s.array(a.name, a.size);

  // The arrays that a program calls q, v and act may be the state at a stage of Runge-Kutta's method.
  std::vector<Stage> pass;
  const auto add = [&](const std::string& called, Stage stage, const Names& other, const Pairs& swaps,
                       bool repeated = false) {
    stage.name = called;
    rename(stage.in, other);
    stage.swaps = swaps;
    if (repeated) stage.repeat = options.iterations, stage.needed = "more";
    pass.push_back(std::move(stage));
  };
  const auto made_of = [&](const Program& p) { return shared(stage_of(e, precision, p)); };
  if (as_data && as_data->numbers) add("numbers", made_of(*as_data->numbers), {}, {});
  const Stage of_equations = as_data ? as_data->equations : made_of(all.equations);  // made once for all of its uses
  const auto add_equations = [&](const Names& other) { add("equations", of_equations, other, {}); };
  const Pairs solved = {{"qacc", "qacc_next"},
                        {"more", "more_next"},
                        {"passes", "passes_next"},
                        {"row_force", "row_force_next"},
                        {"contact_force", "contact_force_next"}};
  std::optional<Stage> of_solver;  // made once, like the equations
  const auto solve = [&] {
    if (all_candidates) return add("solver", made_of(all.newton), {}, solved, true);
    if (!of_solver) {
      const auto solver = std::make_shared<const ContactSolverStage>(contact_solver(
          m, all, precision, e.isa(),
          {options.iterations, options.tolerance, options.rigid, options.report, options.forces, asked.readings}));
      of_solver = Stage{[solver] { return solver->kernel; }, solver->in, solver->out};
      of_solver->on_device = solver->on_device;
    }
    add("solver", *of_solver, {}, {{"qacc", "qacc_next"}});
  };
  const auto readers = [&](const Program& last) {
    std::vector<Program> all_of;
    const bool reads = std::any_of(last.inputs.begin(), last.inputs.end(),
                                   [](const Program::Array& a) { return is_contact_reading(a.name); });
    if (reads && !asked.selections.empty()) all_of.push_back(split_selections(asked));
    all_of.push_back(last);
    return all_of;
  };
  const Pairs state = {{"q", "q_next"}, {"v", "v_next"}, {"act", "act_next"}};
  std::size_t solved_at = 0, last_solved_at = 0;  // number of stages in a substep up to its first and its last solution
  Names last_stage_of;                            // names of the state at the last solution
  const auto append_passes = [&] {
    for (int k = 0; k < substeps; k++) {
      begin(k);
      for (std::size_t i = 0; i < pass.size(); i++) {
        s.stage(pass[i]);
        if (k + 1 < substeps) continue;
        if (i + 1 == solved_at && !at_solve.outputs.empty()) append_readers(s, e, precision, readers(at_solve), {});
        if (i + 1 == last_solved_at && !at_last_stage.outputs.empty())
          append_readers(s, e, precision, readers(at_last_stage), last_stage_of);
      }
    }
  };
  if (m.world.integrator != Integrator::RungeKutta) {
    add_equations({});
    solve();
    solved_at = last_solved_at = pass.size();
    Pairs moved = state;
    if (alone > 0) moved.emplace_back("qacc", "qacc_next");
    add("advance", as_data ? as_data->advance : made_of(all.advance), {}, moved);
    return append_passes();
  }
  for (const char* name : {"q_i", "q_i_next"}) s.array(name, m.nq);
  for (const char* name : {"v_i", "v_i_next", "u_i", "u_i_next", "sum_u", "sum_u_next", "sum_a", "sum_a_next"})
    s.array(name, m.nv);
  for (const char* name : {"act_i", "act_i_next", "sum_rate", "sum_rate_next"}) s.array(name, m.world.na);
  const Pairs stage_state = {{"q_i", "q_i_next"},          {"v_i", "v_i_next"},     {"act_i", "act_i_next"},
                             {"u_i", "u_i_next"},          {"sum_u", "sum_u_next"}, {"sum_a", "sum_a_next"},
                             {"sum_rate", "sum_rate_next"}};
  last_stage_of = {{"q", "q_i"}, {"v", "v_i"}, {"act", "act_i"}};
  for (int i = 0; i < 4; i++) {
    add_equations(i == 0 ? Names{} : last_stage_of);
    solve();
    if (i == 0) solved_at = pass.size();
    last_solved_at = pass.size();
    const std::size_t k = static_cast<std::size_t>(i);
    add("advance", as_data ? as_data->stages[k] : made_of(all.stages[k]), i == 0 ? Names{{"v_i", "v"}} : Names{},
        i == 3 ? state : stage_state);
  }
  append_passes();
}

}  // namespace featherstorm
