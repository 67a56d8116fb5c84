// CUDA calls checked with expression, file and line.
#pragma once
#include <cuda_runtime_api.h>

#include <string>

namespace featherstorm {

// Message of the last failure in this thread.
std::string& cuda_error_message();
// Record the message of a failure; return false.
bool cuda_failed(const std::string& what);
bool cuda_succeeded(cudaError_t error, const char* expression, const char* file, int line);

#define FEATHERSTORM_CUDA(expression) ::featherstorm::cuda_succeeded((expression), #expression, __FILE__, __LINE__)

// Make a device the current one of this thread until the end of the scope.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  explicit operator bool() const { return ok_; }

 private:
  int before_ = -1;
  bool ok_ = false;
};

}  // namespace featherstorm
