#pragma once
// A program as C++ text: one statement per operation, behind a short prelude for the target.
//
// The text is self-contained. It defines one function (a __global__ one for CUDA):
//
//   struct Array { void* data; long stride; };   // component c of instance i at data[c * stride + i]
//   extern "C" void featherstorm_kernel(const void* model, const Array* in, const Array* out,
//                                       long repeat, long first, long count);
//
// It runs instances first .. first + count - 1; for a host target count is a multiple of the width. `model` is not
// used: the constants are in the text. `repeat` >= 1 is the number of passes of a program with carried arrays, and 1
// otherwise. Uniform arrays hold component c at data[c]. The CUDA kernel takes the Arrays by value, in two structs
// of all input and all output Arrays, so that its parameters are (model, in, out, repeat, first, count) as well.
// Outputs must not overlap inputs, except those of a carried program: they are written after all inputs are read.
#include <string>
#include <variant>
#include <vector>

#include "core/trace/program.h"

namespace featherstorm {

// g++ and clang++: packs of `width` neighbouring instances, as a vector of the compiler.
struct HostVector {
  int width = 8;  // a power of two
  bool double_precision = false;
};

// nvcc and NVRTC: a thread for each instance.
struct Cuda {
  bool double_precision = false;
};

using Target = std::variant<HostVector, Cuda>;

// The text of a program whose statements stand in this order (order.h). Marks become comments in trace order.
// Throws std::domain_error where a constant is infinite or not a number.
std::string emit(const Program& p, const std::vector<int>& order, const Target& target);

// Options with which g++ and clang++ must compile a host text into a shared library; why not -ffast-math:
// vector_math.h.
const char* host_compile_options();

}  // namespace featherstorm
