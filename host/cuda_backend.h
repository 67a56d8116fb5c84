// Finds and loads the CUDA library, on machines with an NVIDIA driver.
#pragma once
#include <string>

#include "cuda/backend.h"

namespace featherstorm {

// The CUDA library's table, loaded once per process. Null where there is no driver, no library or no device; then
// `reason`, if given, says which.
const CudaTable* cuda_backend(std::string* reason = nullptr);

}  // namespace featherstorm
