// What a driver sets aside for a kernel: what its threads keep beyond registers, for all threads that the device can hold.
#pragma once
#include <cuda_runtime_api.h>

#include <string>

namespace featherstorm {

bool set_aside_by(int device, const void* kernel, unsigned long* bytes, cudaFuncAttributes* attributes);

// Whether the device can set aside what the kernel's first launch asks for; else that launch would fail with words that name
// neither. On the current device. whose: "the kernel of ..."; instead: what to do, a sentence
bool can_set_aside(int device, const void* kernel, const std::string& whose, const std::string& instead);

}  // namespace featherstorm
