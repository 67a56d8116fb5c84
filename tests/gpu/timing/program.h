// Device 0 and kernels from their text on it, compiled by NVRTC as the engine does.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "host/compile/nvrtc.h"
#include "host/memory/cuda_backend.h"
#include "host/memory/device.h"

namespace featherstorm::testing {

inline const CudaTable& device_table() { return cuda_for("tests/gpu", 0); }
inline void succeed(bool ok) {
  if (!ok) throw_cuda_error(device_table(), "tests/gpu", 0);
}
inline const Nvrtc& nvrtc() {
  static const Nvrtc compiler;
  if (!compiler.missing().empty()) throw std::runtime_error(compiler.missing());
  return compiler;
}
inline const CudaDevice& device_info() {
  static const CudaDevice info = [] {
    CudaDevice d;
    succeed(device_table().device_info(0, &d));
    return d;
  }();
  return info;
}
inline int device_capability() { return 10 * device_info().major + device_info().minor; }
inline std::string device_target() { return nvrtc().target(device_capability()); }

class GpuProgram {
 public:
  explicit GpuProgram(const std::string& image) {
    succeed(device_table().load_program(0, image.data(), "featherstorm_kernel", &program_));
    succeed(device_table().program_info(program_, &info));
  }
  ~GpuProgram() { device_table().unload_program(program_); }
  GpuProgram(const GpuProgram&) = delete;
  GpuProgram& operator=(const GpuProgram&) = delete;

  // An emitted kernel (core/emit/emit.h).
  void launch(const std::vector<Array>& in, const std::vector<Array>& out, const void* uniform, long repeat, long count,
              int threads, void* stream) const {
    const ProgramLaunch l{in.data(), out.data(), uniform, repeat, count, threads};
    succeed(device_table().launch_program(program_, &l, stream));
  }
  // A kernel with any parameters, for `count` threads in all.
  template <class... P>
  void launch_with(long count, int threads, void* stream, P... parameters) const {
    void* addresses[] = {&parameters...};
    succeed(device_table().launch_arguments(program_, addresses, count, threads, stream));
  }
  CudaKernelInfo info{};

 private:
  CudaProgram* program_ = nullptr;
};

// A kernel of a few lines. `i` is the thread's number, threads from `count` on do nothing.
class SmallKernel {
 public:
  SmallKernel(const std::string& parameters, const std::string& body)
      : code_(nvrtc().compile("namespace featherstorm { namespace vector_math {\n"
                              "struct alignas(16) Sixteen { unsigned x[4]; };  // bytes\n"
                              "extern \"C\" __global__ void featherstorm_kernel(" +
                                  parameters +
                                  ", long count) {\n"
                                  "  const long i = long(blockIdx.x) * blockDim.x + threadIdx.x;\n"
                                  "  if (i >= count) return;\n" +
                                  body + "}\n} }\n",
                              device_target())),
        program_(code_.image) {}
  template <class... P>
  void launch(long count, int threads, void* stream, P... parameters) const {
    program_.launch_with(count, threads, stream, parameters..., count);
  }
  const CudaKernelInfo& info() const { return program_.info; }

 private:
  DeviceCode code_;
  GpuProgram program_;
};

}  // namespace featherstorm::testing
