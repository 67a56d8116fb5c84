#pragma once
// A program as C++ source: one statement per operation, after a short prelude for the target.
//
// The source is self-contained. It defines one function (a __global__ one for CUDA):
//
//   struct Array { void* data; long stride; };   // component c of instance i at data[c * stride + i]
//   extern "C" void featherstorm_kernel(const void* model, const Array* in, const Array* out,
//                                       long repeat, long first, long count);
//
// It runs instances first .. first + count - 1; for a host target count is a multiple of the width. `model` is not
// used, because the constants are in the source. `repeat` >= 1 is the number of passes of a program with carried
// arrays, and 1 otherwise. Uniform arrays hold component c at data[c]. Outputs must not overlap inputs. A carried
// program is an exception, because its outputs are written after all inputs are read.
//
// The CUDA kernel has only by-value parameters:
//
//   featherstorm_kernel(Arrays in, Arrays out, Uniforms uniform, long repeat, long first, long count)
//
// Arrays is a struct of all Arrays of one side (entries of uniform arrays are not read); components are less than 2^31
// bytes apart. Uniforms holds the numbers of all uniform arrays, one array after the other, in the program's precision.
// An empty struct holds one number. Thread t of block b runs instance first + b * (threads in a block) + t.
#include <string>
#include <variant>
#include <vector>

#include "core/program/partition.h"
#include "core/trace/program.h"

namespace featherstorm {

// g++ and clang++: packs of `width` neighbouring instances, as a vector type of the compiler.
struct HostVector {
  int width = 8;  // a power of two
  bool double_precision = false;
};

// nvcc and NVRTC: one thread for each instance. The two numbers are the kernel's __launch_bounds__.
struct Cuda {
  bool double_precision = false;
  int threads = 64;  // greatest number in a block
  int blocks = 0;    // resident on a multiprocessor at once, which limits a thread's registers; 0: no limit
};

using Target = std::variant<HostVector, Cuda>;

// Returns the source of a program with its statements in this order (order.h). Marks become comments in trace order.
// Throws std::domain_error if a constant is infinite or not a number.
std::string emit(const Program& p, const std::vector<int>& order, const Target& target);

// Returns the CUDA source of a program in roles: the same kernel, with the statements divided between threads. There is
// one thread for each instance and role: `count` is the number of instances times the number of roles. A block has 32
// instances, and its warp r is role r. Block b runs instances first + 32 b to first + 32 b + 31. Cuda::threads does not
// apply. A block has role_bytes() of shared memory.
std::string emit(const Program& p, const RoleProgram& roles, const Cuda& target);
int role_bytes(const RoleProgram& roles, bool double_precision);

// Returns how many numbers the uniform inputs have together.
int uniform_numbers(const Program& p);

// Returns the options with which g++ and clang++ must compile a host source into a shared library. vector_math.h
// explains why -ffast-math is not one of them.
const char* host_compile_options();

}  // namespace featherstorm
