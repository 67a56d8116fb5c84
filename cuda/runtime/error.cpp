#include "cuda/runtime/error.h"

namespace featherstorm {

std::string& cuda_error_message() {
  static thread_local std::string message;
  return message;
}
bool cuda_failed(const std::string& what) {
  cuda_error_message() = what;
  return false;
}
bool cuda_succeeded(cudaError_t error, const char* expression, const char* file, int line) {
  if (error == cudaSuccess) return true;
  cudaGetLastError();  // clear the error, because the next launch would report it
  const std::string path = file;
  const std::size_t at = path.rfind("cuda/");
  return cuda_failed(std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error) + " (" + expression +
                     ", " + (at == std::string::npos ? path : path.substr(at)) + ":" + std::to_string(line) + ")");
}

OnDevice::OnDevice(int device) {
  if (!FEATHERSTORM_CUDA(cudaGetDevice(&before_))) return;
  ok_ = before_ == device || FEATHERSTORM_CUDA(cudaSetDevice(device));
  if (before_ == device) before_ = -1;
}
OnDevice::~OnDevice() {
  if (ok_ && before_ >= 0) cudaSetDevice(before_);
}

}  // namespace featherstorm
