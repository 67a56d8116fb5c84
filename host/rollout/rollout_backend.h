// What runs a sequence on one kind of processor. Two are there: the host's cores (cpu_rollout.h) and CUDA devices
// (cuda_rollout.h, cuda_stages.h); a Sequence checks a call, and gives it to the one in whose memory its arrays lie.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/program.h"
#include "host/memory/blocks.h"
#include "host/memory/device_stage.h"
#include "host/memory/memory.h"
#include "host/rollout/controls.h"

namespace featherstorm {

// A sequence as it was declared; arrays go by their place in `arrays`.
struct SequencePlan {
  struct Array {
    std::string name;
    long components;
    bool uniform;
  };
  struct Stage {
    std::function<BoundKernel()> kernel;
    std::function<Program()> program;
    std::vector<int> in, out;
    std::vector<std::pair<int, int>> swaps;
    long repeat;
    bool last;
    int needed = -1;               // array that says which instances still need it
    DeviceStageMaker on_device{};  // in place of the program
    std::string name{};
    long operations = 0;
  };
  struct Finite {
    int array;
    std::vector<int> of;
  };
  Precision precision;
  int threads;
  std::string isa;
  std::vector<Array> arrays;
  std::vector<Stage> stages;
  std::vector<Finite> finite;
  int order = -1;  // array by whose numbers instances are put side by side
  bool measured = false;
};

// One run, its arguments checked, with the sequence's array for each memory.
struct SequenceCall {
  Precision precision;
  int device;
  long steps, instances;
  const SequenceMemory *in, *out;
  const int *in_at, *out_at;
  int in_count, out_count;
  const double* const* uniforms;  // for each array its numbers; null where it is not uniform
  const bool* every_step;         // for each array whether there are numbers for each step
  const Controls* controls;       // null: none
  int controlled;
  void* stream;
};

class RolloutBackend {
 public:
  virtual ~RolloutBackend() = default;
  // Throws Error for what this kind of processor does not take.
  virtual void run(const SequenceCall& call) = 0;
  // Of plans that are measured: the time of each stage in all runs so far, of all threads together [s].
  virtual std::vector<double> seconds() const { return {}; }
};

}  // namespace featherstorm
