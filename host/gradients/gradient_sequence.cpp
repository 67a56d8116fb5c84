#include "host/gradients/gradient_sequence.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/mujoco/constrained.h"
#include "host/gradients/world_gradients.h"
#include "host/solver/contact_solver.h"

namespace featherstorm {
namespace {

using Names = std::map<std::string, std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

class Stages {
 public:
  Stages(Sequence& s, const Evaluator& e, Precision precision) : s_(s), e_(e), precision_(precision) {}

  // Add program p as a stage, and declare its arrays that the sequence does not have yet. other: the array of the
  // sequence that replaces an input or output of the program.
  void add(const std::string& called, const Program& p, const Names& other = {}, const Pairs& swaps = {},
           int repeat = 1) {
    Stage stage = stage_of(e_, precision_, p);
    stage.name = called, stage.swaps = swaps, stage.repeat = repeat;
    if (repeat > 1) stage.needed = "more";
    const auto rename = [&](std::vector<std::string>& names, const std::vector<Program::Array>& arrays) {
      for (std::size_t k = 0; k < names.size(); k++) {
        if (const auto at = other.find(names[k]); at != other.end()) names[k] = at->second;
        if (s_.components(names[k]) < 0) s_.array(names[k], arrays[k].size);
      }
    };
    rename(stage.in, p.inputs), rename(stage.out, p.outputs);
    s_.stage(stage);
  }

 private:
  Sequence& s_;
  const Evaluator& e_;
  Precision precision_;
};

// The name of stage i's own copy of an array that the programs of all stages call by one name.
std::string numbered(const std::string& name, int i) { return name + "_" + std::to_string(i); }

Program copy_of_solution(int nv) {
  Program p;
  const std::vector<Expr> a = p.input("qacc", nv);
  Tracing scope(p.graph);
  p.output("kept", a);
  return p;
}

// The contact solver as a stage. other: the array of the sequence that replaces an input or output of the algorithm.
Stage solver_stage(const Evaluator& e, const WorldPrograms& step, Precision precision,
                   const ContactSolverOptions& options, SolverAlgorithm text, const std::string& called,
                   const Names& other) {
  const ContactSolverStage found = contact_solver(e.robot().model, step, precision, e.isa(), options, text);
  Stage stage{[kernel = found.kernel] { return kernel; }, found.in, found.out};
  for (std::string& name : stage.in)
    if (const auto at = other.find(name); at != other.end()) name = at->second;
  stage.name = called, stage.on_device = found.on_device;
  return stage;
}

void check(const Evaluator& e, const SolverOptions& options) {
  const Model<double>& m = e.robot().model;
  if (options.iterations < 1)
    throw Error("iterations is " + std::to_string(options.iterations) + ", expected 1 or more");
  if (options.rigid) throw Error("steps of the rigid law have no derivatives, expected MuJoCo's law");
  if (!m.world.is_given()) throw Error("the robot has no world, expected one of an MJCF file");
  if (const std::string why = no_derivatives(m.world, options.all_candidates); !why.empty()) throw Error(why);
}

}  // namespace

bool derives_all_candidates(const Model<double>& m, bool on_device) {
  constexpr int few_rows_of_contacts = 48;
  if (on_device) return few_candidates(m);
  return all_by_closed_forms(m) && rows_of(m.world.contacts) <= few_rows_of_contacts;
}

Sequence gradient_sequence(Evaluator& e, Precision precision, Derivative derivative, const SolverOptions& options,
                           bool is_solved) {
  check(e, options);
  const bool reverse = derivative == Derivative::vjp;
  const bool all = options.all_candidates;
  const Candidates candidates = all ? Candidates::All : Candidates::None;
  const Model<double>& m = e.robot().model;
  const Parameters parameters(e.robot(), e.parameters());
  constexpr int most = 1 << 22;
  WorldPrograms step;
  WorldGradients gradients;
  try {
    step = world_programs(m, candidates, options.tolerance, most, parameters);
    gradients = world_gradients(m, step, derivative, candidates, most, parameters);
  } catch (const std::length_error& error) {
    throw Error("robot '" + e.robot().name + "' has no derivatives of its step: " + error.what());
  }

  Sequence s(precision, e.threads(), e.isa());
  Stages stages(s, e, precision);
  for (const char* name :
       {"more", "more_next", "passes", "passes_next", "residual", "gap", "rows", "order_key", "searches"})
    s.array(name, 1);
  for (const char* name : {"row_force", "row_force_next"}) s.array(name, rows_of(m.world.constraints));
  for (const char* name : {"contact_force", "contact_force_next"}) s.array(name, all ? rows_of(m.world.contacts) : 0);
  for (const char* name : {"qacc", "qacc_next", "qacc_bar", "qacc_tan"}) s.array(name, m.nv);
  const long moving = m.world.contacts.pair.empty() ? 0 : 6L * (m.nb + 1);
  for (const char* name : {"contact_count", "contact_link", "contact_sensor", "contact_selection"}) s.array(name, 0);
  s.array("lambda", m.nv), s.array("touched", 0), s.array("touch_bar", step.touch.size);
  for (const char* name : {"pose_bar", "lambda_motion_bar", "qacc_motion_bar", "twist_bar"}) s.array(name, moving);
  const Pairs solved = {{"qacc", "qacc_next"},
                        {"more", "more_next"},
                        {"passes", "passes_next"},
                        {"row_force", "row_force_next"},
                        {"contact_force", "contact_force_next"}};
  const bool stepwise = !step.stages.empty();
  const ContactSolverOptions solver_options{options.iterations, options.tolerance, {}, false, false};
  // the outputs of stage i's equations that the reverse sweep reads again, under names of their own
  const auto equations_at = [&](int i) {
    Names names;
    for (const Program::Array& a : step.equations.outputs)
      if (stepwise && reverse && a.name != "more" && a.name != "passes") names[a.name] = numbered(a.name, i);
    return names;
  };
  const auto solve = [&](int i, const Names& at) {
    const Names kept = equations_at(i);
    Names other = kept;
    other.insert(at.begin(), at.end());
    stages.add("equations", step.equations, other);
    if (is_solved && !stepwise) return;
    if (all) return stages.add("solver", step.newton, kept, solved, std::max(options.iterations, 2));
    Stage stage = solver_stage(e, step, precision, solver_options, SolverAlgorithm::solution, "solver", kept);
    stage.swaps = {{"qacc", "qacc_next"}};
    s.stage(stage);
  };
  // cotangents of the inputs of stage i, or tangents of its outputs
  const auto differentiate = [&](int i, const Names& at, const Pairs& swaps) {
    const std::size_t k = static_cast<std::size_t>(i);
    if (all) return stages.add("derivatives", gradients.steps[k], at, swaps);
    Names other = equations_at(i);
    other.insert(at.begin(), at.end());
    stages.add("before", gradients.before[k], other);
    s.stage(solver_stage(e, step, precision, solver_options,
                         reverse ? SolverAlgorithm::gradients : SolverAlgorithm::tangents, "contacts", other));
    stages.add("after", gradients.after[k], other, swaps);
  };
  if (!stepwise) {
    if (!all || !is_solved) solve(0, {});
    differentiate(0, {}, {});
    return s;
  }

  const std::vector<std::string> handed = {"q_i", "v_i", "act_i", "u_i", "sum_u", "sum_a", "sum_rate"};
  // the arrays that stage i reads from the stage before it, or writes for the next (suffix "_next")
  const auto handed_at = [&](int i, const std::string& suffix) {
    Names names;
    for (const std::string& name : handed) names[name + suffix] = numbered(name, i);
    if (i == 0) names["v_i"] = "v";
    return names;
  };
  const auto state_at = [&](int i) {
    return i == 0 ? Names{}
                  : Names{{"q", numbered("q_i", i)}, {"v", numbered("v_i", i)}, {"act", numbered("act_i", i)}};
  };
  const auto declare = [&](const std::string& name, int size) {
    if (s.components(name) < 0) s.array(name, size);
  };
  const Program kept = copy_of_solution(m.nv);
  for (int i = 0; i < 4; i++) {
    solve(i, state_at(i));
    if (reverse) {
      stages.add("kept", kept, {{"kept", numbered("qacc", i)}});
    } else {
      Pairs swaps;
      for (const Program::Array& a : (all ? gradients.steps : gradients.after)[static_cast<std::size_t>(i)].outputs)
        if (a.name.ends_with("_next_tan") && i < 3) {
          const std::string as_read = a.name.substr(0, a.name.size() - 9) + "_tan";
          declare(as_read, a.size), swaps.emplace_back(as_read, a.name);
        }
      differentiate(i, handed_at(i, ""), swaps);
    }
    if (i == 3) break;
    Names other = handed_at(i, "");
    other.merge(handed_at(i + 1, "_next"));
    other.merge(equations_at(i));
    stages.add("stage", step.stages[static_cast<std::size_t>(i)], other);
  }
  for (int i = 3; i >= 0 && reverse; i--) {
    const std::size_t k = static_cast<std::size_t>(i);
    Names other = handed_at(i, "");
    other["qacc"] = numbered("qacc", i);
    Pairs swaps;
    for (const Program::Array& a : (all ? gradients.steps : gradients.after)[k].outputs) {
      // sums keep their own names; other cotangents become the "_next_bar" inputs of the stage before
      const std::string of = a.name.substr(0, a.name.find("_bar"));
      const bool is_sum = a.name.ends_with("_bar_next");
      if (!is_sum && std::find(handed.begin(), handed.end(), of) == handed.end()) continue;
      const std::string as_read = is_sum ? of + "_bar" : of + "_next_bar";
      declare(as_read, a.size), declare(a.name, a.size), swaps.emplace_back(as_read, a.name);
    }
    differentiate(i, other, swaps);
  }
  return s;
}

}  // namespace featherstorm
