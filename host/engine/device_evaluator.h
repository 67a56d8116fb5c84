// Runs the operations of ops.h on arrays that lie on a CUDA device: by kernels made for the robot (device_kernel.h)
// where specialise() has made them, else by the CUDA library's run-time-model kernels.
#pragma once
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "core/model/model.h"
#include "host/engine/evaluator.h"

namespace featherstorm {

struct CudaModel;
struct Operation;
struct CudaProgram;
class DeviceCompiler;
class Dispatch;

// The most instances of a call: a thread's number is an int.
inline constexpr long max_device_instances = 1L << 30;

class DeviceEvaluator {
 public:
  DeviceEvaluator();
  ~DeviceEvaluator();
  DeviceEvaluator(const DeviceEvaluator&) = delete;
  DeviceEvaluator& operator=(const DeviceEvaluator&) = delete;

  // What Evaluator::run does once it has checked its arguments, at least one instance, all arrays on `device`. `m` is
  // the same model at every call; a device's first call uploads it in both precisions. Arrays whose instances do not
  // lie side by side go through memory of the CUDA library's pool. Asynchronous on o.stream, and once a call was made
  // with the same operation and strides, free of allocations by the driver. any_robot: there are run-time-model kernels
  // of this row. Throws Error with CUDA's words.
  void run(const Model<double>& m, const OpRow& row, int device, const std::vector<ArrayRef>& in,
           const std::vector<ArrayRef>& out, const RunOptions& o, bool any_robot);

  // Makes the kernel of an operation for this robot on this device, by NVRTC or from the cache on disk, and compares it with
  // the text in double there (kernel_check.h); returns what came of that, for each number of warps. From now on run() uses
  // it for batches that the dispatch table gives it and arrays whose components are less than 2^31 bytes apart. Throws Error
  // where it cannot be made or differs, with the reason. before_making: EvaluatorOptions.
  std::vector<KernelCheck> specialise(const Operation& operation, const Robot& robot, const OpRow& row, int device,
                                      Precision precision, const std::function<void(const std::string&)>& notice,
                                      const std::function<void(Program&)>& before_making = {});
  bool specialised(const OpRow& row, int device, Precision precision, int frame) const;

 private:
  using Key = std::tuple<std::string_view, int, Precision, int>;  // row, device, precision, frame
  struct Specialised {
    CudaProgram* program = nullptr;               // for the largest batches
    int warps = 1;                                // of that one, for 32 instances (DeviceForm)
    std::array<CudaProgram*, 9> with_warps = {};  // by the number of warps, that one included
    int multiprocessors = 0, capability = 0;
    std::string robot;
    std::shared_ptr<const Dispatch> dispatch;
  };
  const CudaModel* model(const Model<double>& m, const OpRow& row, int device);
  Specialised find(const Key& key) const;
  std::shared_ptr<DeviceCompiler> compiler(const std::function<void(const std::string&)>& notice);
  std::shared_ptr<const Dispatch> dispatch();

  mutable std::mutex mutex_;
  std::map<int, CudaModel*> models_;  // by device
  std::map<Key, Specialised> specialised_;
  std::shared_ptr<DeviceCompiler> compiler_;
  std::shared_ptr<const Dispatch> dispatch_;
};

}  // namespace featherstorm
