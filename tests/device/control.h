// Control of the fake CUDA library in tests: selects it as this process's CUDA library and gives access to its
// functions.
#pragma once
#include <dlfcn.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "host/system/error.h"
#include "tests/device/fake_cuda/fake_cuda.h"

namespace featherstorm::testing {

constexpr int device = 1;  // the second of its two devices

inline const bool fake_cuda_chosen = setenv("FEATHERSTORM_BACKENDS", FEATHERSTORM_FAKE_CUDA, 1) == 0 &&
                                     setenv("FEATHERSTORM_NVRTC", FEATHERSTORM_FAKE_CUDA "/libnvrtc.so", 1) == 0;

template <class Function>
Function* control(const char* name) {
  static void* library = dlopen(FEATHERSTORM_FAKE_CUDA "/libfeatherstorm_cuda.so", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}
template <class Function>
Function* compiler_control(const char* name) {
  static void* library = dlopen(FEATHERSTORM_FAKE_CUDA "/libnvrtc.so", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}
inline StandInCounts counts() {
  StandInCounts c;
  control<decltype(fake_cuda_counts)>("fake_cuda_counts")(&c);
  return c;
}
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

// The message of the Error that `f` throws.
inline std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) { return e.what(); }
  return "no error";
}

}  // namespace featherstorm::testing
