// Reductions on the host's cores. Sums are taken over a tree that depends only on the number of instances. Results
// therefore do not depend on threads, and the rounding error grows with the logarithm of that number.
#pragma once
#include "host/memory/blocks.h"
#include "host/rollout/reduction.h"

namespace featherstorm {

class CpuReduction : public Reduction {
 public:
  explicit CpuReduction(int threads) : Reduction(on_host), threads_(threads) {}
  Least best(void* stream = nullptr) override;

 private:
  void find_least(const ArrayRef& costs, void* stream) override;
  void find_weights(const ArrayRef& costs, double temperature, const ArrayRef& weights, void* stream) override;
  void find_mean(const SequenceMemory& x, long steps, const ArrayRef& weights, const ArrayRef& mean, void* stream,
                 const ArrayRef* center) override;

  BlockThreads threads_;
  Least best_{0, -2};  // -2: nothing was reduced
};

}  // namespace featherstorm
