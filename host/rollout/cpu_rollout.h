// Sequences on the host's cores: a block of instances goes through all steps before the next one begins, so its state stays in
// the caches.
#pragma once
#include <atomic>
#include <mutex>

#include "host/rollout/rollout_backend.h"

namespace featherstorm {

class CpuRollout : public RolloutBackend {
 public:
  explicit CpuRollout(const SequencePlan& plan);  // which must stay
  // All working memory is that of scratch.h, which threads keep: a thread's second run of the same size allocates nothing.
  void run(const SequenceCall& call) override;
  std::vector<double> seconds() const override;

 private:
  // How often instances are put in order anew [steps].
  static constexpr long order_period = 8;
  // Blocks whose arrays are larger go through the steps in parts [bytes].
  static constexpr long second_cache = 512 << 10;
  // Instances that are put in order together at the beginning of a run, at most; block_size times a power of two.
  static constexpr long most_group = 1024;

  const std::vector<BoundKernel>& kernels();
  std::vector<char> carried() const;
  template <class Real> void run_all(const SequenceCall& call, const std::vector<BoundKernel>& kernels) const;

  const SequencePlan& plan_;
  mutable std::vector<std::atomic<long>> nanoseconds_;  // of each stage, where the plan is measured
  // Whether an array's numbers of one step are read in the next; where instances are put in order.
  std::vector<char> carried_;
  BlockThreads threads_;
  const NoiseKernels& noise_;
  mutable std::mutex keys_mutex_;      // of the next two
  mutable std::vector<unsigned> key_;  // (instances)  at the end of the last run
  mutable std::vector<int> at_;        // (instances)  which instance of its group stands at a place
  std::mutex mutex_;                   // of the next
  std::vector<BoundKernel> kernels_;   // of the stages, from the first run on
};

}  // namespace featherstorm
