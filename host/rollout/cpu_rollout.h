// Sequences on the host's cores. A block of instances goes through all steps before the next block begins, so its state
// stays in the caches.
#pragma once
#include <atomic>
#include <mutex>

#include "host/rollout/rollout_backend.h"

namespace featherstorm {

class CpuRollout : public RolloutBackend {
 public:
  explicit CpuRollout(const SequencePlan& plan);  // must outlive this object
  // All working memory is that of scratch.h, which threads keep: a thread's second run of the same size allocates
  // nothing.
  void run(const SequenceCall& call) override;
  std::vector<double> seconds() const override;

 private:
  // Interval at which the instances of a block are sorted [steps].
  static constexpr long order_period = 8;
  // Blocks whose arrays are larger go through the steps in parts [bytes].
  static constexpr long second_cache = 512 << 10;
  // Greatest number of instances that are sorted together at the beginning of a run; block_size times a power of two.
  static constexpr long most_group = 1024;

  const std::vector<BoundKernel>& kernels();
  std::vector<char> carried() const;
  template <class Real> void run_all(const SequenceCall& call, const std::vector<BoundKernel>& kernels) const;

  const SequencePlan& plan_;
  mutable std::vector<std::atomic<long>> nanoseconds_;  // of each stage, if the plan is measured
  // For each array, whether a step reads numbers of the step before; set if instances are sorted.
  std::vector<char> carried_;
  BlockThreads threads_;
  const NoiseKernels& noise_;
  mutable std::mutex keys_mutex_;      // protects the next two
  mutable std::vector<unsigned> key_;  // (instances)  keys at the end of the last run
  mutable std::vector<int> at_;        // (instances)  index within its group of the instance at a position
  std::mutex mutex_;                   // protects the next
  std::vector<BoundKernel> kernels_;   // of the stages, made at the first run
};

}  // namespace featherstorm
