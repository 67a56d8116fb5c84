#include "cuda/runtime/graph.h"

#include <cuda_runtime_api.h>

#include <memory>

#include "cuda/runtime/error.h"

namespace featherstorm {

struct CudaGraph {
  int device = 0;
  cudaGraphExec_t launchable = nullptr;

  CudaGraph() = default;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  ~CudaGraph() {
    if (launchable) cudaGraphExecDestroy(launchable);
  }
};

struct CudaTimer {
  int device = 0;
  cudaEvent_t begin = nullptr, end = nullptr;

  CudaTimer() = default;
  CudaTimer(const CudaTimer&) = delete;
  CudaTimer& operator=(const CudaTimer&) = delete;
  ~CudaTimer() {
    if (begin) cudaEventDestroy(begin);
    if (end) cudaEventDestroy(end);
  }
};

bool create_stream(int device, void** stream) {
  cudaStream_t made = nullptr;
  OnDevice on(device);
  if (!on || !FEATHERSTORM_CUDA(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking))) return false;
  return *stream = made, true;
}
bool destroy_stream(int device, void* stream) {
  OnDevice on(device);
  return on && FEATHERSTORM_CUDA(cudaStreamDestroy(static_cast<cudaStream_t>(stream)));
}

bool begin_capture(int device, void* stream) {
  if (!stream) return cuda_failed("the default stream cannot be captured into a graph; give another stream");
  OnDevice on(device);
  // other threads, and other streams of this thread, are not affected
  return on &&
         FEATHERSTORM_CUDA(cudaStreamBeginCapture(static_cast<cudaStream_t>(stream), cudaStreamCaptureModeThreadLocal));
}
bool end_capture(int device, void* stream, CudaGraph** graph) {
  *graph = nullptr;
  OnDevice on(device);
  cudaGraph_t captured = nullptr;
  if (!on || !FEATHERSTORM_CUDA(cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &captured))) return false;
  auto made = std::make_unique<CudaGraph>();
  made->device = device;
  const bool ready = FEATHERSTORM_CUDA(cudaGraphInstantiate(&made->launchable, captured, 0));
  cudaGraphDestroy(captured);
  if (ready) *graph = made.release();
  return ready;
}
bool launch_graph(const CudaGraph* graph, void* stream) {
  OnDevice on(graph->device);
  return on && FEATHERSTORM_CUDA(cudaGraphLaunch(graph->launchable, static_cast<cudaStream_t>(stream)));
}
void destroy_graph(CudaGraph* graph) { delete graph; }

bool create_timer(int device, CudaTimer** timer) {
  *timer = nullptr;
  OnDevice on(device);
  auto made = std::make_unique<CudaTimer>();
  made->device = device;
  if (!on || !FEATHERSTORM_CUDA(cudaEventCreate(&made->begin)) || !FEATHERSTORM_CUDA(cudaEventCreate(&made->end)))
    return false;
  return *timer = made.release(), true;
}
bool start_timer(CudaTimer* timer, void* stream) {
  OnDevice on(timer->device);
  return on && FEATHERSTORM_CUDA(cudaEventRecord(timer->begin, static_cast<cudaStream_t>(stream)));
}
bool stop_timer(CudaTimer* timer, void* stream) {
  OnDevice on(timer->device);
  return on && FEATHERSTORM_CUDA(cudaEventRecord(timer->end, static_cast<cudaStream_t>(stream)));
}
bool timer_seconds(CudaTimer* timer, double* seconds) {
  float milliseconds = 0;
  OnDevice on(timer->device);
  if (!on || !FEATHERSTORM_CUDA(cudaEventSynchronize(timer->end)) ||
      !FEATHERSTORM_CUDA(cudaEventElapsedTime(&milliseconds, timer->begin, timer->end)))
    return false;
  return *seconds = 1e-3 * milliseconds, true;
}
void destroy_timer(CudaTimer* timer) { delete timer; }

}  // namespace featherstorm
