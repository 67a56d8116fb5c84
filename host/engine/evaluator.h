// Evaluates the operations of ops.h for one model and batches of states: the engine's front door.
//
//   Robot robot = load("go2", {.floating_base = true});
//   Evaluator dynamics(robot);
//   Buffer q(Precision::float32, 4096, robot.model.nq), ...;
//   dynamics.run("rnea", {q.ref(), v.ref(), a.ref()}, {tau.ref()});
//
// Every operation has derivatives: the row "fd_vjp" takes the inputs of "fd" and the cotangents of its outputs, a_bar,
// and gives those of its inputs, q_bar, v_bar, tau_bar; "fd_jvp" takes tangents q_tan, v_tan, tau_tan and gives a_tan.
// With parameters (EvaluatorOptions) numbers of the robot are inputs of every row, one set for each instance.
// Derivatives and rows with parameters run by kernels made for the robot alone: up to 256 degrees of freedom.
//
// A kernel that is made for the robot is compared with the text that takes the model as data before it serves; one that
// differs is not used, and a notice says so (kernel_check.h).
//
// Where the arrays lie decides what runs (row_backend.h): on the host the kernels of this machine's instruction set (cpu_rows.h),
// on a CUDA device (Buffer q(Precision::float32, 4096, nq, 0)) those of the CUDA library, or the robot's own where specialise()
// has made them for that device, asynchronously on a stream (cuda_rows.h).
//
// Arrays may have any strides; those of a Buffer are read and written in place, others are copied through the caches
// in small blocks. Precision float32 or float64, the same for all arrays of a call. Results of an instance do not
// depend on the batch size, its place in the batch or the number of threads.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/builder.h"
#include "host/engine/options.h"
#include "host/memory/blocks.h"
#include "host/system/error.h"
#include "host/system/installation.h"
#include "host/trace/row.h"

namespace featherstorm {

class Evaluator {
 public:
  // Throws Error where no backend library is found.
  explicit Evaluator(const Robot& robot, EvaluatorOptions options = {});
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;

  const Robot& robot() const;
  // The rows of ops.h with the sizes for this model; behind their inputs the parameters that were asked for. op() knows
  // their derivatives too, "<name>_vjp" and "<name>_jvp" (trace_op.h). Throws Error for an unknown name.
  const std::vector<OpRow>& ops() const;
  const OpRow& op(std::string_view name) const;

  // Runs an operation on all instances. Throws Error naming the operation, the argument, what came and what was
  // expected, before anything is written. An empty batch does nothing. On a device it returns before the work is done;
  // what goes wrong there, the next call that waits for the stream (synchronise, copy) throws. User-defined joints and
  // robots of more than 64 degrees of freedom have no kernels there and are refused.
  void run(std::string_view op, const std::vector<ArrayRef>& in, const std::vector<ArrayRef>& out,
           const RunOptions& options = {});

  // The kernel that the next run of this operation uses; it is valid as long as this Evaluator.
  BoundKernel kernel(std::string_view op, Precision precision, int frame = 0);

  // What the kernel of an operation computes, traced for this robot. Throws Error where it is too large.
  Program program(std::string_view op, int frame = 0) const;

  // Makes the kernel of an operation for this robot now and uses it from now on: on the host assembled or compiled, for a
  // CUDA device compiled by NVRTC (or fetched from the cache on disk). Returns false, and tells why through the notice,
  // where it cannot be made: then the kernels that take the model as data serve.
  bool specialise(std::string_view op, Precision precision, int frame = 0, int device = on_host);
  // Whether the next run of this operation on this device uses a specialised kernel.
  bool specialised(std::string_view op, Precision precision, int frame = 0, int device = on_host) const;

  // What came of the comparison of each kernel that was made for this robot with the text that takes the model as data
  // (kernel_check.h): the ones in use, and those that are not used because of it.
  std::vector<CheckedKernel> checks() const;

  // Tells the notice of the options, once for the same words: of what is made for the evaluator elsewhere.
  void notify(const std::string& what) const;

  const std::string& isa() const;                      // instruction set of the kernels in use
  const std::vector<std::string>& parameters() const;  // names of the robot's numbers that are inputs of every row
  int threads() const;
  bool assembles() const;  // whether kernels are assembled where that can be done

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

// The instruction sets this machine can run and whose backend libraries are installed, widest first.
std::vector<std::string> available_isas();

}  // namespace featherstorm
