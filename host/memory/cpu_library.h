// Finds and loads the kernel library of this machine's instruction set. Its kernels take the model as data.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/memory/kernel.h"

namespace featherstorm {

// Folders that may hold backend libraries: FEATHERSTORM_BACKENDS, the installation (installation.h), the build folder.
std::vector<std::filesystem::path> backend_folders();
// The instruction sets this processor can run, widest first: some of "avx512", "avx2", "base".
std::vector<std::string> supported_isas();
// The table of the library of an instruction set, or of "book", loaded once per process; null if it is not installed.
// Throws Error if it was built from another version.
const KernelTable* cpu_kernels(const std::string& name);

// Sizes of the structures that the engine passes to a library, in float and double. They detect a library of another
// version, installed while the process runs, which would read past the end of these structures.
struct LibraryLayout {
  long model[2];   // Model<P>
  long solver[2];  // ContactSolver<P>
  int rows;        // op_count
  long world;      // WorldData
};

enum class SolverAlgorithm : int;  // cuda_table.h

// One algorithm of the contact solver for one instruction set (host/cpu/solver_table.h).
struct SolverTable {
  Kernel in_float, in_double;
  int float_width, double_width;
};
// The solver of "avx512", "avx2" or "base", from libfeatherstorm_cpu_<isa>_world.so, which only worlds need. It is loaded
// once per process; null if it is not installed. solver: as in
// LibraryLayout. Throws Error as cpu_kernels.
const SolverTable* cpu_solver(const std::string& isa, SolverAlgorithm text, const long* solver);

// A stage of a step of a world, with the robot as data, for one instruction set (host/cpu/world_stages.cpp): the
// equations, advance, or a stage of the Runge-Kutta method (core/mujoco/stages.h).
enum class WorldKernel : int { equations, advance, stage };
inline constexpr int world_texts = 3;
// Returns the kernels of a world's stage; see cpu_solver. world: see LibraryLayout.
const SolverTable* cpu_world(const std::string& isa, WorldKernel text, long world);

// The table that has operation `op`, named `row`: `first`, or that of the "base" or "book" library. Throws Error if
// that library is not installed.
const KernelTable& table_of_row(int op, std::string_view row, const KernelTable* first = nullptr,
                                const std::function<const KernelTable*(const std::string&)>& find = cpu_kernels);

}  // namespace featherstorm
