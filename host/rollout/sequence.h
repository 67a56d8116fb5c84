// Kernels one after the other, over a horizon of steps: rollouts. A block of instances goes through all steps before
// the next one begins, so its state stays in the caches. Where the arrays lie on a CUDA device, one kernel goes through
// all steps with the state in registers (cuda_rollout.h), asynchronously on a stream; where stages have kernels of their own there,
// kernels run one after the other (cuda_stages.h).
//
//   Sequence s(Precision::float32, threads);
//   s.array("q", nq), s.array("q_next", nq), s.array("u", nu), s.uniform("dt", 1), ...;
//   s.stage(stage_of(evaluator, "step", Precision::float32, {"q", ..., "dt"}, {"q_next", ...}, {{"q", "q_next"}}));
//   s.run(T, B, {{"q", q0}, {"u", U, U_step}}, {{"dt", {1e-3}}}, {{"q_next", states, states_step}});
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/engine/evaluator.h"
#include "host/rollout/rollout_backend.h"

namespace featherstorm {

// What a sequence does at each step: a kernel, and the arrays it reads and writes, by name.
struct Stage {
  std::function<BoundKernel()> kernel{};  // asked for at the first run on the host
  std::vector<std::string> in{}, out{};
  std::vector<std::pair<std::string, std::string>> swaps{};  // pairs that change places after the stage
  long repeat = 1;                                           // passes, for kernels with carried arrays
  bool last = false;                                         // runs after the last step only
  std::function<Program()> program{};                        // what it computes; asked for at the first run on a device
  // An array: the stage runs for the instances whose first number there is above zero. "": no such array. Two kinds there are:
  // - All that it writes changes places with what it reads. It is repeated for an instance, up to `repeat` times and with its swaps each
  //   time, as long as it is needed, and leaves the instance alone after that, whatever its neighbours need. What it reads takes the
  //   numbers that it writes; these are scratch afterwards.
  // - It has no swaps, and runs once. What it writes is scratch, defined in this step and for the instances that need it alone: no
  //   stage may use it for others, where the host leaves what neighbours need and a device zeros. The host takes no time for packs of
  //   which no instance needs it.
  std::string needed{};
  std::string name{};  // what reports call it
  DeviceStageMaker
      on_device{};  // a kernel for devices in place of a program: one pass, the uniforms that in_uniform says
  // Components that the arrays `in` and `out` must have; empty: any.
  std::vector<long> in_components{}, out_components{};
  // Of each array of `in` whether it must have the same numbers for all instances; empty: any, none of a kernel for devices.
  std::vector<bool> in_uniform{};
  long operations = 0;  // of an instance, where there is no program: for reports
};

struct StageCost {
  std::string name;
  long operations;  // of an instance, a multiply-add counted once: of its program, or what the stage says
  double seconds;   // of all threads together, in all runs since they are measured
};

// A row of the table, or the derivative of one, as a stage; the evaluator must stay. in: its inputs and uniforms.
Stage stage_of(Evaluator& evaluator, const std::string& op, Precision precision, std::vector<std::string> in,
               std::vector<std::string> out, std::vector<std::pair<std::string, std::string>> swaps = {},
               long repeat = 1);

// A traced program as a stage; its arrays are those of its names.
Stage stage_of(const Evaluator& evaluator, Precision precision, const Program& program);

// A stage that is appended several times, whose kernel is made once.
Stage shared(Stage stage);

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
  Sequence& operator=(Sequence&&) noexcept;

  // Declares an array, zero before the first step, or one with the same numbers for all instances.
  void array(const std::string& name, long components);
  void uniform(const std::string& name, long components);
  // The components of an array or of a uniform one; -1 where there is none of that name.
  long components(const std::string& name) const;
  // Appends a stage; all its arrays must be declared.
  void stage(const Stage& stage);
  // After the last step the numbers of array `name` become NaN in instances where a number of arrays `of` is not
  // finite.
  void finite(const std::string& name, const std::vector<std::string>& of);

  // Between steps instances may be put in the order of the first number of array `name`, so that those which need as much work
  // stand side by side; what a kernel gives for an instance must not depend on its neighbours.
  void order_by(const std::string& name);

  // From now on runs on the host note how long each stage takes, for costs(); a few per cent of a step of small robots.
  void measure();
  // Throws Error where nothing is measured.
  std::vector<StageCost> costs() const;

  // Runs `steps` >= 1 passes through all stages. `in` is read before the first step, or before each; `out` is written
  // after each step, or after the last; `controls` are made before each step (null: none). Throws Error naming the
  // array, what came and what was expected. A thread's second run of the same size allocates nothing.
  // All arrays lie on the host or on one device, where the work is put on `stream` (a cudaStream_t, null: the default stream)
  // and run() returns before it is done. An output may be the memory of an input only where it is the same array, read
  // before the first step and written after the last.
  void run(long steps, long instances, const std::vector<SequenceMemory>& in,
           const std::vector<UniformValues>& uniforms, const std::vector<SequenceMemory>& out,
           const Controls* controls = nullptr, void* stream = nullptr) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

}  // namespace featherstorm
