// A stage of a sequence on a CUDA device that is a kernel of its own, not a traced program.
#pragma once
#include <functional>
#include <memory>

#include "host/memory/kernel.h"

namespace featherstorm {

// On one device; any number of threads may use it.
class DeviceStage {
 public:
  virtual ~DeviceStage() = default;

  // Memory that a launch for so many instances works in, aligned to 256 bytes. Throws Error where the device has too little.
  virtual unsigned long work_bytes(long instances) const = 0;

  // Puts the stage on a stream, asynchronously and without taking memory. in, out: device memory, component c of instance i at
  // data[c * stride + i]. Throws Error with CUDA's words.
  virtual void launch(const Array* in, const Array* out, long instances, void* work, void* stream) const = 0;
};

// Makes it for device number `device`, with its data there; waits for the device. Throws Error.
using DeviceStageMaker = std::function<std::shared_ptr<const DeviceStage>(int device)>;

}  // namespace featherstorm
