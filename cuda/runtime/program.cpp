#include "cuda/runtime/program.h"

#include <cuda_runtime_api.h>

#include <climits>
#include <memory>

#include "cuda/runtime/error.h"

namespace featherstorm {

#if CUDART_VERSION >= 12080  // from this version on the runtime loads code itself

struct CudaProgram {
  int device = 0;
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  cudaFuncAttributes attributes{};

  CudaProgram() = default;
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;
  ~CudaProgram() {
    if (!library) return;
    // a launch may be pending; its errors are reported by the call that waits for its stream
    if (OnDevice on(device); on) cudaDeviceSynchronize(), cudaLibraryUnload(library);
  }
};

bool load_program(int device, const void* image, const char* name, CudaProgram** handle) {
  *handle = nullptr;
  OnDevice on(device);
  if (!on) return false;
  auto p = std::make_unique<CudaProgram>();
  p->device = device;
  // querying the attributes loads the code onto the device before the first launch
  if (!FEATHERSTORM_CUDA(cudaLibraryLoadData(&p->library, image, nullptr, nullptr, 0, nullptr, nullptr, 0)) ||
      !FEATHERSTORM_CUDA(cudaLibraryGetKernel(&p->kernel, p->library, name)) ||
      !FEATHERSTORM_CUDA(cudaFuncGetAttributes(&p->attributes, static_cast<const void*>(p->kernel))))
    return false;
  *handle = p.release();
  return true;
}

void unload_program(CudaProgram* handle) { delete handle; }

bool program_info(const CudaProgram* p, CudaKernelInfo* info) {
  *info = {p->attributes.numRegs, static_cast<int>(p->attributes.localSizeBytes), p->attributes.maxThreadsPerBlock, 0,
           0};
  return true;
}

bool launch_arguments(const CudaProgram* p, void** arguments, long count, int threads, void* stream) {
  if (count < 0 || threads < 1 || threads > p->attributes.maxThreadsPerBlock)
    return cuda_failed("a program was given count " + std::to_string(count) + ", " + std::to_string(threads) +
                       " threads per block of " + std::to_string(p->attributes.maxThreadsPerBlock));
  if (count == 0) return true;
  const long blocks = (count + threads - 1) / threads;
  if (blocks > INT_MAX) return cuda_failed("a batch of " + std::to_string(count) + " instances is too large");
  OnDevice on(p->device);
  return on && FEATHERSTORM_CUDA(cudaLaunchKernel(
                   static_cast<const void*>(p->kernel), dim3(static_cast<unsigned>(blocks)),
                   dim3(static_cast<unsigned>(threads)), arguments, 0, static_cast<cudaStream_t>(stream)));
}

bool launch_program(const CudaProgram* p, const ProgramLaunch* launch, void* stream) {
  if (launch->repeat < 1) return cuda_failed("a program was given repeat " + std::to_string(launch->repeat));
  long repeat = launch->repeat, first = 0, count = launch->count;
  // the kernel reads as many bytes of each as it declares
  void* arguments[] = {const_cast<Array*>(launch->in),
                       const_cast<Array*>(launch->out),
                       const_cast<void*>(launch->uniform),
                       &repeat,
                       &first,
                       &count};
  return launch_arguments(p, arguments, count, launch->threads, stream);
}

#else

struct CudaProgram {};
namespace {
bool too_old() {
  return cuda_failed("this CUDA library was built with a toolkit older than 12.8, which loads no kernels");
}
}  // namespace
bool load_program(int, const void*, const char*, CudaProgram** handle) { return *handle = nullptr, too_old(); }
void unload_program(CudaProgram*) {}
bool program_info(const CudaProgram*, CudaKernelInfo*) { return too_old(); }
bool launch_program(const CudaProgram*, const ProgramLaunch*, void*) { return too_old(); }
bool launch_arguments(const CudaProgram*, void**, long, int, void*) { return too_old(); }

#endif

}  // namespace featherstorm
