// Rollouts of a sequence on CUDA devices whose stages have kernels of their own (Stage::on_device), such as the contact
// solver.
//
//   for every step t
//     programs up to the first such stage, fused into one kernel (cuda_rollout.h)
//     the stage's kernel
//     the next programs, ...
//
// A conditional program (Stage::needed) that runs once has a kernel of its own, too, which writes in place.
//
// Between kernels, arrays are in memory of the stream, each component contiguous over the instances. A kernel writes
// only the arrays that a later kernel reads. Copies are avoided:
//
// - A kernel reads inputs in the caller's memory.
// - A kernel writes an output to the caller's memory if no other kernel of the step changes it.
// - Arrays of a stage's kernel are swapped by their addresses.
//
// One kernel computes the controls of all steps beforehand. Uniform numbers that stages read are uploaded beforehand.
//
// A run is asynchronous on its stream, like that of a rollout in one kernel. A run of a kind and size that a stream has seen
// before allocates nothing, and a CUDA graph may capture it.
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
  explicit CudaStages(const SequencePlan& plan);  // must outlive this object
  ~CudaStages() override;

  // Throws Error if NVRTC is missing, if a program is too large, if the device's memory is too small, and with the
  // message of CUDA.
  void run(const SequenceCall& call) override;

 private:
  struct Walk;  // one run

  // A kernel of a step: of programs, or of a stage that has its own kernel (cuda_items.cpp).
  struct Item {
    bool last = false;                        // runs only after the last step
    std::vector<int> reads;                   // arrays whose numbers from before the item are needed
    std::vector<int> changes;                 // arrays whose numbers differ after the item
    std::vector<std::pair<int, int>> places;  // of a stage: arrays that are swapped after it
    std::size_t stage = 0;                    // index in the plan, if the stage has its own kernel
    std::vector<int> arrays;                  // of programs: the plan's array for each of theirs
    RolloutProgram program;                   // before it is compiled
    std::unique_ptr<CudaRollout> rollout;     // null for a stage
    long length = 0;                          // instructions of programs
    std::vector<int> writes;                  // changed arrays that are read later
    bool in_place = false;                    // `changes` keep their numbers where the only program does not run
    std::vector<SequenceMemory> in, out;      // of `reads` and `writes`
    std::vector<int> in_at, out_at;           // among `arrays`
    std::vector<const double*> uniforms;      // of `arrays`
    std::unique_ptr<bool[]> every_step;       // of `arrays`: all false

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
    std::vector<int> outputs;  // arrays that calls request, ascending
    int controlled;            // the array that a call's controls fill, or -1
    std::vector<Item> items;
    std::vector<char> has_slot;             // arrays that need memory of the stream
    std::unique_ptr<CudaRollout> controls;  // computes the controls of all steps

    // Throws Error for a stage without a program, and the errors of RolloutProgram's compiler.
    Choice(const SequencePlan& plan, std::vector<int> outputs, int controlled,
           const std::shared_ptr<LoadedKernels>& kernels);
    void add_stage(const SequencePlan& plan, std::size_t k);
    bool is_read(const SequencePlan& plan, std::size_t item, int k) const;
  };
  Choice& choice(const SequenceCall& call);
  std::shared_ptr<const DeviceStage> stage(std::size_t of, int device, void* stream, const CudaTable& table);

  const SequencePlan& plan_;
  StreamMemory memory_{rollout_user};
  std::mutex mutex_;  // held during a run's launches; protects the members below
  const std::shared_ptr<LoadedKernels> kernels_ = std::make_shared<LoadedKernels>();  // of all choices
  std::vector<std::unique_ptr<Choice>> choices_;
  std::map<std::pair<int, std::size_t>, std::shared_ptr<const DeviceStage>> stages_;  // by device and stage of the plan
};

}  // namespace featherstorm
