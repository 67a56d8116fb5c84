// Kernels made for one robot, from the traced program of an operation: assembled here within milliseconds, or emitted,
// compiled by the host's compiler and kept on disk.
#pragma once
#include <string>

#include "core/builder.h"
#include "core/trace/program.h"
#include "host/blocks.h"
#include "host/compile.h"

namespace featherstorm {

// Larger robots and programs are left to the run-time-model kernels: compile times grow faster than linearly and the
// code outgrows the instruction cache.
inline constexpr int max_specialised_freedoms = 128;
inline constexpr int max_specialised_operations = 60000;

// The program of an operation for this robot. Throws Error where the robot or the program is too large.
Program specialised_program(int op, const Model<double>& model, int frame);

// The kernel, assembled now in the order of statements that runs fastest here; no kernel where that cannot be done
// (assemble.h), or the robot is too large.
BoundKernel assemble_kernel(int op, const Model<double>& model, int frame, Precision precision, const std::string& isa);

// The kernel, from the cache or compiled now; no kernel where the compiler is missing (compiler.missing() says why).
// Throws Error where the program is too large.
BoundKernel specialise_kernel(int op, const Model<double>& model, int frame, Precision precision, int width,
                              HostCompiler& compiler);

}  // namespace featherstorm
