// The loops of networks of dense layers and of products of matrices, compiled once for each instruction set (host/cpu/dense.cpp). This header
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
  // Add A B to C, A (m k), B (k n), C (m n) with contiguous columns. An element of A is a[i row_stride + j column_stride].
  // lower: compute what is on and below the diagonal of C, and perhaps more. work: room for k (m + 8) numbers.
  using Product = void (*)(bool lower, long m, long n, long k, const double* a, long row_stride, long column_stride,
                           const double* b, double* c, double* work);
  Product multiply;
};
// Return the loops of "avx512", "avx2" or "base", which the processor must support. Other names give those of "base".
const DenseKernels& dense_kernels(const std::string& isa);

}  // namespace featherstorm
