// Kernels one after the other, over a horizon of steps: rollouts. A block of instances goes through all steps before
// the next one begins, so its state stays in the caches. Where the arrays lie on a CUDA device, one kernel goes through
// all steps with the state in registers (device_sequence.h), asynchronously on a stream.
//
//   Sequence s(Precision::float32, threads);
//   s.array("q", nq), s.array("q_next", nq), s.array("u", nu), s.uniform("dt", 1), ...;
//   s.stage({evaluator.kernel("step", Precision::float32), {"q", ..., "dt"}, {"q_next", ...}, {{"q", "q_next"}}});
//   s.run(T, B, {{"q", q0}, {"u", U, U_step}}, {{"dt", {1e-3}}}, {{"q_next", states, states_step}});
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/trace/program.h"
#include "host/memory/blocks.h"
#include "host/memory/memory.h"
#include "host/rollout/controls.h"

namespace featherstorm {

// A kernel of a sequence and the arrays it reads and writes, by name.
struct Stage {
  BoundKernel kernel;
  std::vector<std::string> in, out;
  std::vector<std::pair<std::string, std::string>> swaps;  // pairs that change places after the stage
  long repeat = 1;                                         // passes, for kernels with carried arrays
  bool last = false;                                       // runs after the last step only
  // What the kernel computes; asked for at the first run on a device, where `kernel` is not used.
  std::function<Program()> program{};
};

// Numbers of a uniform array: its components, or its components for each step, one behind the other.
struct UniformValues {
  std::string name;
  std::vector<double> values;
};

class Sequence {
 public:
  // isa: whose loops make controls; empty: the widest of this machine
  Sequence(Precision precision, int threads, const std::string& isa = "");
  ~Sequence();
  Sequence(Sequence&&) noexcept;

  // Declares an array, zero before the first step, or one with the same numbers for all instances.
  void array(const std::string& name, long components) { arrays_.push_back({name, components, false}); }
  void uniform(const std::string& name, long components) { arrays_.push_back({name, components, true}); }
  // Appends a stage; all its arrays must be declared.
  void stage(Stage stage);
  // After the last step the numbers of array `name` become NaN in instances where a number of arrays `of` is not
  // finite.
  void finite(const std::string& name, const std::vector<std::string>& of);

  // Runs `steps` >= 1 passes through all stages. `in` is read before the first step, or before each; `out` is written
  // after each step, or after the last; `controls` are made before each step (null: none). Throws Error naming the
  // array, what came and what was expected. A thread's second run of the same size allocates nothing.
  // On a device all arrays lie on the same one; the work is put on `stream` (a cudaStream_t, null: the default stream),
  // and run() returns before it is done. An output may be the memory of an input only where it is the same array, read
  // before the first step and written after the last.
  void run(long steps, long instances, const std::vector<SequenceMemory>& in,
           const std::vector<UniformValues>& uniforms, const std::vector<SequenceMemory>& out,
           const Controls* controls = nullptr, void* stream = nullptr) const;

 private:
  struct Slot {
    std::string name;
    long components;
    bool uniform;
  };
  struct Bound {  // a stage with the places of its arrays in arrays_
    BoundKernel kernel;
    std::vector<int> in, out;
    std::vector<std::pair<int, int>> swaps;
    long repeat;
    bool last;
    std::function<Program()> program;
  };
  struct Finite {
    int array;
    std::vector<int> of;
  };
  int find(const std::string& name) const;
  template <class Real>
  void run_all(long steps, long instances, const std::vector<SequenceMemory>& in,
               const std::vector<UniformValues>& uniforms, const std::vector<SequenceMemory>& out,
               const Controls* controls) const;

  void run_on_device(int device, long steps, long instances, const std::vector<SequenceMemory>& in,
                     const std::vector<UniformValues>& uniforms, const std::vector<SequenceMemory>& out,
                     const Controls* controls, void* stream) const;

  struct OnDevice;  // made at the first run there
  Precision precision_;
  BlockThreads threads_;
  const NoiseKernels* noise_;
  std::vector<Slot> arrays_;
  std::vector<Bound> stages_;
  std::vector<Finite> finite_;
  std::unique_ptr<OnDevice> device_;
};

}  // namespace featherstorm
