// Machine code for one robot without a compiler: a traced program becomes a kernel within milliseconds.
//
// This is the third target of traced programs, beside C++ source for a compiler and CUDA source. allocate.h assigns
// registers, Xbyak encodes instructions. If featherstorm was built without Xbyak, or the processor has neither AVX-512
// nor AVX2, nothing is assembled, and kernels that take the model as data are used.
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
  std::shared_ptr<void> code;  // owns the machine code
  int instructions = 0;        // vector instructions in one repetition
  int spills = 0;              // stores of values for which there was no register
  std::size_t bytes = 0;       // of code and constants
};

// True if kernels can be assembled for this instruction set ("avx512", "avx2").
bool can_assemble(const std::string& isa);

// Assembles a program with its statements in this order (order.h). Throws Error if it cannot be assembled, or if it
// needs more stack memory than a thread can spare.
AssembledKernel assemble(const Program& p, const std::vector<int>& order, const std::string& isa, Precision precision);

}  // namespace featherstorm
