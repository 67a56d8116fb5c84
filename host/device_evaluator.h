// Runs the operations of ops.h on arrays that lie on a CUDA device, by the CUDA library's run-time-model kernels.
#pragma once
#include <map>
#include <mutex>

#include "core/model.h"
#include "host/evaluator.h"

namespace featherstorm {

struct CudaModel;

// The most instances of a call: a thread's number is an int.
inline constexpr long max_device_instances = 1L << 30;

class DeviceEvaluator {
 public:
  DeviceEvaluator() = default;
  ~DeviceEvaluator();
  DeviceEvaluator(const DeviceEvaluator&) = delete;
  DeviceEvaluator& operator=(const DeviceEvaluator&) = delete;

  // What Evaluator::run does once it has checked its arguments, at least one instance, all arrays on `device`. `m` is
  // the same model at every call; a device's first call uploads it in both precisions. Arrays whose instances do not
  // lie side by side go through memory of the CUDA library's pool. Asynchronous on o.stream, and once a call was made
  // with the same operation and strides, free of allocations by the driver. Throws Error with CUDA's words.
  void run(const Model<double>& m, const OpRow& row, int device, const std::vector<ArrayRef>& in,
           const std::vector<ArrayRef>& out, const RunOptions& o);

 private:
  const CudaModel* model(const Model<double>& m, const OpRow& row, int device);

  std::mutex mutex_;
  std::map<int, CudaModel*> models_;  // by device
};

}  // namespace featherstorm
