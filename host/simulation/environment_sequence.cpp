#include "host/simulation/environment_sequence.h"

#include "host/rollout/draw_stage.h"

namespace featherstorm {
namespace {

void declare(Sequence& s, const std::string& name, long components, bool uniform = false) {
  const long known = s.components(name);
  if (known < 0) uniform ? s.uniform(name, components) : s.array(name, components);
  else if (known != components)
    throw Error("array '" + name + "' of an environment has " + std::to_string(components) + " numbers, expected " +
                std::to_string(known));
}

void declare(Sequence& s, const EnvironmentStage& stage) {
  for (const auto* arrays : {&stage.program.inputs, &stage.program.outputs})
    for (const Program::Array& a : *arrays) declare(s, a.name, a.size, a.uniform);
  for (const NetworkInside& n : stage.networks) declare(s, n.weights, dense_numbers(n.network), true);
  for (const auto& [first, second] : stage.swaps) declare(s, first, s.components(second));
  if (!stage.needed.empty()) declare(s, stage.needed, 1);
  if (stage.draws.empty()) return;
  declare(s, "env_key", 6), declare(s, "env_episode", 1), declare(s, "env_step", 1);
}

}  // namespace

Sequence environment_sequence(Evaluator& e, const Stepping& stepping, Precision precision,
                              const EnvironmentStages& stages) {
  Sequence s(precision, e.threads(), e.isa());
  const bool world = stepping.op == "world";
  std::vector<Stage> made[3];
  const std::vector<EnvironmentStage>* const lists[] = {&stages.before, &stages.pass, &stages.after};
  const char* const names[] = {"before", "actuate", "after"};
  for (int k = 0; k < 3; k++)
    for (const EnvironmentStage& stage : *lists[k]) {
      for (const EnvironmentDraws& d : stage.draws)
        made[k].push_back(draw_stage(
            precision, e.isa(),
            {d.count, d.function, d.next_episode, "env_key", "env_episode", "env_step", stage.needed}, d.to));
      if (!stage.networks.empty()) {
        if (!stage.swaps.empty() || !stage.needed.empty())
          throw Error("a stage with networks has swaps or runs for some instances, expected neither");
        for (Stage& part : stages_with(e, precision, stage.program, stage.networks)) {
          if (part.name.empty()) part.name = names[k];
          made[k].push_back(shared(std::move(part)));
        }
        continue;
      }
      Stage of = stage_of(e, precision, stage.program);
      of.swaps = stage.swaps, of.needed = stage.needed, of.name = names[k];
      made[k].push_back(shared(std::move(of)));
    }
  // the step declares its own arrays first
  const auto declare_all = [&] {
    for (const auto* list : lists)
      for (const EnvironmentStage& stage : *list) declare(s, stage);
  };
  const auto append = [&](int k) {
    for (const Stage& stage : made[k]) s.stage(stage);
  };
  const auto begin = [&](int pass) {
    if (pass == 0) declare_all(), append(0);
    append(1);
  };
  if (!stages.steps) {
    declare_all();
  } else if (world) {
    SolverOptions solver = stepping.solver;
    solver.forces = false;
    append_world_step(s, e, precision, solver, begin, stepping.substeps, stages.at_solve, stages.at_last_stage);
  } else {
    declare_state(s, e, stepping);
    s.array("tau", e.robot().model.nv), s.array("target", e.robot().model.nv);
    append_start(s, e, stepping, precision);
    Stepping pass = stepping;
    pass.substeps = 1;
    for (int k = 0; k < stepping.substeps; k++) begin(k), append_step(s, e, pass, precision, "tau", "target");
  }
  append(2);
  return s;
}

}  // namespace featherstorm
