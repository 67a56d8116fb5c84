#include "host/memory/device_graph.h"

#include "host/memory/cuda_backend.h"
#include "host/memory/device.h"

namespace featherstorm {
namespace {

void require(bool ok, const char* what, int device) {
  if (!ok) throw_cuda_error(cuda_for(what, device), what, device);
}

}  // namespace

DeviceStream::DeviceStream(int device) : device_(device) {
  require(cuda_for("stream", device).create_stream(device, &stream_), "stream", device);
}
DeviceStream::~DeviceStream() { cuda_backend()->destroy_stream(device_, stream_); }

DeviceGraph::DeviceGraph(int device, void* stream, const std::function<void()>& work) : device_(device) {
  const CudaTable& table = cuda_for("graph", device);
  require(table.begin_capture(device, stream), "graph", device);
  try {
    work();
  } catch (...) {
    if (CudaGraph* unfinished = nullptr; table.end_capture(device, stream, &unfinished))
      table.destroy_graph(unfinished);
    throw;
  }
  require(table.end_capture(device, stream, &graph_), "graph", device);
}
DeviceGraph::~DeviceGraph() { cuda_backend()->destroy_graph(graph_); }
void DeviceGraph::launch(void* stream) const {
  require(cuda_for("graph", device_).launch_graph(graph_, stream), "graph", device_);
}

DeviceTimer::DeviceTimer(int device) : device_(device) {
  require(cuda_for("timer", device).create_timer(device, &timer_), "timer", device);
}
DeviceTimer::~DeviceTimer() { cuda_backend()->destroy_timer(timer_); }
void DeviceTimer::start(void* stream) {
  require(cuda_for("timer", device_).start_timer(timer_, stream), "timer", device_);
}
void DeviceTimer::stop(void* stream) {
  require(cuda_for("timer", device_).stop_timer(timer_, stream), "timer", device_);
}
double DeviceTimer::seconds() {
  double s = 0;
  require(cuda_for("timer", device_).timer_seconds(timer_, &s), "timer", device_);
  return s;
}

}  // namespace featherstorm
