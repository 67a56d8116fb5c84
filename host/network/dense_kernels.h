// The loops of networks of dense layers, compiled once for each instruction set (host/cpu/dense.cpp). This header
// includes little, because code compiled for one instruction set may not run on another.
#pragma once
#include <string>

#include "core/network/dense.h"
#include "host/memory/kernel.h"

namespace featherstorm {

struct DenseKernels {
  // Evaluate the network for `count` instances, a multiple of a vector, from index `first`. in: the input, and the
  // numbers of the network. work: room for 2 dense_room vectors_at_once vectors, aligned like the arrays.
  using Loops = void (*)(const DenseNetwork& network, const Array* in, const Array& out, long first, long count,
                         void* work);
  Loops in_float, in_double;
  int vector_bytes, vectors_at_once;
};
// Return the loops of "avx512", "avx2" or "base", which the processor must support. Other names give those of "base".
const DenseKernels& dense_kernels(const std::string& isa);

}  // namespace featherstorm
