// A kernel from any traced program, by what the machine has: assembled in the process, else compiled by the host's
// compiler, else the program is interpreted, number by number.
#pragma once
#include <string>
#include <vector>

#include "core/trace/program.h"
#include "host/compile/compile.h"
#include "host/memory/blocks.h"

namespace featherstorm {

// Assembled in the order of statements that runs fastest here, a long program in the one with the fewest live values; no kernel where nothing can be assembled for this
// instruction set.
BoundKernel assemble_program(const Program& p, Precision precision, const std::string& isa);

// Compiled for packs of `width`, or from the cache; no kernel where there is no compiler (compiler.missing()).
BoundKernel compile_program(const Program& p, Precision precision, int width, HostCompiler& compiler);

// Walks through the program for one instance after the other; keeps a copy of it.
BoundKernel interpret_program(const Program& p, Precision precision);

// The first of the three that can be had for the instruction set "avx512", "avx2" or "base". Throws Error where a
// constant of the program is not finite or it has too many arrays (max_arrays).
//   assemble  false: begin with the compiler
//   notice    is told why a program is interpreted
BoundKernel traced_kernel(const Program& p, Precision precision, const std::string& isa, bool assemble,
                          const Notice& notice);

}  // namespace featherstorm
