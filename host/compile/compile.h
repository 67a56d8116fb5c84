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
  // added to -std=c++20 -shared -fPIC
  std::vector<std::string> flags = {"-O2", "-march=native"};
  // what the library must define with C linkage
  std::string symbol = "featherstorm_kernel";
  // after this long the compiler is killed [s]
  double time_limit = 120;
  std::filesystem::path cache_folder = default_cache_folder();
  // above this the entries unused for longest are removed [bytes]
  std::uintmax_t cache_limit = std::uintmax_t(1) << 30;
  // is told, once, that the cache cannot be used
  Notice notice;
};

// A compiled kernel in this process; its code stays mapped while this object lives.
class LoadedLibrary {
 public:
  // Opens a shared library; throws Error with the loader's reason where it cannot be, or lacks the symbol.
  LoadedLibrary(const std::filesystem::path& path, const std::string& symbol);
  ~LoadedLibrary();
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;

  // The address of `CompileOptions::symbol`, never null; cast it to the kernel's type.
  void* kernel() const { return kernel_; }
  // Another symbol; null where there is none.
  void* symbol(const std::string& name) const;
  // The file it was opened from (in a private folder that may be gone by now, where the cache could not be used).
  const std::filesystem::path& path() const { return path_; }
  // Whether the cache had it.
  bool from_cache = false;

 private:
  std::filesystem::path path_;
  void* handle_ = nullptr;
  void* kernel_ = nullptr;
};

// Compiles generated C++ with the compiler of the user's machine, loads it, and keeps it in the cache on disk.
// Make one and keep it: it looks for the compiler once. Any number of threads may call it.
class HostCompiler {
 public:
  explicit HostCompiler(CompileOptions options = {});

  // Why nothing can be compiled here ("no C++ compiler found: ..."), or "". Then the run-time-model path serves.
  const std::string& missing() const { return missing_; }
  // The program and its leading arguments; empty where it is missing.
  const std::vector<std::string>& command() const { return command_; }

  // The loaded library of a program text: from the cache, or compiled now.
  //   in   source: complete C++20 (it includes the standard library's headers at most), with C linkage for the symbol
  //   in   flags: added behind the options' flags for this text
  //   out  null where missing() says why
  // throws Error with the compiler's messages where it refuses the text or takes longer than the time limit.
  // cost: a hash of the text and of the library from the cache; otherwise the compiler's run.
  std::shared_ptr<LoadedLibrary> compile_and_load(const std::string& source,
                                                  const std::vector<std::string>& flags = {});

 private:
  std::string key(const std::string& source, const std::vector<std::string>& flags) const;
  std::string compile(const std::string& key, const std::string& source, const std::vector<std::string>& flags);

  const CompileOptions options_;
  KernelCache cache_;
  std::vector<std::string> command_;
  std::string identity_;  // what in the compiler and the machine a kernel depends on
  std::string missing_;
};

// The same for a single text: null, with the reason in `missing` if given, where there is no compiler.
std::shared_ptr<LoadedLibrary> compile_and_load(const std::string& source, const CompileOptions& options,
                                                std::string* missing = nullptr);

}  // namespace featherstorm
