// The loops of networks of dense layers, compiled once for each instruction set (host/cpu/dense.cpp). It includes little, as what is
// compiled for one instruction set may not serve another.
#pragma once
#include <string>

#include "core/network/dense.h"
#include "host/memory/kernel.h"

namespace featherstorm {

struct DenseKernels {
  // in: the input, and the numbers of the network; `count` instances, whole vectors, from number `first` on. work: room for 2 dense_room
  // vectors_at_once vectors, aligned as the arrays are.
  using Loops = void (*)(const DenseNetwork& network, const Array* in, const Array& out, long first, long count,
                         void* work);
  Loops in_float, in_double;
  int vector_bytes, vectors_at_once;
};
// "avx512", "avx2" or "base"; the processor must have it. Those of "base" for other names.
const DenseKernels& dense_kernels(const std::string& isa);

}  // namespace featherstorm
