// A stage of a sequence on a CUDA device with a kernel of its own, instead of a traced program.
#pragma once
#include <functional>
#include <memory>

#include "host/memory/kernel.h"

namespace featherstorm {

// A stage on one device. Any number of threads may use it.
class DeviceStage {
 public:
  virtual ~DeviceStage() = default;

  // Size of the working memory of a launch for `instances` instances, aligned to 256 bytes. Throws Error if the device
  // has too little memory.
  virtual unsigned long work_bytes(long instances) const = 0;

  // Submits the stage to a stream, asynchronously and without allocating memory. in, out: device memory, component c
  // of instance i at data[c * stride + i]. Throws Error with CUDA's message.
  virtual void launch(const Array* in, const Array* out, long instances, void* work, void* stream) const = 0;
};

// Makes the stage for device number `device`, with its data on that device; waits for the device. Throws Error.
using DeviceStageMaker = std::function<std::shared_ptr<const DeviceStage>(int device)>;

}  // namespace featherstorm
