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
  struct Walk;  // one run

  // A kernel of a step: of programs, or of a stage that has one of its own (cuda_items.cpp).
  struct Item {
    bool last = false;                        // runs after the last step alone
    std::vector<int> reads;                   // arrays whose numbers from before it needs
    std::vector<int> changes;                 // and those that have others after it
    std::vector<std::pair<int, int>> places;  // of a stage: arrays that change places behind it
    std::size_t stage = 0;                    // of the plan, where it has a kernel of its own
    std::vector<int> arrays;                  // of programs: the plan's array for each of theirs
    RolloutProgram program;                   // before it is compiled
    std::unique_ptr<CudaRollout> rollout;     // null: a stage
    long length = 0;                          // instructions of programs
    std::vector<int> writes;                  // what it changes and somebody reads
    bool in_place = false;                    // `changes` keep their numbers where its only program does not run
    std::vector<SequenceMemory> in, out;      // of `reads` and `writes`
    std::vector<int> in_at, out_at;           // among `arrays`
    std::vector<const double*> uniforms;      // of `arrays`
    std::unique_ptr<bool[]> every_step;       // of `arrays`: no

    bool changes_array(int k) const;
    bool reads_array(int k) const;
    int local(const SequencePlan& plan, int k);
    void add_program(const SequencePlan& plan, const SequencePlan::Stage& s, std::shared_ptr<const Program> p);
    void add_program_in_place(const SequencePlan& plan, const SequencePlan::Stage& s, std::shared_ptr<const Program> p);
    void add_check(const SequencePlan& plan, const SequencePlan::Finite& f);
    void set_stage(const SequencePlan& plan, std::size_t k);
    void compile(const SequencePlan& plan, const std::shared_ptr<LoadedKernels>& kernels);
  };
  // The items for one choice of outputs.
  struct Choice {
    std::vector<int> outputs;  // arrays that calls want, rising
    int controlled;            // the array that a call's controls make, or -1
    std::vector<Item> items;
    std::vector<char> has_slot;             // arrays that need memory of the stream
    std::unique_ptr<CudaRollout> controls;  // makes those of all steps

    // Throws Error for a stage that has no program, and as RolloutProgram's compiler.
    Choice(const SequencePlan& plan, std::vector<int> outputs, int controlled,
           const std::shared_ptr<LoadedKernels>& kernels);
    void add_stage(const SequencePlan& plan, std::size_t k);
    bool is_read(const SequencePlan& plan, std::size_t item, int k) const;
  };
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
