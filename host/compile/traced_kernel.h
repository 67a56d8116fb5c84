// Makes a kernel from any traced program with the means of the machine: assembled in the process, else compiled by the
// host's compiler, else interpreted node by node.
#pragma once
#include <string>
#include <vector>

#include "core/trace/program.h"
#include "host/compile/compile.h"
#include "host/memory/blocks.h"

namespace featherstorm {

// Assembles the program in the statement order that runs fastest on this machine; a long program in the order with the
// fewest live values. Returns no kernel if kernels cannot be assembled for this instruction set.
BoundKernel assemble_program(const Program& p, Precision precision, const std::string& isa);

// Compiles for packs of `width`, or fetches from the cache. Returns no kernel if there is no compiler
// (compiler.missing()).
BoundKernel compile_program(const Program& p, Precision precision, int width, HostCompiler& compiler);

// Interprets the program for one instance after another; keeps a copy of the program.
BoundKernel interpret_program(const Program& p, Precision precision);

// The first of the three that is possible for the instruction set "avx512", "avx2" or "base". Throws Error if a
// constant of the program is not finite or the program has too many arrays (max_arrays).
//   assemble  false: start with the compiler
//   notice    receives the reason if a program is interpreted
BoundKernel traced_kernel(const Program& p, Precision precision, const std::string& isa, bool assemble,
                          const Notice& notice);

}  // namespace featherstorm
