// Kernels that run one after the other over a horizon of steps: rollouts.
//
// - On the host, a block of instances goes through all steps before the next block begins, so its state stays in the
//   caches.
// - On a CUDA device, one kernel goes through all steps with the state in registers (cuda_rollout.h), asynchronously on
//   a stream.
// - On a CUDA device with stages that have kernels of their own, kernels run one after the other (cuda_stages.h).
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

// One operation of each step: a kernel, and the names of the arrays that it reads and writes.
struct Stage {
  std::function<BoundKernel()> kernel{};  // called at the first run on the host
  std::vector<std::string> in{}, out{};
  std::vector<std::pair<std::string, std::string>> swaps{};  // pairs that are swapped after the stage
  long repeat = 1;                                           // passes, for kernels with carried arrays
  bool last = false;                                         // runs only after the last step
  std::function<Program()> program{};  // the program of the stage; called at the first run on a device
  // Name of an array: the stage runs for the instances whose first number in it is above zero. "": it runs for all.
  // Such a stage is one of two kinds:
  // - With swaps: every output is swapped with an input. For each instance the stage and its swaps are repeated, up to
  //   `repeat` times, while the instance needs it. Afterwards the instance keeps its numbers, whatever other instances
  //   need. The inputs receive the numbers of the outputs, and the outputs are scratch.
  // - Without swaps: the stage runs once. Its outputs are scratch, defined only in this step and for the instances that
  //   need the stage. No stage may use them for other instances: there the host leaves numbers that depend on what the
  //   rest of the pack needs, and a device leaves zeros. The host skips packs of which no instance needs the stage.
  std::string needed{};
  std::string name{};            // name for reports
  DeviceStageMaker on_device{};  // a kernel for devices that replaces the program: one pass, uniforms as in in_uniform
  // Components that the arrays `in` and `out` must have; empty: any.
  std::vector<long> in_components{}, out_components{};
  // For each array of `in`, whether it must be uniform. Empty: any, but a kernel for devices accepts no uniform array.
  std::vector<bool> in_uniform{};
  long operations = 0;  // of one instance, for reports, if the stage has no program
};

struct StageCost {
  std::string name;
  long operations;  // of one instance, from its program or as the stage states; a multiply-add counts once
  double seconds;   // summed over threads, in all runs since measure()
};

// Return an operation of the table, or the derivative of one, as a stage. The evaluator must outlive it. in: its inputs
// and uniforms.
Stage stage_of(Evaluator& evaluator, const std::string& op, Precision precision, std::vector<std::string> in,
               std::vector<std::string> out, std::vector<std::pair<std::string, std::string>> swaps = {},
               long repeat = 1);

// Return a traced program as a stage; its arrays have the names of the program.
Stage stage_of(const Evaluator& evaluator, Precision precision, const Program& program);

// Return a stage that may be appended several times, and whose kernel is made once.
Stage shared(Stage stage);

// Numbers of a uniform array: its components, or its components for each step in order.
struct UniformValues {
  std::string name;
  std::vector<double> values;
};

class Sequence {
 public:
  // isa: instruction set of the loops that compute controls; empty: the widest of this machine
  Sequence(Precision precision, int threads, const std::string& isa = "");
  ~Sequence();
  Sequence(Sequence&&) noexcept;
  Sequence& operator=(Sequence&&) noexcept;

  // Declare an array, which is zero before the first step, or a uniform array, with the same numbers for all instances.
  void array(const std::string& name, long components);
  void uniform(const std::string& name, long components);
  // Return the components of an array or a uniform array; -1 if the name is unknown.
  long components(const std::string& name) const;
  // Append a stage; all its arrays must be declared.
  void stage(const Stage& stage);
  // After the last step, set array `name` to infinity in instances where a number of the arrays `of` is not finite.
  void finite(const std::string& name, const std::vector<std::string>& of);

  // Allow sorting the instances by the first number of array `name` between steps, so that instances that need a
  // similar amount of work share a pack. A kernel's result for an instance must not depend on other instances.
  void order_by(const std::string& name);

  // From now on, measure the time of each stage in runs on the host, for costs(). This costs a few per cent of a step
  // of small robots.
  void measure();
  // Return the costs of all stages. Throws Error without measure().
  std::vector<StageCost> costs() const;

  // Run `steps` >= 1 passes through all stages.
  //
  //   in        read before the first step, or before each
  //   out       written after each step, or after the last
  //   controls  computed before each step; null: none
  //   stream    for arrays on a device: a cudaStream_t; null: the default stream
  //
  // All arrays lie on the host or on one device. On a device run() returns before the work on the stream is done. An
  // output may share the memory of an input only if it is the same array, read before the first step and written after
  // the last. A thread's second run of the same size allocates nothing. Throws Error with the array, its value and the
  // expected one.
  void run(long steps, long instances, const std::vector<SequenceMemory>& in,
           const std::vector<UniformValues>& uniforms, const std::vector<SequenceMemory>& out,
           const Controls* controls = nullptr, void* stream = nullptr) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

// Return the sequence of one traced program, whose arrays have the names of the program.
Sequence sequence_of(const Evaluator& evaluator, Precision precision, const Program& program);

}  // namespace featherstorm
