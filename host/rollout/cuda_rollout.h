// A sequence's rollouts on CUDA devices: one kernel for the whole horizon (core/emit/rollout.h), made by NVRTC at the
// first run of its kind and kept on disk.
//
// The device never waits for the host, nor the host for it: state and costs stay in registers from the first step to
// the last, controls are drawn in the kernel, numbers that are the same for all instances travel as parameters of
// launches (cuda/kernels/upload.h), and working memory is kept for each stream. A run of a kind and size that a stream has seen
// takes no memory and only launches kernels, so a CUDA graph may capture it; the graph may be launched as long as the
// sequence lives. Numbers that are to change from launch to launch of a graph lie on the device: states, knots,
// Controls::device_mean and Controls::device_draw.
//
// Noise: the words are those of host/rollout/noise.h, bit for bit; normal numbers and all that follows agree with the host's up
// to rounding (the device fuses products with sums).
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

// Kernels that are loaded on devices, one for each text: passes of a step that are alike share theirs.
class LoadedKernels {
 public:
  LoadedKernels();
  ~LoadedKernels();

  // The kernel of a text; `others` are further texts of it, of which the best is taken, and are asked for where it is not there yet.
  // Throws Error where there is no NVRTC, and with CUDA's words.
  using Texts = std::vector<std::pair<DeviceForm, std::string>>;
  CudaProgram* kernel(const CudaTable& table, int device, int capability,
                      const std::pair<DeviceForm, std::string>& text, const std::function<Texts()>& others);
  // Waits for the devices; no kernel may be used any more. Destruction does it.
  void unload();

 private:
  std::mutex mutex_;
  std::unique_ptr<DeviceCompiler> compiler_;
  std::map<std::pair<int, std::string>, CudaProgram*> programs_;  // by device and first text
};

class CudaRollout : public RolloutBackend {
 public:
  // The programs of the stages are traced at the first run.
  explicit CudaRollout(const SequencePlan& plan);  // which must stay
  // Its arrays, stages and checks; the kernels may be those of several.
  CudaRollout(RolloutProgram program, std::shared_ptr<LoadedKernels> kernels);
  ~CudaRollout() override;

  // Throws Error where there is no NVRTC, where a program is too large, and with CUDA's words.
  void run(const SequenceCall& call) override;

 private:
  struct Variant;  // the kernel for one choice of arrays that are read and written
  const RolloutProgram& program();
  const Variant& variant(const SequenceCall& run, const CudaTable& table);
  template <class Real>
  void launch(const Variant& v, const SequenceCall& run, const CudaTable& table);

  const SequencePlan* plan_ = nullptr;
  StreamMemory memory_{rollout_user};  // of numbers of the host
  std::mutex launching_;               // from the upload of a run's numbers to its kernel
  std::mutex mutex_;                   // of the members below
  std::optional<RolloutProgram> program_;
  std::vector<std::unique_ptr<Variant>> variants_;
  std::shared_ptr<LoadedKernels> kernels_ = std::make_shared<LoadedKernels>();
  std::unique_ptr<const Dispatch> dispatch_;
};

}  // namespace featherstorm
