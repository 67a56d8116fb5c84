// Memory that a driver reserves for a kernel: local memory beyond registers, for all threads that the device can hold.
#pragma once
#include <cuda_runtime_api.h>

#include <string>

namespace featherstorm {

bool set_aside_by(int device, const void* kernel, unsigned long* bytes, cudaFuncAttributes* attributes);

// Return whether the current device can reserve the memory for the kernel's first launch. Otherwise that launch would
// fail with an error that names neither the kernel nor the memory. whose: "the kernel of ..."; instead: a sentence that
// says what to do.
bool can_set_aside(int device, const void* kernel, const std::string& whose, const std::string& instead);

}  // namespace featherstorm
