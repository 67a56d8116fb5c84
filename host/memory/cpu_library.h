// Finds and loads the library of run-time-model kernels for this machine's instruction set.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/memory/kernel.h"

namespace featherstorm {

// Where backend libraries may lie: FEATHERSTORM_BACKENDS, the installation (installation.h), and where they were built.
std::vector<std::filesystem::path> backend_folders();
// The instruction sets this processor can run, widest first: of "avx512", "avx2", "base".
std::vector<std::string> supported_isas();
// The table of the library of an instruction set, or "book", loaded once per process; null where it is not installed. Throws Error where
// it is of another build.
const KernelTable* cpu_kernels(const std::string& name);

// How large what the engine hands to a library is there, in float and double. A process that loads a library of another build, as one that
// was installed anew meanwhile, would read past what it is given.
struct LibraryLayout {
  long model[2];   // Model<P>
  long solver[2];  // ContactSolver<P>
  int rows;        // op_count
  long world;      // WorldData
};

enum class SolverAlgorithm : int;  // cuda_table.h

// A text of the solver of contacts, of an instruction set (host/cpu/solver_table.h).
struct SolverTable {
  Kernel in_float, in_double;
  int float_width, double_width;
};
// Of "avx512", "avx2" or "base", loaded once per process; null where it is not installed. solver: as of LibraryLayout. Throws Error as
// cpu_kernels.
const SolverTable* cpu_solver(const std::string& isa, SolverAlgorithm text, const long* solver);

// A stage of a step of a world with the robot as data, of an instruction set (host/cpu/world_stages.cpp): the equations, advance, a stage of
// Runge-Kutta's method (core/mujoco/stages.h).
enum class WorldKernel : int { equations, advance, stage };
inline constexpr int world_texts = 3;
// As cpu_solver. world: as of LibraryLayout.
const SolverTable* cpu_world(const std::string& isa, WorldKernel text, long world);

// The table that has row `op`, named `row`: `first`, or that of the base set or of the books. Throws Error where that library
// is not installed.
const KernelTable& table_of_row(int op, std::string_view row, const KernelTable* first = nullptr,
                                const std::function<const KernelTable*(const std::string&)>& find = cpu_kernels);

}  // namespace featherstorm
