// Reductions on a CUDA device (reduction.h): asynchronous on a stream, without allocations once a stream has seen as many samples.
#pragma once
#include <map>
#include <mutex>
#include <vector>

#include "host/memory/cuda_table.h"
#include "host/rollout/reduction.h"

namespace featherstorm {

class CudaReduction : public Reduction {
 public:
  explicit CudaReduction(int device) : Reduction(device) {}
  ~CudaReduction() override;
  Least best(void* stream = nullptr) override;

 private:
  struct Work {
    void* memory = nullptr;  // a DeviceLeast, then what the reductions need
    unsigned long bytes = 0;
  };
  void find_least(const ArrayRef& costs, void* stream) override;
  void find_weights(const ArrayRef& costs, double temperature, const ArrayRef& weights, void* stream) override;
  void find_mean(const SequenceMemory& x, long steps, const ArrayRef& weights, const ArrayRef& mean, void* stream,
                 const ArrayRef* center) override;
  Work work(const CudaTable& table, long count, void* stream);  // with the mutex held

  std::mutex mutex_;             // held by every call: the work memory of a stream serves one after the other
  std::map<void*, Work> work_;   // by stream
  std::vector<void*> outgrown_;  // captured graphs may use it
};

}  // namespace featherstorm
