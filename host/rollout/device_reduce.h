// The reductions of reduce.h on a CUDA device: asynchronous on a stream, without allocations once a stream has seen as
// many samples. Streams must outlive the object. Results agree with the host's up to rounding; they are the same bits
// for every call on one kind of device.
#pragma once
#include <map>
#include <mutex>

#include "host/memory/cuda_table.h"
#include "host/memory/memory.h"
#include "host/rollout/reduce.h"

namespace featherstorm {

class DeviceReduction {
 public:
  explicit DeviceReduction(int device) : device_(device) {}
  ~DeviceReduction();
  DeviceReduction(const DeviceReduction&) = delete;
  DeviceReduction& operator=(const DeviceReduction&) = delete;

  // in   costs (B, 1) on the device, float32 or float64; NaN and infinite ones count for nothing
  // out  the least one, kept for best()
  void least(const ArrayRef& costs, void* stream = nullptr);
  // The same, and weights (B, 1) float64: exp((least - cost) / temperature) over the sum of these. All are 0 where no
  // cost is finite: nobody waits to tell.
  void softmax_weights(const ArrayRef& costs, double temperature, const ArrayRef& weights, void* stream = nullptr);
  // mean (T n, 1), in the precision of the samples and without gaps: the sum over i of w[i] x[i] for samples x (B, T,
  // n). With a center (T n, 1) like the mean: the sum of w[i] (x[i] - center)^2.
  void weighted_mean(const SequenceMemory& x, long steps, const ArrayRef& weights, const ArrayRef& mean,
                     void* stream = nullptr, const ArrayRef* center = nullptr);
  // What the last least() or softmax_weights() of this stream found; waits for the stream.
  Least best(void* stream = nullptr);

 private:
  struct Work {
    void* memory = nullptr;  // a DeviceLeast, then what the reductions need
    unsigned long bytes = 0;
  };
  CostArray costs_of(const ArrayRef& costs) const;
  Work work(const CudaTable& table, long count, void* stream);  // with the mutex held

  int device_;
  std::mutex mutex_;             // held by every call: the work memory of a stream serves one after the other
  std::map<void*, Work> work_;   // by stream
  std::vector<void*> outgrown_;  // captured graphs may use it
};

}  // namespace featherstorm
