#pragma once
// A whole rollout as one CUDA kernel: programs run one after the other, repeated over a horizon, with the state in
// registers.
//
//   const T q[7], v[7], total[1]      arrays that stages write: registers, zero before the first step
//   for every step t
//     arrays read at each step, controls drawn or interpolated (host/rollout/controls.h)
//     the stages in their order, each the source of its program (body.h); pairs of arrays are swapped
//     arrays written after each step
//   arrays written after the last step
//
// Memory traffic is therefore limited to inputs and requested outputs, with one launch for a horizon. An array that no
// stage, swap or control writes stays in memory and is read where it is used. The source of a stage is exactly that of
// emit.h: the definitions of q_in and q_in_stride turn its accesses into registers.
//
// In a kernel of one step, an array that one stage writes and none reads goes to memory at once. A register would
// be alive until the end of the step.
//
// A stage that is in place, such as one that begins an episode, reads and writes memory only under its condition.
// Registers would be alive across the condition, so hundreds of numbers would be loaded and stored for every instance.
//
//   featherstorm_kernel(Memories memory, Uniforms uniform, const Real* numbers, ControlSource controls, long steps,
//                       long count)
//
//   memory    an entry for each of `in`, then for each of `out` (prelude_rollout.inc)
//   uniform   numbers of the uniform arrays without numbers for each step, one array after the other
//   numbers   device memory: uniform arrays with numbers for each step, (steps, components), one array after the other
//   controls  source of the controls; not read without controls
//
// Thread t of block b runs instance b * (threads in a block) + t.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/emit/emit.h"

namespace featherstorm {

struct RolloutProgram {
  struct Array {
    int components;
    bool uniform = false;     // the same numbers for all instances
    bool every_step = false;  // a uniform array with numbers for each step
  };
  struct Stage {
    std::shared_ptr<const Program> program;
    std::vector<int> in, out;                // the rollout's array for each array of the program
    std::vector<std::pair<int, int>> swaps;  // arrays that are swapped after the stage
    long repeat = 1;                         // number of passes of a program with carried arrays
    bool last = false;                       // runs after the last step only
    // Index of an array. The stage repeats, with its swaps, while the array's first number is above zero, up to
    // `repeat` times.
    int needed = -1;
    // The kernel's only stage, with `needed`, one pass and no swaps. It writes arrays of the kernel's `out`, which keep
    // their numbers in instances where the stage does not run.
    bool in_place = false;
  };
  struct Transfer {
    int array;
    bool every_step = false;
  };
  // An array that is filled with infinity at the end if one of other arrays is not finite.
  struct Check {
    int array;
    std::vector<int> of;
  };
  enum class ControlKind { none, noise, knots };

  std::vector<Array> arrays;
  std::vector<Stage> stages;
  bool one_step = false;  // the kernel runs one step at a time
  std::vector<Transfer> in, out;
  std::vector<Check> checks;
  ControlKind controls = ControlKind::none;
  int controlled = 0;  // index of the array that receives the controls
};

// Orders the statements of a program (core/program/order.h).
using OrderOf = std::function<std::vector<int>(const Program&)>;

// Returns the source of a rollout. Throws std::invalid_argument if sizes differ, if a program's array is uniform and
// the rollout's is not or vice versa, or if a uniform array would be written.
std::string emit_rollout(const RolloutProgram& r, const OrderOf& order, const Cuda& target);

// Return how many numbers `uniform` and, for each step, `numbers` hold.
int uniform_numbers(const RolloutProgram& r);
int step_numbers(const RolloutProgram& r);

}  // namespace featherstorm
