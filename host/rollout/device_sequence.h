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
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/emit/rollout.h"
#include "host/compile/dispatch.h"
#include "host/memory/cuda_table.h"
#include "host/memory/memory.h"
#include "host/rollout/controls.h"

namespace featherstorm {

class DeviceCompiler;

// One run, its arguments checked, with the rollout's array for each memory.
struct DeviceRun {
  Precision precision;
  int device;
  long steps, instances;
  const SequenceMemory *in, *out;
  const int *in_at, *out_at;
  int in_count, out_count;
  const double* const* uniforms;  // for each array its numbers; null where it is not uniform
  const bool* every_step;         // for each array whether there are numbers for each step
  const Controls* controls;       // null: none
  int controlled;
  void* stream;
};

class DeviceSequence {
 public:
  DeviceSequence();
  ~DeviceSequence();

  // `sequence`: its arrays, stages and checks; the same at every call. Throws Error where there is no NVRTC, where a
  // program is too large, and with CUDA's words.
  void run(const Rollout& sequence, const DeviceRun& run);

 private:
  struct Variant;  // the kernel for one choice of arrays that are read and written
  struct Work {
    void* memory = nullptr;
    unsigned long bytes = 0;
  };
  const Variant& variant(const Rollout& sequence, const DeviceRun& run, const CudaTable& table);
  void* work(const CudaTable& table, const DeviceRun& run, unsigned long bytes);
  template <class Real>
  void launch(const Variant& v, const DeviceRun& run, const CudaTable& table);

  std::mutex mutex_;      // of the members below
  std::mutex launching_;  // from the upload of a run's numbers to its kernel
  std::vector<std::unique_ptr<Variant>> variants_;
  std::map<std::pair<int, void*>, Work> work_;   // by device and stream
  std::vector<std::pair<int, void*>> outgrown_;  // captured graphs may use it
  std::unique_ptr<DeviceCompiler> compiler_;
  std::unique_ptr<const Dispatch> dispatch_;
};

}  // namespace featherstorm
