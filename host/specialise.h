// Kernels made for one robot, from the traced program of an operation: assembled here within milliseconds, or emitted,
// compiled by the host's compiler and kept on disk.
#pragma once
#include <string>

#include "core/builder.h"
#include "host/blocks.h"
#include "host/compile.h"
#include "host/specialised_program.h"

namespace featherstorm {

// The kernel, assembled now in the order of statements that runs fastest here; no kernel where that cannot be done
// (assemble.h), or the robot has too many freedoms. Throws Error where the program is too large.
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
