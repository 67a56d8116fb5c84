// Finds and loads the library of run-time-model kernels for this machine's instruction set.
#pragma once
#include <string>
#include <vector>

#include "host/kernel.h"

namespace featherstorm {

// The instruction sets this processor can run, widest first: of "avx512", "avx2", "base".
std::vector<std::string> supported_isas();
// The table of one instruction set's library, loaded once per process; null where the library is not installed.
const KernelTable* cpu_kernels(const std::string& isa);

}  // namespace featherstorm
