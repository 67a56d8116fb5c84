// Evaluates the operations of ops.h for one model and batches of states. This is the main entry point of the engine.
//
//   Robot robot = load("go2", {.floating_base = true});
//   Evaluator dynamics(robot);
//   Buffer q(Precision::float32, 4096, robot.model.nq), ...;
//   dynamics.run("rnea", {q.ref(), v.ref(), a.ref()}, {tau.ref()});
//
// Every operation has derivatives. "fd_vjp" takes the inputs of "fd" and the cotangent of its output, a_bar, and
// returns the cotangents of its inputs: q_bar, v_bar, tau_bar. "fd_jvp" takes the tangents q_tan, v_tan, tau_tan and
// returns a_tan. With parameters (EvaluatorOptions), numbers of the robot become inputs of every operation, one set
// for each instance. Derivatives and operations with parameters run only with kernels made for the robot: up to 256
// coordinates.
//
// A kernel made for the robot is compared, before its first use, with the algorithm that takes the model as data. A
// kernel that differs is not used, and a notice says so (kernel_check.h).
//
// The location of the arrays selects the kernels (row_backend.h). Arrays on the host use kernels of this machine's
// instruction set (cpu_rows.h). Arrays on a CUDA device (Buffer q(Precision::float32, 4096, nq, 0)) use the kernels of
// the CUDA library, or the robot's own once specialise() has made them for that device, asynchronously on a stream
// (cuda_rows.h).
//
// Arrays may have any strides. Arrays of a Buffer are read and written in place; other arrays are copied in small
// blocks that fit the caches. The precision is float32 or float64, the same for all arrays of a call. The results of
// an instance do not depend on the batch size, on its index in the batch or on the number of threads.
#pragma once
#include <functional>
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
  // Throws Error if no backend library is found.
  explicit Evaluator(const Robot& robot, EvaluatorOptions options = {});
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;

  const Robot& robot() const;
  // The operations of ops.h with the sizes for this model; the requested parameters follow the inputs. op() also finds
  // the derivatives "<name>_vjp" and "<name>_jvp" (trace_op.h). Throws Error for an unknown name.
  const std::vector<OpRow>& ops() const;
  const OpRow& op(std::string_view name) const;

  // Runs an operation on all instances. Throws Error naming the operation, the argument, the value received and the
  // value expected, before anything is written. An empty batch does nothing. On a device the call returns before the
  // work is done; the next call that waits for the stream (synchronise, copy) throws its errors. User-defined joints
  // and robots of more than 64 coordinates have no device kernels and are refused.
  void run(std::string_view op, const std::vector<ArrayRef>& in, const std::vector<ArrayRef>& out,
           const RunOptions& options = {});

  // The kernel that the next run of this operation uses. It is valid as long as this Evaluator exists.
  BoundKernel kernel(std::string_view op, Precision precision, int frame = 0);

  // The program that the kernel of an operation computes, traced for this robot. Throws Error if the program is too
  // large.
  Program program(std::string_view op, int frame = 0) const;

  // Makes the kernel of an operation for this robot and uses it from then on. On the host it is assembled or compiled;
  // for a CUDA device it is compiled by NVRTC or fetched from the cache on disk. If it cannot be made, gives the
  // reason in a notice and returns false; the kernels that take the model as data remain in use.
  bool specialise(std::string_view op, Precision precision, int frame = 0, int device = on_host);
  // True if the next run of this operation on this device uses a specialised kernel.
  bool specialised(std::string_view op, Precision precision, int frame = 0, int device = on_host) const;

  // Results of comparing each kernel made for this robot with the algorithm that takes the model as data
  // (kernel_check.h), both for kernels in use and for rejected kernels.
  std::vector<CheckedKernel> checks() const;

  // Passes a message to the notice function of the options, once per message; for code elsewhere that makes kernels
  // for this evaluator.
  void notify(const std::string& what) const;

  // Returns the object of this name that is kept with this evaluator, made at the first call: steps that simulations
  // share.
  std::shared_ptr<const void> kept(const std::string& name,
                                   const std::function<std::shared_ptr<const void>()>& make) const;

  const std::string& isa() const;  // instruction set of the kernels in use
  const std::vector<std::string>& parameters()
      const;  // names of the robot's numbers that are inputs of every operation
  int threads() const;
  bool assembles() const;  // true if kernels are assembled where possible

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

// The instruction sets this machine can run and whose backend libraries are installed, widest first.
std::vector<std::string> available_isas();

}  // namespace featherstorm
