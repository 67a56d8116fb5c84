// A step of an environment as a Sequence: traced functions about the passes that move a robot on, and stages that run only where an
// episode ends.
//
//   EnvironmentStages stages;
//   stages.pass = {{.program = actuate}};                                        // before each pass: makes ctrl, or tau
//   stages.after = {{.program = finish, .swaps = {{"memory", "memory_next"}}},   // terminations, rewards, observations
//                   {.program = restart, .swaps = ..., .needed = "done"}};
//   Sequence s = environment_sequence(evaluator, stepping, Precision::float32, stages);
//   s.run(1, environments, state, {}, state);
//
// Arrays are those of the step (world_sequence.h, or stepping.h with "tau"), and those that stages name besides, which are declared.
// A program may read and write any of them; what it writes may change places with what it read.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/network/networks_inside.h"
#include "host/simulation/stepping.h"

namespace featherstorm {

// Numbers that a stage draws by counter (host/rollout/draw_stage.h), from the arrays env_key, env_episode and env_step.
struct EnvironmentDraws {
  std::string to;             // array of the numbers
  int count;                  // how many
  std::uint32_t function;     // by which they differ from those of other stages
  bool next_episode = false;  // of the beginning of the episode after this one
};

struct EnvironmentStage {
  Program program{};
  std::vector<std::pair<std::string, std::string>> swaps{};
  // An array whose first number says which instances the stage is for (Stage::needed); "": for all.
  std::string needed{};
  std::vector<EnvironmentDraws> draws{};
  // Networks among the program's operations (host/network/networks_inside.h); such a stage has no swaps, and is for all instances.
  std::vector<NetworkInside> networks{};
};

struct EnvironmentStages {
  std::vector<EnvironmentStage> before{}, pass{}, after{};  // a step's passes, each pass, and what follows them
  Program felt{}, left{};  // of a world: what is kept of the last pass (world_sequence.h)
  bool steps = true;       // false: the stages alone, as for a reset
};

// The evaluator must stay. stepping.op may be "world". Throws Error for arrays of one name that have other sizes, and for networks in a
// stage that has swaps or is for some instances.
Sequence environment_sequence(Evaluator& evaluator, const Stepping& stepping, Precision precision,
                              const EnvironmentStages& stages);

}  // namespace featherstorm
