// Streams of a CUDA device, graphs captured from them, and time measured on the device.
//
//   DeviceStream stream(0);
//   run(stream.get());                                            // once, to allocate memory and load kernels
//   DeviceGraph graph(0, stream.get(), [&] { run(stream.get()); });
//   graph.launch(stream.get());                                   // runs the whole again, as one launch
//
// Failures throw Error with CUDA's message. The memory used by a graph must live as long as the graph is launched.
#pragma once
#include <functional>

#include "host/memory/cuda_table.h"

namespace featherstorm {

// A stream that does not wait for the default stream.
class DeviceStream {
 public:
  explicit DeviceStream(int device);
  ~DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  int device() const { return device_; }
  void* get() const { return stream_; }  // a cudaStream_t

 private:
  int device_;
  void* stream_ = nullptr;
};

class DeviceGraph {
 public:
  // Captures the work that `work` submits to `stream` instead of running it. `stream` must not be the default stream.
  // Passes on exceptions of `work`.
  DeviceGraph(int device, void* stream, const std::function<void()>& work);
  ~DeviceGraph();
  DeviceGraph(const DeviceGraph&) = delete;
  DeviceGraph& operator=(const DeviceGraph&) = delete;
  void launch(void* stream) const;

 private:
  int device_;
  CudaGraph* graph_ = nullptr;
};

class DeviceTimer {
 public:
  explicit DeviceTimer(int device);
  ~DeviceTimer();
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;
  void start(void* stream);
  void stop(void* stream);
  double seconds();  // time between the two marks; waits for the second

 private:
  int device_;
  CudaTimer* timer_ = nullptr;
};

}  // namespace featherstorm
