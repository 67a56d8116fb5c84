// Reductions on a CUDA device (reduction.h): asynchronous on a stream, without allocations once a stream has seen as
// many samples.
#pragma once
#include <mutex>

#include "host/memory/stream_memory.h"
#include "host/rollout/reduction.h"

namespace featherstorm {

class CudaReduction : public Reduction {
 public:
  explicit CudaReduction(int device) : Reduction(device) {}
  ~CudaReduction() override;
  Least best(void* stream = nullptr) override;

 private:
  void find_least(const ArrayRef& costs, void* stream) override;
  void find_weights(const ArrayRef& costs, double temperature, const ArrayRef& weights, void* stream) override;
  void find_mean(const SequenceMemory& x, long steps, const ArrayRef& weights, const ArrayRef& mean, void* stream,
                 const ArrayRef* center) override;
  // Return the working memory: a DeviceLeast, then the memory of the reductions.
  StreamMemory::Memory work(const CudaTable& table, long count, void* stream);

  std::mutex mutex_;  // held by every call, because the working memory of a stream serves one call at a time
  StreamMemory memory_{
      {"reduction",
       "a reduction that is captured into a graph may take no memory: run it once with as many samples and on the same "
       "stream before"}};
};

}  // namespace featherstorm
