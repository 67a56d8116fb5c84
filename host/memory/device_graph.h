// Streams of a CUDA device, graphs captured from them, and time measured on the device.
//
//   DeviceStream stream(0);
//   run(stream.get());                                            // once, so that memory is there and kernels are loaded
//   DeviceGraph graph(0, stream.get(), [&] { run(stream.get()); });
//   graph.launch(stream.get());                                   // all of it again, as one launch
//
// Errors are Error with CUDA's own words. What a graph works on must live as long as it is launched.
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
  // Keeps what `work` gives to `stream`, which is not the default stream, instead of doing it. Passes on what `work` throws.
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
  double seconds();  // between the two; waits for the second

 private:
  int device_;
  CudaTimer* timer_ = nullptr;
};

}  // namespace featherstorm
