// Machine code for one robot without a compiler: a traced program becomes a kernel within milliseconds.
//
// The third target of the traced programs, beside C++ text for a compiler and for CUDA: registers are given out by
// allocate.h, instructions are encoded by Xbyak. Where Xbyak was not there at build time, or the processor has neither
// AVX-512 nor AVX2, nothing is assembled and the run-time-model kernels serve.
#pragma once
#include <memory>
#include <string>

#include "core/trace/program.h"
#include "host/memory/buffer.h"
#include "host/memory/kernel.h"

namespace featherstorm {

struct AssembledKernel {
  Kernel kernel = nullptr;
  int width = 0;
  std::shared_ptr<void> code;  // keeps the machine code
  int instructions = 0;        // of vectors, in one pass
  int spills = 0;              // stores of values that found no register
  std::size_t bytes = 0;       // of code and constants
};

// Whether kernels can be assembled for this instruction set ("avx512", "avx2").
bool can_assemble(const std::string& isa);

// The kernel of a program whose statements stand in this order (order.h). Throws Error where it cannot be assembled, or
// needs more memory on the stack than a thread can spare.
AssembledKernel assemble(const Program& p, const std::vector<int>& order, const std::string& isa, Precision precision);

}  // namespace featherstorm
