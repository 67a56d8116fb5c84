// A step of an environment as a Sequence: traced functions around the substeps of a robot, and stages that run only
// where an episode ends.
//
//   EnvironmentStages stages;
//   stages.pass = {{.program = actuate}};                                        // before each substep: ctrl, or tau
//   stages.after = {{.program = finish, .swaps = {{"memory", "memory_next"}}},   // terminations, rewards, observations
//                   {.program = restart, .swaps = ..., .needed = "done"}};
//   Sequence s = environment_sequence(evaluator, stepping, Precision::float32, stages);
//   s.run(1, environments, state, {}, state);
//
// The arrays are those of the step (world_sequence.h, or stepping.h with "tau"). Other arrays that stages name are
// declared. A program may read and write any of them, and its outputs may be swapped with its inputs.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/network/networks_inside.h"
#include "host/simulation/stepping.h"

namespace featherstorm {

// Numbers that a stage draws by counter (host/rollout/draw_stage.h) from the arrays env_key, env_episode and env_step.
struct EnvironmentDraws {
  std::string to;             // array that receives the numbers
  int count;                  // of numbers
  std::uint32_t function;     // distinguishes the numbers from those of other stages
  bool next_episode = false;  // draw for the beginning of the next episode
};

struct EnvironmentStage {
  Program program{};
  std::vector<std::pair<std::string, std::string>> swaps{};
  // An array whose first number selects the instances of the stage (Stage::needed); "": all.
  std::string needed{};
  std::vector<EnvironmentDraws> draws{};
  // Networks among the program's operations (host/network/networks_inside.h). Such a stage has no swaps and runs for
  // all instances.
  std::vector<NetworkInside> networks{};
};

struct EnvironmentStages {
  std::vector<EnvironmentStage> before{}, pass{}, after{};  // before the step, before each substep, after the step
  Program at_solve{}, at_last_stage{};  // of a world: programs that keep numbers of the last substep (world_sequence.h)
  bool steps = true;                    // false: only the stages, as for a reset
};

// Build the sequence. The evaluator must outlive it. stepping.op may be "world". Throws Error for arrays with one name
// and different sizes, and for networks in a stage that has swaps or runs for some instances.
Sequence environment_sequence(Evaluator& evaluator, const Stepping& stepping, Precision precision,
                              const EnvironmentStages& stages);

}  // namespace featherstorm
