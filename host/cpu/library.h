// Finds and loads the library of run-time-model kernels for this machine's instruction set.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "host/kernel.h"

namespace featherstorm {

// Where backend libraries may lie: FEATHERSTORM_BACKENDS, beside the library or program this code is in, and where they
// were built.
std::vector<std::filesystem::path> backend_folders();
// The instruction sets this processor can run, widest first: of "avx512", "avx2", "base".
std::vector<std::string> supported_isas();
// The table of one instruction set's library, loaded once per process; null where the library is not installed.
const KernelTable* cpu_kernels(const std::string& isa);

}  // namespace featherstorm
