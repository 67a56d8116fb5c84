// Kernels made for one robot, from the traced program of an operation: assembled here within milliseconds, or emitted,
// compiled by the host's compiler and kept on disk.
#pragma once
#include <string>

#include "core/builder.h"
#include "core/trace/program.h"
#include "host/blocks.h"
#include "host/compile.h"
#include "host/trace_op.h"

namespace featherstorm {

// Larger robots and programs are left to the run-time-model kernels: the code outgrows the caches, and a compiler's time
// grows faster than linearly (assembling takes about 1.5 us an operation and order).
inline constexpr int max_specialised_freedoms = 256;
inline constexpr int max_assembled_operations = 120000;
inline constexpr int max_compiled_operations = 60000;

// What a kernel computes: an operation of ops.h or a derivative of it, and which numbers of the robot are inputs.
struct Operation {
  int op;
  int frame = 0;
  Derivative derivative = Derivative::none;
  Parameters parameters = {};
};

// The program of an operation for this robot. Throws Error where the robot or the program is too large.
Program specialised_program(const Operation& operation, const Robot& robot);

// The kernel, assembled now in the order of statements that runs fastest here; no kernel where that cannot be done
// (assemble.h), or the robot is too large.
BoundKernel assemble_kernel(const Operation& operation, const Robot& robot, Precision precision, const std::string& isa);

// The kernel, from the cache or compiled now; no kernel where the compiler is missing (compiler.missing() says why).
// Throws Error where the program is too large.
BoundKernel specialise_kernel(const Operation& operation, const Robot& robot, Precision precision, int width,
                              HostCompiler& compiler);

// The kernel by any means that this machine has (traced_kernel.h). Throws Error where the robot or the program is too
// large.
BoundKernel any_kernel(const Operation& operation, const Robot& robot, Precision precision, const std::string& isa,
                       bool assemble, const Notice& notice);

}  // namespace featherstorm
