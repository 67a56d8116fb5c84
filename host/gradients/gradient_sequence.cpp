#include "host/gradients/gradient_sequence.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "core/mujoco/constrained.h"
#include "host/gradients/world_gradients.h"

namespace featherstorm {
namespace {

using Names = std::map<std::string, std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// Rows of all candidates and constraints that programs are made for; a step's derivatives take some thousand operations a contact.
constexpr int most_traced_rows = 400;

class Stages {
 public:
  Stages(Sequence& s, const Evaluator& e, Precision precision) : s_(s), e_(e), precision_(precision) {}

  // other: which array stands for an input or output of the program. All that is not there yet is declared.
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

// The array of stage i for what programs of all stages call by one name.
std::string numbered(const std::string& name, int i) { return name + "_" + std::to_string(i); }

Program copy_of_solution(int nv) {
  Program p;
  const std::vector<Expr> a = p.input("qacc", nv);
  Tracing scope(p.graph);
  p.output("kept", a);
  return p;
}

}  // namespace

Sequence gradient_sequence(Evaluator& e, Precision precision, Derivative derivative, const SolverOptions& options,
                           bool is_solved) {
  if (options.iterations < 1)
    throw Error("iterations is " + std::to_string(options.iterations) + ", expected 1 or more");
  if (options.rigid) throw Error("steps of the rigid law have no derivatives, expected MuJoCo's law");
  const Model<double>& m = e.robot().model;
  if (!m.world.is_given()) throw Error("the robot has no world, expected one of an MJCF file");
  if (rows_of(m.world) > most_traced_rows)
    throw Error("robot '" + e.robot().name + "' has " + std::to_string(rows_of(m.world)) +
                " rows of constraints and of candidates of contacts, expected at most " +
                std::to_string(most_traced_rows) + " for derivatives of its step");
  const Parameters parameters(e.robot(), e.parameters());
  constexpr int most = 1 << 22;
  WorldPrograms step;
  WorldGradients gradients;
  try {
    step = world_programs(m, Candidates::All, options.tolerance, most, parameters);
    gradients = world_gradients(m, step, derivative, most, parameters);
  } catch (const std::length_error& error) {
    throw Error("robot '" + e.robot().name + "' has no derivatives of its step: " + error.what());
  }
  Sequence s(precision, e.threads(), e.isa());
  Stages stages(s, e, precision);
  const Pairs solved = {{"qacc", "qacc_next"},
                        {"more", "more_next"},
                        {"passes", "passes_next"},
                        {"row_force", "row_force_next"},
                        {"contact_force", "contact_force_next"}};
  for (const char* name : {"row_force", "contact_force"})
    for (const Program::Array& a : step.newton.outputs)
      if (a.name == std::string(name) + "_next") s.array(name, a.size);
  const auto solve = [&](const Names& at) {
    stages.add("equations", step.equations, at);
    stages.add("solver", step.newton, {}, solved, options.iterations > 1 ? options.iterations : 2);
  };
  if (step.stages.empty()) {
    if (!is_solved) solve({});
    stages.add("derivatives", gradients.steps[0]);
    return s;
  }

  const bool reverse = derivative == Derivative::vjp;
  const std::vector<std::string> handed = {"q_i", "v_i", "act_i", "u_i", "sum_u", "sum_a", "sum_rate"};
  // where stage i finds what was handed to it, and what it hands on
  const auto handed_at = [&](int i, const std::string& suffix, int of) {
    Names names;
    for (const std::string& name : handed) names[name + suffix] = numbered(name, of);
    if (i == 0) names["v_i" + suffix] = suffix.empty() ? "v" : numbered("v_i", of);
    return names;
  };
  const auto state_at = [&](int i) {
    return i == 0 ? Names{} : Names{{"q", numbered("q_i", i)}, {"v", numbered("v_i", i)}, {"act", numbered("act_i", i)}};
  };
  const Program kept = copy_of_solution(m.nv);
  for (int i = 0; i < 4; i++) {
    solve(state_at(i));
    if (reverse) stages.add("kept", kept, {{"kept", numbered("qacc", i)}});
    if (!reverse) {
      Pairs swaps;
      for (const std::string& name : handed)
        if (i < 3) swaps.emplace_back(name + "_tan", name + "_next_tan");
      for (const std::string& name : handed)
        for (const Program::Array& a : gradients.steps[static_cast<std::size_t>(i)].outputs)
          if (a.name == name + "_next_tan" && s.components(name + "_tan") < 0) s.array(name + "_tan", a.size);
      stages.add("derivatives", gradients.steps[static_cast<std::size_t>(i)], handed_at(i, "", i), swaps);
    }
    if (i == 3) break;
    Names other = handed_at(i, "", i);
    other.merge(handed_at(i + 1, "_next", i + 1));
    stages.add("stage", step.stages[static_cast<std::size_t>(i)], other);
  }
  for (int i = 3; i >= 0 && reverse; i--) {
    const Program& p = gradients.steps[static_cast<std::size_t>(i)];
    Names other = handed_at(i, "", i);
    other["qacc"] = numbered("qacc", i);
    Pairs swaps;
    for (const Program::Array& a : p.outputs) {
      const bool is_sum = a.name.ends_with("_bar_next");
      const std::string as_read = is_sum ? a.name.substr(0, a.name.size() - 5)
                                         : a.name.substr(0, a.name.size() - 4) + "_next_bar";
      if (!is_sum && (i == 0 || std::find(handed.begin(), handed.end(), a.name.substr(0, a.name.size() - 4)) == handed.end()))
        continue;
      if (s.components(as_read) < 0) s.array(as_read, a.size);
      swaps.emplace_back(as_read, a.name);
    }
    stages.add("derivatives", p, other, swaps);
  }
  return s;
}

}  // namespace featherstorm
