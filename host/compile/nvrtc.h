// NVIDIA's run-time compiler, libnvrtc, loaded where it is installed: CUDA text in, machine code out.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace featherstorm {

// What a kernel takes of the machine, as its compiler says; all 0 where the text was compiled to PTX only.
struct DeviceCost {
  int registers = 0;                      // per thread
  int spill_stores = 0, spill_loads = 0;  // [bytes] per thread
  int code = 0;                           // [bytes]
  int instructions = 0;                   // padding left out
  int stack = 0;                          // [bytes] per thread of arrays that are not in registers, spills included
};

struct DeviceCode {
  std::string image;  // a cubin, or PTX, which the driver compiles
  DeviceCost cost;
};

// Any number of threads may use one object.
class Nvrtc {
 public:
  // The library that FEATHERSTORM_NVRTC names, and no other; else libnvrtc.so.13 or .12 from the loader's folders, from
  // $CUDA_HOME, $CUDA_PATH or /usr/local/cuda.
  Nvrtc();
  ~Nvrtc();
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  // Why nothing can be compiled here, or "".
  const std::string& missing() const { return missing_; }
  // Version and options: what the machine code depends on besides the text and the target.
  const std::string& identity() const { return identity_; }

  // What to compile for a device of compute capability 10 major + minor: "sm_90", or "compute_90", which is PTX, where
  // this compiler is older than the device. Throws Error where it does not reach so far back.
  std::string target(int capability) const;

  // Throws Error with the compiler's messages where it refuses the text. Requires missing().empty().
  DeviceCode compile(const std::string& text, const std::string& target) const;

 private:
  struct Functions;
  bool open(const std::string& name);

  std::unique_ptr<Functions> f_;
  void* library_ = nullptr;
  std::string missing_, identity_;
  std::vector<int> capabilities_;
};

}  // namespace featherstorm
