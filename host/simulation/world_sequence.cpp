#include "host/simulation/world_sequence.h"

#include <map>
#include <stdexcept>

#include "core/mujoco/constrained.h"
#include "host/solver/contact_solver.h"
#include "host/trace/world_programs.h"

namespace featherstorm {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Names = std::map<std::string, std::string>;

}  // namespace

Sequence world_sequence(Evaluator& e, Precision precision, const SolverOptions& options) {
  if (options.iterations < 1)
    throw Error("iterations is " + std::to_string(options.iterations) + ", expected 1 or more");
  const Model<double>& m = e.robot().model;
  const int contacts = rows_of(m.world.contacts);
  const bool all_candidates = options.all_candidates;
  WorldPrograms all;
  try {
    all = world_programs(m, all_candidates ? Candidates::All : Candidates::None, options.tolerance, 1 << 22);
  } catch (const std::length_error&) {
    throw Error("robot '" + e.robot().name + "' is too large for a step of its own");
  }
  Sequence s(precision, e.threads(), e.isa());
  for (const char* name : {"q", "q_next"}) s.array(name, m.nq);
  for (const char* name : {"v", "v_next", "qacc", "qacc_next", "qfrc_applied", "qfrc_constraint", "b"})
    s.array(name, m.nv);
  for (const char* name : {"act", "act_next", "act_dot"}) s.array(name, m.world.na);
  for (const char* name : {"actuator_length", "actuator_velocity"}) s.array(name, m.world.n_outputs);
  for (const char* name : {"row_D", "row_aref", "row_friction"}) s.array(name, all.rows.rows());
  for (const char* name : {"row_force", "row_force_next"}) s.array(name, rows_of(m.world.constraints));
  for (const char* name : {"contact_force", "contact_force_next"}) s.array(name, contacts);
  for (const char* name : {"mass", "damping"}) s.array(name, m.nh);
  for (const char* name : {"more", "more_next", "passes", "passes_next"}) s.array(name, 1);
  s.array("ctrl", m.world.nu), s.array("xfrc_applied", 6L * m.world.n_links());
  s.array("jacobian", all.rows.entries());
  s.array("placement", contacts == 0 ? 0 : 12L * (m.nb + 1)), s.array("twist", contacts == 0 ? 0 : 6L * (m.nb + 1));
  s.array("axis", contacts == 0 ? 0 : 6L * m.nv);

  // What a program calls q, v and act may be the state at a stage of Runge-Kutta's method.
  const auto add = [&](const Program& p, const Names& other, const Pairs& swaps, bool repeated = false) {
    Stage stage = stage_of(e, precision, p);
    for (std::string& name : stage.in)
      if (const auto at = other.find(name); at != other.end()) name = at->second;
    stage.swaps = swaps;
    if (repeated) stage.repeat = options.iterations, stage.needed = "more";
    s.stage(stage);
  };
  const Pairs solved = {{"qacc", "qacc_next"},
                        {"more", "more_next"},
                        {"passes", "passes_next"},
                        {"row_force", "row_force_next"},
                        {"contact_force", "contact_force_next"}};
  const auto solve = [&] {
    if (all_candidates) return add(all.newton, {}, solved, true);
    const auto kernel = std::make_shared<const BoundKernel>(
        contact_solver(m, all, precision, e.isa(), {options.iterations, options.tolerance, e.assembles()}));
    s.stage({[kernel] { return *kernel; }, contact_solver_in, contact_solver_out, {{"qacc", "qacc_next"}}});
  };
  const Pairs state = {{"q", "q_next"}, {"v", "v_next"}, {"act", "act_next"}};
  if (all.stages.empty()) {
    add(all.equations, {}, {});
    solve();
    add(all.advance, {}, state);
    return s;
  }
  for (const char* name : {"q_i", "q_i_next"}) s.array(name, m.nq);
  for (const char* name : {"v_i", "v_i_next", "u_i", "u_i_next", "sum_u", "sum_u_next", "sum_a", "sum_a_next"})
    s.array(name, m.nv);
  for (const char* name : {"act_i", "act_i_next", "sum_rate", "sum_rate_next"}) s.array(name, m.world.na);
  const Pairs stage_state = {{"q_i", "q_i_next"},          {"v_i", "v_i_next"},     {"act_i", "act_i_next"},
                             {"u_i", "u_i_next"},          {"sum_u", "sum_u_next"}, {"sum_a", "sum_a_next"},
                             {"sum_rate", "sum_rate_next"}};
  for (int i = 0; i < 4; i++) {
    add(all.equations, i == 0 ? Names{} : Names{{"q", "q_i"}, {"v", "v_i"}, {"act", "act_i"}}, {});
    solve();
    add(all.stages[static_cast<std::size_t>(i)], i == 0 ? Names{{"v_i", "v"}} : Names{}, i == 3 ? state : stage_state);
  }
  return s;
}

}  // namespace featherstorm
