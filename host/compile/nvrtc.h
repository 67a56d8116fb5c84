// NVIDIA's run-time compiler libnvrtc, loaded if it is installed. It compiles CUDA source to machine code.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace featherstorm {

// Resources of a kernel, as reported by its compiler; all 0 if the source was compiled only to PTX.
struct DeviceCost {
  int registers = 0;                      // per thread
  int spill_stores = 0, spill_loads = 0;  // [bytes] per thread
  int code = 0;                           // [bytes]
  int instructions = 0;                   // without padding
  int stack = 0;                          // [bytes] per thread for arrays that are not in registers, including spills
};

struct DeviceCode {
  std::string image;  // a cubin, or PTX, which the driver compiles
  DeviceCost cost;
};

// Any number of threads may use one object.
class Nvrtc {
 public:
  // Loads the library named by FEATHERSTORM_NVRTC, and no other. If the variable is not set, loads libnvrtc.so.13 or
  // .12 from the loader's folders, from $CUDA_HOME, $CUDA_PATH or /usr/local/cuda.
  Nvrtc();
  ~Nvrtc();
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  // The reason why nothing can be compiled, or "".
  const std::string& missing() const { return missing_; }
  // Version and options, on which the machine code depends besides the source and the target.
  const std::string& identity() const { return identity_; }

  // The target for a device of compute capability 10 major + minor: "sm_90", or "compute_90", which is PTX, if this
  // compiler is older than the device. Throws Error if the compiler does not support so old a device.
  std::string target(int capability) const;

  // Throws Error with the compiler's messages if the source does not compile. Requires missing().empty().
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
