// Interface for running the operations of one robot on one kind of processor: the CPU (cpu_rows.h) or CUDA devices
// (cuda_rows.h). An Evaluator checks a call and passes it to the backend in whose memory the arrays lie.
#pragma once
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "host/engine/robot_rows.h"
#include "host/engine/row_call.h"
#include "host/trace/specialised_program.h"

namespace featherstorm {

// Data shared by the backends of an Evaluator: the robot, the options for making kernels, and the notices given.
class EngineRobot {
 public:
  explicit EngineRobot(const Robot& robot, EvaluatorOptions options = {});

  const Robot robot;
  const EvaluatorOptions options;
  const Parameters parameters;
  const RobotRows rows;

  // True if kernels that take the model as data can run the operation.
  bool at_run_time(const OpRow& row) const { return row.derivative == Derivative::none && parameters.arrays().empty(); }
  Operation operation(const OpRow& row, int frame) const { return {row.index, frame, row.derivative, parameters}; }
  // The program from which the operation's kernel is made. Throws std::exception if it has more than `most`
  // operations.
  Program program(const OpRow& row, int frame, int most = max_compiled_operations) const;

  void notify(const std::string& what);  // gives each message once
  void record(CheckedKernel check);
  std::vector<CheckedKernel> checks() const;

 private:
  mutable std::mutex mutex_;
  std::set<std::string> reported_;
  std::vector<CheckedKernel> checks_;
};

// Identifies a kernel of a robot.
struct KernelName {
  const OpRow& row;
  Precision precision;
  int frame = 0;  // for operations with a frame
  int device = on_host;
};

class RowBackend {
 public:
  virtual ~RowBackend() = default;

  // Runs a call with checked arguments and at least one instance. Throws Error, before anything is written, for
  // arguments that this kind of processor does not accept.
  virtual void run(const RowCall& call) = 0;

  // Compiles the kernel for this robot now, for all later calls. Returns false if there is none and a notice has given
  // the reason; otherwise throws std::exception with the reason.
  virtual bool specialise(const KernelName& name) = 0;
  // True if the next run uses a kernel made for this robot.
  virtual bool specialised(const KernelName& name) const = 0;
};

}  // namespace featherstorm
