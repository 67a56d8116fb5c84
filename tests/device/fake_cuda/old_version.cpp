// A table of version 0.
#include "host/memory/cuda_table.h"

extern "C" __attribute__((visibility("default"))) const featherstorm::CudaTable* featherstorm_cuda_backend() {
  static const featherstorm::CudaTable table{};
  return &table;
}
