// What runs the rows of one robot on one kind of processor. Two are there: the host's cores (cpu_rows.h) and CUDA devices
// (cuda_rows.h); an Evaluator checks a call, and gives it to the one in whose memory its arrays lie.
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

// A robot, how its kernels are to be made, and what was told of them: what the backends of an Evaluator share.
class EngineRobot {
 public:
  explicit EngineRobot(const Robot& robot, EvaluatorOptions options = {});

  const Robot robot;
  const EvaluatorOptions options;
  const Parameters parameters;
  const RobotRows rows;

  // Whether kernels that take the model as data can run a row.
  bool at_run_time(const OpRow& row) const { return row.derivative == Derivative::none && parameters.arrays().empty(); }
  Operation operation(const OpRow& row, int frame) const { return {row.index, frame, row.derivative, parameters}; }
  // What a row's kernel is made from. Throws std::exception where it has more than `most` operations.
  Program program(const OpRow& row, int frame, int most = max_compiled_operations) const;

  void notify(const std::string& what);  // once
  void record(CheckedKernel check);
  std::vector<CheckedKernel> checks() const;

 private:
  mutable std::mutex mutex_;
  std::set<std::string> told_;
  std::vector<CheckedKernel> checks_;
};

// A kernel of a robot, by name.
struct KernelName {
  const OpRow& row;
  Precision precision;
  int frame = 0;  // where the row has one
  int device = on_host;
};

class RowBackend {
 public:
  virtual ~RowBackend() = default;

  // Runs a call whose arguments were checked, with at least one instance. Throws Error for what this kind of processor does not
  // take, before anything is written.
  virtual void run(const RowCall& call) = 0;

  // Makes the kernel for this robot now, by compiling it, for all calls from now on. False where it was told through the notice
  // why there is none; throws std::exception with the reason else.
  virtual bool specialise(const KernelName& name) = 0;
  // Whether the next run uses a kernel made for this robot.
  virtual bool specialised(const KernelName& name) const = 0;
};

}  // namespace featherstorm
