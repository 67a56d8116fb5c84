#pragma once
// A whole rollout as one CUDA kernel: programs one after the other, repeated over a horizon, the state in registers.
//
//   const T q[7], v[7], total[1]      what stages write: registers, zero before the first step
//   for every step t
//     arrays read at each step, controls drawn or interpolated (host/rollout/controls.h)
//     the stages in their order, each the text of its program (body.h); pairs of arrays change places
//     arrays written after each step
//   arrays written after the last step
//
// So memory traffic is what comes in and what was asked for, and there is one launch for a horizon. An array that no
// stage, swap or control writes stays in memory and is read where it is used. The text of a stage is that of emit.h,
// word for word: what q_in and q_in_stride are makes registers of it.
//
// A kernel of one step writes what one of its stages makes, and none reads, to memory as soon as it is there: as a register it would be
// alive until the end of the step.
//
// A stage that is in place, such as one that begins an episode, reads and writes memory under its condition alone: as registers that
// are alive across the condition, hundreds of numbers would be loaded and stored for every instance.
//
//   featherstorm_kernel(Memories memory, Uniforms uniform, const Real* numbers, ControlSource controls, long steps,
//                       long count)
//
//   memory    an entry for each of `in`, then for each of `out` (prelude_rollout.inc)
//   uniform   the numbers of the uniform arrays without numbers for each step, one array behind the other
//   numbers   device memory: of those with numbers for each step, (steps, components) one array behind the other
//   controls  what controls are made from; not read where there are none
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
    std::vector<int> in, out;                // the rollout's array for each of the program's
    std::vector<std::pair<int, int>> swaps;  // arrays that change places after the stage
    long repeat = 1;                         // passes of a program with carried arrays
    bool last = false;                       // runs after the last step only
    // Array: repeated, with its swaps, as long as its first number is above zero, up to `repeat` times.
    int needed = -1;
    // The kernel's only stage, with `needed`, one pass and no swaps: what it writes are arrays of the kernel's `out`, which keep
    // their numbers where it does not run.
    bool in_place = false;
  };
  struct Transfer {
    int array;
    bool every_step = false;
  };
  // An array whose numbers are NaN in the end where one of others is not finite.
  struct Check {
    int array;
    std::vector<int> of;
  };
  enum class ControlKind { none, noise, knots };

  std::vector<Array> arrays;
  std::vector<Stage> stages;
  bool one_step = false;  // it is run for one step at a time
  std::vector<Transfer> in, out;
  std::vector<Check> checks;
  ControlKind controls = ControlKind::none;
  int controlled = 0;  // the array that controls go to
};

// How the statements of a program are ordered (core/program/order.h).
using OrderOf = std::function<std::vector<int>(const Program&)>;

// The text of a rollout. Throws std::invalid_argument where a program's array is uniform and the rollout's is not, or
// the other way round; where sizes differ; and where something uniform is to be written.
std::string emit_rollout(const RolloutProgram& r, const OrderOf& order, const Cuda& target);

// How many numbers `uniform` and, for each step, `numbers` hold.
int uniform_numbers(const RolloutProgram& r);
int step_numbers(const RolloutProgram& r);

}  // namespace featherstorm
