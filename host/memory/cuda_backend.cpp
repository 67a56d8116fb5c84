#include "host/memory/cuda_backend.h"

#include <dlfcn.h>

#include "host/memory/cpu_library.h"
#include "host/system/installation.h"
#include "host/table/ops.h"

namespace featherstorm {

const CudaTable* load_cuda_backend(const std::vector<std::filesystem::path>& folders, std::string& reason) {
  for (const auto& folder : folders) {
    const auto file = folder / "libfeatherstorm_cuda.so";
    if (!std::filesystem::exists(file)) continue;
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) return reason = dlerror(), nullptr;
    auto get = reinterpret_cast<const CudaTable* (*)()>(dlsym(handle, "featherstorm_cuda_backend"));
    const CudaTable* table = get ? get() : nullptr;
    if (!table || table->version != cuda_table_version || table->op_count != op_count)
      return reason = file.string() + " belongs to another version of featherstorm", nullptr;
    int devices = 0;
    if (!table->device_count(&devices)) {
      // without a driver, CUDA reports that the driver is too old
      const bool driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
      return reason = driver ? table->last_error() : "no NVIDIA driver (libcuda.so.1) is installed", nullptr;
    }
    if (devices == 0) return reason = "no CUDA device", nullptr;
    return table;
  }
  return reason = "libfeatherstorm_cuda.so is not installed", nullptr;
}

const CudaTable* cuda_backend(std::string* reason) {
  static std::string why;
  // the wheel featherstorm-cuda13 puts the library into a folder beside the package
  static const CudaTable* table = [] {
    std::vector<std::filesystem::path> folders = backend_folders();
    for (const auto& folder : installation_folders()) folders.push_back(folder.parent_path() / "featherstorm_cuda13");
    return load_cuda_backend(folders, why);
  }();
  if (reason) *reason = why;
  return table;
}

}  // namespace featherstorm
