// Finds and loads the CUDA library.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/memory/cuda_table.h"

namespace featherstorm {

// The CUDA library's table, loaded once per process from the first of backend_folders() that has it. Returns null if
// there is no library, no driver or no device, and the reason in `reason` if given.
const CudaTable* cuda_backend(std::string* reason = nullptr);

// The same from these folders; the result is not remembered.
const CudaTable* load_cuda_backend(const std::vector<std::filesystem::path>& folders, std::string& reason);

}  // namespace featherstorm
