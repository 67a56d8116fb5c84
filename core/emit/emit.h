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
// otherwise. Uniform arrays hold component c at data[c]. Outputs must not overlap inputs, except those of a carried
// program: they are written after all inputs are read.
//
// The CUDA kernel takes everything by value:
//
//   featherstorm_kernel(Arrays in, Arrays out, Uniforms uniform, long repeat, long first, long count)
//
// Arrays is a struct of all Arrays of one side (entries of uniform arrays are not read); components are less than 2^31
// bytes apart. Uniforms holds the numbers of all uniform arrays, one behind the other, in the program's
// precision. A struct of none holds one. Thread t of block b runs instance first + b * (threads in a block) + t.
#include <string>
#include <variant>
#include <vector>

#include "core/program/partition.h"
#include "core/trace/program.h"

namespace featherstorm {

// g++ and clang++: packs of `width` neighbouring instances, as a vector of the compiler.
struct HostVector {
  int width = 8;  // a power of two
  bool double_precision = false;
};

// nvcc and NVRTC: a thread for each instance. The two numbers are the text's __launch_bounds__.
struct Cuda {
  bool double_precision = false;
  int threads = 64;  // the most in a block
  int blocks = 0;    // that a multiprocessor can hold at once: limits a thread's registers; 0: no limit
};

using Target = std::variant<HostVector, Cuda>;

// The text of a program whose statements stand in this order (order.h). Marks become comments in trace order.
// Throws std::domain_error where a constant is infinite or not a number.
std::string emit(const Program& p, const std::vector<int>& order, const Target& target);

// The text of a program in roles, for CUDA: the same kernel but for who does what. There is a thread for each instance
// and role: `count` is the number of instances times that of roles. A block is 32 instances, warp r of it is role r, and
// block b runs instances first + 32 b to first + 32 b + 31; Cuda::threads does not hold. It has role_bytes() of shared
// memory.
std::string emit(const Program& p, const RoleProgram& roles, const Cuda& target);
int role_bytes(const RoleProgram& roles, bool double_precision);

// How many numbers the uniform inputs have together.
int uniform_numbers(const Program& p);

// Options with which g++ and clang++ must compile a host text into a shared library; why not -ffast-math:
// vector_math.h.
const char* host_compile_options();

}  // namespace featherstorm
