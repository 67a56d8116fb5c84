// A table of version 0.
#include "cuda/backend.h"

extern "C" __attribute__((visibility("default"))) const featherstorm::CudaTable* featherstorm_cuda_backend() {
  static const featherstorm::CudaTable table{};
  return &table;
}
