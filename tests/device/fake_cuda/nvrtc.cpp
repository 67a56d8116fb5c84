// The part of libnvrtc that host/compile/nvrtc.cpp uses. Its machine code is a mark followed by the source itself. The
// reported registers are invented and the same for every source.
#include <atomic>
#include <cstring>
#include <string>

#include "tests/device/fake_cuda/fake_cuda.h"

namespace {
struct Program { std::string text, image, log; };
std::atomic<int> compiled{0};
std::atomic<bool> refuse{false};

int copy(const std::string& s, char* to) { return std::memcpy(to, s.c_str(), s.size() + 1), 0; }
int size(const std::string& s, std::size_t* n) { return *n = s.size() + 1, 0; }
}  // namespace

#define FAKE_CUDA_API extern "C" __attribute__((visibility("default")))

FAKE_CUDA_API int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 0, 0; }
FAKE_CUDA_API int nvrtcGetNumSupportedArchs(int* count) { return *count = 2, 0; }
FAKE_CUDA_API int nvrtcGetSupportedArchs(int* all) { return all[0] = 75, all[1] = 80, 0; }
FAKE_CUDA_API int nvrtcCreateProgram(Program** p, const char* text, const char*, int, const char* const*,
                                     const char* const*) {
  return *p = new Program{text, "", ""}, 0;
}
FAKE_CUDA_API int nvrtcCompileProgram(Program* p, int count, const char* const* options) {
  compiled++;
  bool target = false;
  for (int k = 0; k < count; k++) target = target || !std::strcmp(options[k], "--gpu-architecture=sm_80");
  if (refuse.exchange(false) || !target) return p->log = "the fake CUDA library refuses this text", 6;
  p->image = "fake-cuda\n" + p->text;
  p->log =
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 0 barriers\n";
  return 0;
}
FAKE_CUDA_API int nvrtcDestroyProgram(Program** p) { return delete *p, *p = nullptr, 0; }
FAKE_CUDA_API int nvrtcGetProgramLogSize(Program* p, std::size_t* n) { return size(p->log, n); }
FAKE_CUDA_API int nvrtcGetProgramLog(Program* p, char* to) { return copy(p->log, to); }
FAKE_CUDA_API int nvrtcGetCUBINSize(Program* p, std::size_t* n) { return size(p->image, n); }
FAKE_CUDA_API int nvrtcGetCUBIN(Program* p, char* to) { return copy(p->image, to); }
FAKE_CUDA_API int nvrtcGetPTXSize(Program* p, std::size_t* n) { return size(p->image, n); }
FAKE_CUDA_API int nvrtcGetPTX(Program* p, char* to) { return copy(p->image, to); }
FAKE_CUDA_API const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }

FAKE_CUDA_API int fake_cuda_nvrtc_compiled() { return compiled; }
FAKE_CUDA_API void fake_cuda_nvrtc_refuse() { refuse = true; }
