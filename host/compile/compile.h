#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "host/system/cache.h"

namespace featherstorm {

struct CompileOptions {
  // program and leading arguments; empty: the one named by FEATHERSTORM_CXX or CXX, else c++, g++ or clang++ on PATH
  std::vector<std::string> compiler;
  // added after -std=c++20 -shared -fPIC
  std::vector<std::string> flags = {"-O2", "-march=native"};
  // the symbol that the library must define with C linkage
  std::string symbol = "featherstorm_kernel";
  // the compiler is killed after this time [s]
  double time_limit = 120;
  std::filesystem::path cache_folder = default_cache_folder();
  // above it the least recently used entries are removed [bytes]
  std::uintmax_t cache_limit = std::uintmax_t(1) << 30;
  // receives one message if the cache cannot be used
  Notice notice;
};

// A compiled kernel in this process. Its code stays mapped during the lifetime of this object.
class LoadedLibrary {
 public:
  // Opens a shared library. Throws Error with the loader's reason if it cannot be loaded or lacks the symbol.
  LoadedLibrary(const std::filesystem::path& path, const std::string& symbol);
  ~LoadedLibrary();
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  // The address of `CompileOptions::symbol`, never null; cast it to the kernel's type.
  void* kernel() const { return kernel_; }
  // The address of another symbol; null if there is none.
  void* symbol(const std::string& name) const;
  // The file from which it was opened. If the cache could not be used, the file may be in a private folder that no
  // longer exists.
  const std::filesystem::path& path() const { return path_; }
  // True if the cache had it.
  bool from_cache = false;

 private:
  std::filesystem::path path_;
  void* handle_ = nullptr;
  void* kernel_ = nullptr;
};

// Compiles generated C++ with the compiler of the user's machine, loads it, and stores it in the cache on disk. Keep
// one object: it searches for the compiler once. Any number of threads may call it.
class HostCompiler {
 public:
  explicit HostCompiler(CompileOptions options = {});

  // The reason why nothing can be compiled ("no C++ compiler found: ..."), or "". Without a compiler, kernels that
  // take the model as data are used.
  const std::string& missing() const { return missing_; }
  // The compiler and its leading arguments; empty if there is none.
  const std::vector<std::string>& command() const { return command_; }

  // The loaded library of a source: from the cache, or compiled now.
  //   in   source: complete C++20 with C linkage for the symbol; it may include only headers of the standard library
  //   in   flags: added after the options' flags for this source
  //   out  null if there is no compiler; missing() has the reason
  // Throws Error with the compiler's messages if the source does not compile or the time limit is exceeded.
  // Cost: hashing the source and the cached library; otherwise a run of the compiler.
  std::shared_ptr<LoadedLibrary> compile_and_load(const std::string& source,
                                                  const std::vector<std::string>& flags = {});

 private:
  std::string key(const std::string& source, const std::vector<std::string>& flags) const;
  std::string compile(const std::string& key, const std::string& source, const std::vector<std::string>& flags);

  const CompileOptions options_;
  KernelCache cache_;
  std::vector<std::string> command_;
  std::string identity_;  // the properties of compiler and machine on which a kernel depends
  std::string missing_;
};

// The same for a single source. Returns null, and the reason in `missing` if given, if there is no compiler.
std::shared_ptr<LoadedLibrary> compile_and_load(const std::string& source, const CompileOptions& options,
                                                std::string* missing = nullptr);

}  // namespace featherstorm
