// Rollouts of a sequence on CUDA devices: one kernel for the whole horizon (core/emit/rollout.h). NVRTC compiles it at
// the first run of its kind, and it is stored on disk.
//
// The device never waits for the host, nor the host for the device:
//
// - State and costs stay in registers from the first step to the last.
// - Controls are drawn in the kernel.
// - Numbers that are the same for all instances are passed as parameters of launches (cuda/kernels/upload.h).
// - Working memory is kept for each stream.
//
// A run of a kind and size that a stream has seen before allocates nothing and only launches kernels, so a CUDA graph
// may capture it. The graph may be launched while the sequence lives. Numbers that change between launches of a graph
// must lie on the device: states, knots, Controls::device_mean and Controls::device_draw.
//
// The random words are those of host/rollout/noise.h, bit for bit. Normal numbers, and all numbers computed from them,
// agree with the host's up to rounding, because the device fuses products with sums.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/emit/rollout.h"
#include "host/compile/device_kernel.h"
#include "host/compile/dispatch.h"
#include "host/memory/stream_memory.h"
#include "host/rollout/rollout_backend.h"

namespace featherstorm {

// Kernels loaded on devices, one for each source: equal passes of a step share their kernel.
class LoadedKernels {
 public:
  LoadedKernels();
  ~LoadedKernels();

  // Return the kernel of a source. `others` returns further versions of the source, and is called only if the kernel is
  // not loaded yet; the best version is compiled. Throws Error if NVRTC is missing, and with the message of CUDA.
  using Texts = std::vector<std::pair<DeviceForm, std::string>>;
  CudaProgram* kernel(const CudaTable& table, int device, int capability,
                      const std::pair<DeviceForm, std::string>& text, const std::function<Texts()>& others);
  // Wait for the devices and unload all kernels, which may not be used afterwards. The destructor calls it.
  void unload();

 private:
  std::mutex mutex_;
  std::unique_ptr<DeviceCompiler> compiler_;
  std::map<std::pair<int, std::string>, CudaProgram*> programs_;  // by device and first source
};

class CudaRollout : public RolloutBackend {
 public:
  // The programs of the stages are traced at the first run.
  explicit CudaRollout(const SequencePlan& plan);  // must outlive this object
  // A rollout with the arrays, stages and checks of a program. `kernels` may be shared by several rollouts.
  CudaRollout(RolloutProgram program, std::shared_ptr<LoadedKernels> kernels);
  ~CudaRollout() override;

  // Throws Error if NVRTC is missing, if a program is too large, and with the message of CUDA.
  void run(const SequenceCall& call) override;

 private:
  struct Variant;  // the kernel for one choice of input and output arrays
  const RolloutProgram& program();
  const Variant& variant(const SequenceCall& run, const CudaTable& table);
  template <class Real>
  void launch(const Variant& v, const SequenceCall& run, const CudaTable& table);

  const SequencePlan* plan_ = nullptr;
  StreamMemory memory_{rollout_user};  // for numbers of the host
  std::mutex launching_;               // held from the upload of a run's numbers to the launch of its kernel
  std::mutex mutex_;                   // protects the members below
  std::optional<RolloutProgram> program_;
  std::vector<std::unique_ptr<Variant>> variants_;
  std::shared_ptr<LoadedKernels> kernels_ = std::make_shared<LoadedKernels>();
  std::unique_ptr<const Dispatch> dispatch_;
};

}  // namespace featherstorm
