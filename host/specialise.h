// Specialised kernels of one robot: traced, ordered, emitted, compiled by the host's compiler, kept on disk.
#pragma once
#include <memory>
#include <string>

#include "core/builder.h"
#include "host/buffer.h"
#include "host/compile.h"
#include "host/kernel.h"

namespace featherstorm {

struct SpecialisedKernel {
  std::shared_ptr<LoadedLibrary> library;
  Kernel kernel = nullptr;
  int width = 0;
};

// Programs with more operations than this are left to the run-time-model kernels: compile times grow faster than
// linearly and the code outgrows the instruction cache.
inline constexpr int max_specialised_operations = 60000;

// The text of the kernel of operation `op` for this robot and a pack of `width`. Throws Error where it is too large.
std::string specialised_source(int op, const Model<double>& model, int frame, Precision precision, int width);

// The kernel, from the cache or compiled now; no kernel where the compiler is missing (compiler.missing() says why).
SpecialisedKernel specialise_kernel(int op, const Model<double>& model, int frame, Precision precision, int width,
                                    HostCompiler& compiler);

}  // namespace featherstorm
