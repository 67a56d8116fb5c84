#include "host/memory/cpu_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "core/model/model.h"
#include "host/memory/cuda_table.h"
#include "host/system/error.h"
#include "host/system/installation.h"
#include "host/table/ops.h"

namespace featherstorm {

std::vector<std::filesystem::path> backend_folders() {
  std::vector<std::filesystem::path> folders;
  if (const char* set = std::getenv("FEATHERSTORM_BACKENDS"); set && *set) folders.push_back(set);
  for (const auto& folder : installation_folders()) folders.push_back(folder);
  folders.push_back(FEATHERSTORM_BACKEND_DIR);
  return folders;
}

std::vector<std::string> supported_isas() {
  std::vector<std::string> isas;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw"))
    isas.push_back("avx512");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) isas.push_back("avx2");
#endif
  isas.push_back("base");
  return isas;
}

namespace {

// A loaded library and its tables.
struct Library {
  std::filesystem::path file;
  const LibraryLayout* layout = nullptr;
  const KernelTable* kernels = nullptr;
  const SolverTable* solver[solver_algorithms] = {};
  const SolverTable* world[world_texts] = {};
};
constexpr const char* solver_symbols[solver_algorithms] = {
    "featherstorm_contact_solver", "featherstorm_contact_gradients", "featherstorm_contact_tangents"};
[[noreturn]] void throw_other_build(const Library& l) {
  throw Error(l.file.string() + " was built from another version; restart the process or reinstall");
}
const Library& library(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, Library> all;
  std::lock_guard lock(mutex);
  if (const auto found = all.find(name); found != all.end()) return found->second;
  Library l;
  for (const auto& folder : backend_folders()) {
    const auto file = folder / ("libfeatherstorm_cpu_" + name + ".so");
    if (!std::filesystem::exists(file)) continue;
    if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      l.file = file;
      if (const auto get = reinterpret_cast<const LibraryLayout* (*)()>(dlsym(handle, "featherstorm_layout")))
        l.layout = get();
      const LibraryLayout* own = l.layout;
      if (!own || own->model[0] != sizeof(Model<float>) || own->model[1] != sizeof(Model<double>) ||
          own->rows != op_count)
        throw_other_build(l);
      if (const auto get = reinterpret_cast<const KernelTable* (*)()>(dlsym(handle, "featherstorm_backend")))
        l.kernels = get();
      for (int text = 0; text < solver_algorithms; text++)
        if (const auto get = reinterpret_cast<const SolverTable* (*)()>(dlsym(handle, solver_symbols[text])))
          l.solver[text] = get();
      if (const auto get = reinterpret_cast<const SolverTable* (*)(int)>(dlsym(handle, "featherstorm_world_step")))
        for (int text = 0; text < world_texts; text++) l.world[text] = get(text);
      break;
    }
  }
  return all[name] = l;
}

}  // namespace

const KernelTable* cpu_kernels(const std::string& name) { return library(name).kernels; }
const SolverTable* cpu_solver(const std::string& isa, SolverAlgorithm text, const long* solver) {
  const Library& l = library(isa + "_world");
  if (l.layout && !std::equal(solver, solver + 2, l.layout->solver)) throw_other_build(l);
  return l.solver[static_cast<int>(text)];
}

const SolverTable* cpu_world(const std::string& isa, WorldKernel text, long world) {
  const Library& l = library(isa + "_world");
  if (l.layout && l.layout->world != world) throw_other_build(l);
  return l.world[static_cast<int>(text)];
}

const KernelTable& table_of_row(int op, std::string_view row, const KernelTable* first,
                                const std::function<const KernelTable*(const std::string&)>& find) {
  if (first && first->entries[op].in_double) return *first;
  const KernelTable* base = find("base");
  if (base && base->entries[op].in_double) return *base;
  if (const KernelTable* book = base ? find("book") : nullptr; book && book->entries[op].in_double) return *book;
  throw Error(std::string(row) + ": the library of CPU kernels libfeatherstorm_cpu_" + (base ? "book" : "base") +
              ".so was not found; the target featherstorm_cpu_" + (base ? "book" : "base") +
              ", or `./featherstorm setup`, builds it");
}

}  // namespace featherstorm
