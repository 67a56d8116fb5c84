// The imitation of the CUDA runtime (fake_cuda.h).
#include "tests/device/fake_cuda/runtime.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/device/fake_cuda/fake_cuda.h"

namespace {

struct Capture {
  std::thread::id by;  // the thread that began it; the mode is cudaStreamCaptureModeThreadLocal
  std::vector<std::function<void()>> work;
};
struct State {
  std::recursive_mutex mutex;
  int devices = 2;
  std::size_t local_bytes = 0;                // of each kernel, as reported
  std::size_t memory = std::size_t(1) << 36;  // of a device, as reported
  StandInCounts counts{};
  std::map<std::string, cudaError_t> failing;
  std::map<cudaStream_t, std::vector<std::function<void()>>> waiting;  // work by stream
  std::map<void*, std::size_t> live;                                   // sizes of blocks in use
  std::multimap<std::pair<int, std::size_t>, void*> kept;              // the pools' free blocks by device and size
  std::map<void*, int> pool_of;                                        // device of a pool's block
  std::map<cudaStream_t, Capture> captured;                            // by stream, while it is captured
  cudaError_t sticky = cudaSuccess;                                    // failure of a kernel, reported at the next wait
};
State& state() {
  static State* s = new State;  // outlives models destroyed at the end of the process
  return *s;
}
thread_local int current_device = 0;
thread_local cudaError_t last_error = cudaSuccess;

// Appends work to a stream, or to the graph that captures it.
void give(cudaStream_t stream, std::function<void()> work) {
  State& s = state();
  const auto captured = s.captured.find(stream);
  (captured != s.captured.end() ? captured->second.work : s.waiting[stream]).push_back(std::move(work));
}
// A thread that captures a stream may neither wait nor allocate memory; other threads may.
bool this_thread_captures() {
  for (const auto& [stream, capture] : state().captured)
    if (capture.by == std::this_thread::get_id()) return true;
  return false;
}

using Lock = std::lock_guard<std::recursive_mutex>;

// The requested error, once.
cudaError_t asked(const char* function) {
  const auto found = state().failing.find(function);
  if (found == state().failing.end()) return cudaSuccess;
  const cudaError_t error = found->second;
  state().failing.erase(found);
  return last_error = error;
}

void* fresh(std::size_t bytes) {
  void* p = std::malloc(bytes);
  std::memset(p, 0xff, bytes);
  state().live[p] = bytes;
  state().counts.driver_allocations++;
  return p;
}

cudaError_t wait(cudaStream_t stream) {
  State& s = state();
  s.counts.waits++;
  for (const auto& work : std::exchange(s.waiting[stream], {})) work();
  return std::exchange(s.sticky, cudaSuccess);
}

}  // namespace

cudaError_t fake_cuda_launch(cudaStream_t stream, std::function<void()> work) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("launch")) return e;
  StandInCounts& c = state().counts;
  c.launches++, c.device = current_device, c.stream = stream;
  give(stream, [work] {
    if (const cudaError_t e = asked("kernel")) state().sticky = e;
    else work();
  });
  return cudaGetLastError();  // as launches written <<<>>> report it, including an earlier failure
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorInvalidKernelImage: return "cudaErrorInvalidKernelImage";
    case cudaErrorSymbolNotFound: return "cudaErrorSymbolNotFound";
    case cudaErrorIllegalAddress: return "cudaErrorIllegalAddress";
    case cudaErrorLaunchOutOfResources: return "cudaErrorLaunchOutOfResources";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
  }
  return "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidKernelImage: return "device kernel image is invalid";
    case cudaErrorSymbolNotFound: return "named symbol not found";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    case cudaErrorLaunchOutOfResources: return "too many resources requested for launch";
    case cudaErrorStreamCaptureUnsupported: return "operation not permitted when stream is capturing";
  }
  return "unrecognized error code";
}
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

cudaError_t cudaGetDeviceCount(int* count) {
  Lock lock(state().mutex);
  *count = state().devices;
  if (const cudaError_t e = asked("cudaGetDeviceCount")) return *count = 0, e;
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device < 0 || device >= state().devices) return cudaErrorInvalidDevice;
  *p = cudaDeviceProp{};
  std::strcpy(p->name, "fake-cuda without a GPU");
  p->major = 8, p->multiProcessorCount = 1, p->maxThreadsPerMultiProcessor = 2048, p->totalGlobalMem = state().memory;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) { return *device = current_device, cudaSuccess; }
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= state().devices) return cudaErrorInvalidDevice;
  return current_device = device, cudaSuccess;
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("cudaMalloc")) return e;
  if (this_thread_captures()) return cudaErrorStreamCaptureUnsupported;
  *memory = fresh(bytes);
  state().counts.live_blocks++;
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  Lock lock(state().mutex);
  if (!memory) return cudaSuccess;
  if (state().live.erase(memory) == 0) return cudaErrorInvalidValue;
  std::free(memory);
  state().counts.live_blocks--;
  return cudaSuccess;
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* p) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("cudaMemPoolCreate")) return e;
  *pool = reinterpret_cast<cudaMemPool_t>(static_cast<std::size_t>(p->location.id) + 1);
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMallocFromPoolAsync(void** memory, std::size_t bytes, cudaMemPool_t pool, cudaStream_t) {
  Lock lock(state().mutex);
  State& s = state();
  if (const cudaError_t e = asked("cudaMallocFromPoolAsync")) return e;
  if (this_thread_captures()) return cudaErrorStreamCaptureUnsupported;
  s.counts.pool_allocations++, s.counts.live_blocks++;
  const int device = static_cast<int>(reinterpret_cast<std::size_t>(pool)) - 1;
  if (const auto found = s.kept.find({device, bytes}); found != s.kept.end()) {
    *memory = found->second;
    s.live[*memory] = bytes;
    s.kept.erase(found);
    return cudaSuccess;
  }
  *memory = fresh(bytes);
  s.pool_of[*memory] = device;
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  Lock lock(state().mutex);
  if (state().live.count(memory) == 0) return cudaErrorInvalidValue;
  state().counts.live_blocks--;
  give(stream, [memory] {
    State& s = state();
    const auto found = s.live.find(memory);
    std::memset(memory, 0xff, found->second);
    s.kept.insert({{s.pool_of[memory], found->second}, memory});
    s.live.erase(found);
  });
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("cudaMemsetAsync")) return e;
  give(stream, [=] { std::memset(memory, value, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("cudaMemcpy")) return e;
  if (this_thread_captures()) return cudaErrorStreamCaptureUnsupported;
  state().counts.waits++;
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t row_bytes, std::size_t rows, cudaMemcpyKind, cudaStream_t stream) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("cudaMemcpy2DAsync")) return e;
  if (row_bytes > to_pitch || row_bytes > from_pitch) return cudaErrorInvalidValue;
  give(stream, [=] {
    for (std::size_t r = 0; r < rows; r++)
      std::memcpy(static_cast<char*>(to) + r * to_pitch, static_cast<const char*>(from) + r * from_pitch, row_bytes);
  });
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("cudaStreamSynchronize")) return e;
  if (this_thread_captures() || state().captured.count(stream)) return cudaErrorStreamCaptureUnsupported;
  return wait(stream);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  Lock lock(state().mutex);
  *status = state().captured.count(stream) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("cudaStreamCreateWithFlags")) return e;
  return *stream = reinterpret_cast<cudaStream_t>(new char), cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  Lock lock(state().mutex);
  for (const auto& work : std::exchange(state().waiting[stream], {})) work();
  state().waiting.erase(stream);
  delete reinterpret_cast<char*>(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("cudaStreamBeginCapture")) return e;
  if (!stream || !state().captured.emplace(stream, Capture{std::this_thread::get_id(), {}}).second)
    return cudaErrorStreamCaptureUnsupported;
  return cudaSuccess;
}
struct CUgraph_st { std::vector<std::function<void()>> work; };
struct CUgraphExec_st { std::vector<std::function<void()>> work; };
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  Lock lock(state().mutex);
  const auto captured = state().captured.find(stream);
  if (captured == state().captured.end()) return cudaErrorInvalidValue;
  *graph = new CUgraph_st{std::move(captured->second.work)};
  state().captured.erase(captured);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* launchable, cudaGraph_t graph, unsigned long long) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("cudaGraphInstantiate")) return e;
  return *launchable = new CUgraphExec_st{graph->work}, cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t launchable, cudaStream_t stream) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("cudaGraphLaunch")) return e;
  for (const auto& work : launchable->work) give(stream, work);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t launchable) { return delete launchable, cudaSuccess; }
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete graph, cudaSuccess; }
// An event is the moment at which its stream reached it.
struct CUevent_st {
  cudaStream_t stream = nullptr;
  std::chrono::steady_clock::time_point when{};
};
cudaError_t cudaEventCreate(cudaEvent_t* event) { return *event = new CUevent_st, cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  Lock lock(state().mutex);
  event->stream = stream;
  give(stream, [event] { event->when = std::chrono::steady_clock::now(); });
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) { return cudaStreamSynchronize(event->stream); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->when - begin->when).count();
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete event, cudaSuccess; }
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("cudaMemGetInfo")) return e;
  std::size_t taken = 0;
  for (const auto& block : state().live) taken += block.second;
  *total = state().memory, *free = taken < *total ? *total - taken : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  Lock lock(state().mutex);
  State& s = state();
  s.counts.waits++;
  for (auto& stream : s.waiting)
    for (const auto& work : std::exchange(stream.second, {})) work();
  return s.sticky;  // for the streams of both devices; an error is reported to whoever waits for its stream
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* a, const void* kernel) {
  Lock lock(state().mutex);
  if (const cudaError_t e = asked("cudaFuncGetAttributes")) return e;
  if (!kernel) return cudaErrorInvalidValue;
  *a = {32, fake_cuda_max_threads(kernel), state().local_bytes};
  return cudaSuccess;
}
cudaError_t fake_cuda_asked(const char* function) {
  Lock lock(state().mutex);
  return asked(function);
}
void fake_cuda_count_programs(int change) {
  Lock lock(state().mutex);
  state().counts.live_programs += change;
}

extern "C" {
__attribute__((visibility("default"))) void fake_cuda_counts(StandInCounts* counts) {
  Lock lock(state().mutex);
  *counts = state().counts;
}
__attribute__((visibility("default"))) void fake_cuda_fail(const char* function, int error) {
  Lock lock(state().mutex);
  state().failing[function] = static_cast<cudaError_t>(error);
}
__attribute__((visibility("default"))) void fake_cuda_set_local_bytes(unsigned long bytes) {
  Lock lock(state().mutex);
  state().local_bytes = bytes;
}
__attribute__((visibility("default"))) void fake_cuda_set_memory(unsigned long bytes) {
  Lock lock(state().mutex);
  state().memory = bytes;
}
__attribute__((visibility("default"))) void fake_cuda_set_devices(int count) {
  Lock lock(state().mutex);
  state().devices = count;
}
}
