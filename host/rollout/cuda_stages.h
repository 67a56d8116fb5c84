// A sequence's rollouts on CUDA devices where stages have kernels of their own there (Stage::on_device), as the solver of contacts has.
//
//   for every step t
//     programs up to the first such stage, fused into one kernel (cuda_rollout.h)
//     the stage's kernel
//     the next programs, ...
//
// A program that runs where an array says (Stage::needed), once, has a kernel of its own too, which writes in place.
//
// Between kernels arrays are in memory of the stream, each with its instances side by side; only what a later kernel reads is
// written there. An array goes where it is: a kernel reads inputs in the caller's memory, what it writes goes there where it is
// an output that no other kernel of the step changes, and arrays of a stage's kernel change places by their addresses. Controls of
// all steps are made beforehand by one kernel, and numbers that are the same for all instances are sent beforehand to where stages read them.
//
// Like a rollout in one kernel it is asynchronous on its stream, a run of a kind and size that a stream has seen takes no memory, and
// a CUDA graph may capture it.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "host/memory/stream_memory.h"
#include "host/rollout/cuda_rollout.h"

namespace featherstorm {

class CudaStages : public RolloutBackend {
 public:
  explicit CudaStages(const SequencePlan& plan);  // which must stay
  ~CudaStages() override;

  // Throws Error where there is no NVRTC, where a program is too large, where the device's memory is too small, and with
  // CUDA's words.
  void run(const SequenceCall& call) override;

 private:
  struct Item;    // a kernel of a step
  struct Choice;  // the items for one choice of outputs
  struct Walk;    // one run
  Choice& choice(const SequenceCall& call);
  std::shared_ptr<const DeviceStage> stage(std::size_t of, int device, void* stream, const CudaTable& table);

  const SequencePlan& plan_;
  StreamMemory memory_{rollout_user};
  std::mutex mutex_;  // of a run's launches, and of the members below
  const std::shared_ptr<LoadedKernels> kernels_ = std::make_shared<LoadedKernels>();  // of all choices
  std::vector<std::unique_ptr<Choice>> choices_;
  std::map<std::pair<int, std::size_t>, std::shared_ptr<const DeviceStage>> stages_;  // by device and stage of the plan
};

}  // namespace featherstorm
