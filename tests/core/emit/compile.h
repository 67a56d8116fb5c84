#pragma once
// Compiles an emitted text with the host's compiler and runs it, for tests.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/emit/emit.h"
#include "core/trace/evaluate.h"

namespace featherstorm {

struct Array {
  void* data;
  long stride;
};
using Kernel = void(const void* model, const Array* in, const Array* out, long repeat, long first, long count);

// A folder of its own under the system's temporary one, removed at the end of the scope.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "featherstorm_test_XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

inline std::string read(const std::filesystem::path& file) {
  std::stringstream s;
  s << std::ifstream(file).rdbuf();
  return s.str();
}

inline bool exists_command(const std::string& command) {
  return std::system(("command -v " + command + " > /dev/null 2>&1").c_str()) == 0;
}

// The compilers to test with: $CXX or c++, and clang++ where it is another one.
inline std::vector<std::string> host_compilers() {
  std::vector<std::string> found;
  const char* chosen = std::getenv("CXX");
  for (std::string c : {std::string(chosen ? chosen : "c++"), std::string("clang++")}) {
    if (exists_command(c)) found.push_back(c);
  }
  return found;
}

// A compiled kernel, loaded for the lifetime of the object.
class Library {
 public:
  Library(const std::string& compiler, const std::string& text) {
    std::ofstream(folder_.path / "kernel.cpp") << text;
    std::string base = (folder_.path / "kernel").string();
    std::string command = compiler + " " + host_compile_options() + " -Wall -Wextra -Werror " + base + ".cpp -o " +
                          base + ".so 2> " + base + ".log";
    if (std::system(command.c_str()) != 0) {
      ADD_FAILURE() << command << "\n" << read(base + ".log");
      return;
    }
    library_ = dlopen((base + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) ADD_FAILURE() << dlerror();
    kernel = library_ ? reinterpret_cast<Kernel*>(dlsym(library_, "featherstorm_kernel")) : nullptr;
  }
  ~Library() {
    if (library_) dlclose(library_);
  }
  Kernel* kernel = nullptr;

 private:
  Folder folder_;
  void* library_ = nullptr;
};

}  // namespace featherstorm
