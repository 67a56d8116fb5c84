// A kernel from its text on device 0, compiled by NVRTC as the engine does, and its time.
#pragma once
#include <algorithm>
#include <chrono>
#include <memory>

#include "host/device_kernel.h"
#include "tests/gpu/batch.h"

namespace featherstorm::testing {

inline const Nvrtc& nvrtc() {
  static const Nvrtc compiler;
  if (!compiler.missing().empty()) throw std::runtime_error(compiler.missing());
  return compiler;
}
inline CudaDevice device_info() {
  CudaDevice info;
  require(gpu().device_info(0, &info));
  return info;
}
inline std::string device_target() {
  const CudaDevice d = device_info();
  return nvrtc().target(10 * d.major + d.minor);
}

class GpuProgram {
 public:
  explicit GpuProgram(const std::string& image) {
    require(gpu().load_program(0, image.data(), "featherstorm_kernel", &program_));
    require(gpu().program_info(program_, &info));
  }
  ~GpuProgram() { gpu().unload_program(program_); }
  GpuProgram(const GpuProgram&) = delete;
  GpuProgram& operator=(const GpuProgram&) = delete;

  void launch(const std::vector<Array>& in, const std::vector<Array>& out, const void* uniform, long repeat, long count,
              int threads) const {
    const ProgramLaunch l{in.data(), out.data(), uniform, repeat, count, threads};
    require(gpu().launch_program(program_, &l, nullptr));
  }
  CudaKernelInfo info{};

 private:
  CudaProgram* program_ = nullptr;
};

// Seconds of one launch: median, least and most of 9 series that take 20 ms each.
struct Time {
  double median, least, most;
  int launches;
};
template <class F>
Time time_of(F&& launch) {
  using Clock = std::chrono::steady_clock;
  const auto series = [&](int launches) {
    const auto start = Clock::now();
    for (int k = 0; k < launches; k++) launch();
    require(gpu().synchronise(0, nullptr));
    return std::chrono::duration<double>(Clock::now() - start).count() / launches;
  };
  int launches = 1;
  while (series(launches) * launches < 0.02 && launches < 20000) launches *= 2;
  std::vector<double> s;
  for (int k = 0; k < 9; k++) s.push_back(series(launches));
  std::sort(s.begin(), s.end());
  return {s[4], s[0], s[8], launches};
}

}  // namespace featherstorm::testing
