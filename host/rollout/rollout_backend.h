// Interface that runs a sequence on one kind of processor. It has two implementations: the host's cores (cpu_rollout.h)
// and CUDA devices (cuda_rollout.h, cuda_stages.h). A Sequence checks a call, and passes it to the one whose memory
// holds the arrays.
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

// A sequence as it was declared; arrays are given by their index in `arrays`.
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
    int needed = -1;               // array that selects the instances to run for
    DeviceStageMaker on_device{};  // replaces the program
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
  int order = -1;  // array by whose numbers instances are sorted
  bool measured = false;
};

// One run with checked arguments, and the sequence's array for each memory.
struct SequenceCall {
  Precision precision;
  int device;
  long steps, instances;
  const SequenceMemory *in, *out;
  const int *in_at, *out_at;
  int in_count, out_count;
  const double* const* uniforms;  // numbers of each array; null if it is not uniform
  const bool* every_step;         // for each array, whether every step has its own numbers
  const Controls* controls;       // null: no controls
  int controlled;
  void* stream;
};

class RolloutBackend {
 public:
  virtual ~RolloutBackend() = default;
  // Throws Error for calls that this kind of processor does not support.
  virtual void run(const SequenceCall& call) = 0;
  // For measured plans: time of each stage in all runs so far, summed over threads [s].
  virtual std::vector<double> seconds() const { return {}; }
};

}  // namespace featherstorm
