// The CUDA library and the device of these tests. FEATHERSTORM_TEST_DEVICE says which:
//
//   fake   the fake CUDA library, which is the default: the second of its two devices
//   real   the CUDA library of the build, or of FEATHERSTORM_BACKENDS, with the first GPU of this machine and NVRTC
//
// A test that reads a counter or asks for a fault of the fake library ends there on a GPU, as skipped. Tests therefore
// compare results first.
#pragma once
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>

#include "tests/device/fake_cuda/fake_cuda.h"
#include "tests/support/tools/message.h"

namespace featherstorm::testing {

inline const bool real_gpu = [] {
  const char* given = std::getenv("FEATHERSTORM_TEST_DEVICE");
  const std::string which = given ? given : "fake";
  if (which != "fake" && which != "real")
    throw std::runtime_error("FEATHERSTORM_TEST_DEVICE is " + which + ", expected fake or real");
  if (which == "fake") {
    setenv("FEATHERSTORM_BACKENDS", FEATHERSTORM_FAKE_CUDA, 1);
    setenv("FEATHERSTORM_NVRTC", FEATHERSTORM_FAKE_CUDA "/libnvrtc.so", 1);
  }
  return which == "real";
}();
inline const int device = real_gpu ? 0 : 1;

// The bound of a comparison with the host. The fake CUDA library rounds like the host. A GPU's compiler fuses products
// with sums, so that solvers may end after another iteration.
inline double bound(double fake, double gpu) { return real_gpu ? gpu : fake; }

// Ends a test on a GPU, as skipped. The exception is one that GoogleTest takes as reported.
inline void needs_fake_cuda() {
  if (!real_gpu) return;
  const char* why = "the rest needs the fake CUDA library: its counters, its faults, or its second device";
  [&] { GTEST_SKIP() << why; }();
  throw ::testing::AssertionException({::testing::TestPartResult::kSkip, __FILE__, __LINE__, why});
}

template <class Function>
Function* control(const char* name) {
  needs_fake_cuda();
  static void* library = dlopen(FEATHERSTORM_FAKE_CUDA "/libfeatherstorm_cuda.so", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}
template <class Function>
Function* compiler_control(const char* name) {
  needs_fake_cuda();
  static void* library = dlopen(FEATHERSTORM_FAKE_CUDA "/libnvrtc.so", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}
inline StandInCounts counts() {
  StandInCounts c;
  control<decltype(fake_cuda_counts)>("fake_cuda_counts")(&c);
  return c;
}
// Counters at the start of a test that compares results before it reads them again; zeros on a GPU.
inline StandInCounts counts_before() { return real_gpu ? StandInCounts{} : counts(); }
inline StandInSolver last_solver() {
  StandInSolver s;
  control<decltype(fake_cuda_solver)>("fake_cuda_solver")(&s);
  return s;
}
inline void fail_next(const char* function, int error) {
  control<decltype(fake_cuda_fail)>("fake_cuda_fail")(function, error);
}
inline void set_devices(int count) { control<decltype(fake_cuda_set_devices)>("fake_cuda_set_devices")(count); }
inline void set_memory(unsigned long bytes) { control<decltype(fake_cuda_set_memory)>("fake_cuda_set_memory")(bytes); }
inline void set_local_bytes(unsigned long bytes) {
  control<decltype(fake_cuda_set_local_bytes)>("fake_cuda_set_local_bytes")(bytes);
}
inline int compiled() { return compiler_control<decltype(fake_cuda_nvrtc_compiled)>("fake_cuda_nvrtc_compiled")(); }
inline void refuse_next_text() { compiler_control<decltype(fake_cuda_nvrtc_refuse)>("fake_cuda_nvrtc_refuse")(); }
inline int program_launches() { return control<decltype(fake_cuda_program_launches)>("fake_cuda_program_launches")(); }
inline int program_threads() { return control<decltype(fake_cuda_program_threads)>("fake_cuda_program_threads")(); }

// Error numbers of cuda_runtime_api.h, which the engine's tests do not include.
inline constexpr int out_of_memory = 2, invalid_image = 200, illegal_address = 700, out_of_resources = 701;

}  // namespace featherstorm::testing
