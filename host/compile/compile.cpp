#include "host/compile/compile.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "host/system/error.h"
#include "host/system/hash.h"
#include "host/system/process.h"

#ifndef FEATHERSTORM_VERSION
#error "FEATHERSTORM_VERSION comes from the build: kernels of one version are not used by another"
#endif

namespace featherstorm {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMessageLimit = 4000;

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// The full path of a program given by path or by name on PATH; empty if it is not found.
fs::path find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? fs::absolute(name) : fs::path();
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder) / name;
    if (!folder.empty() && is_program(program)) return fs::absolute(program);
  }
  return {};
}

// Splits a command as in CC and CXX: the path of one program, with blanks, or a program and arguments.
std::vector<std::string> split_command(const std::string& text) {
  if (!find_program(text).empty()) return {text};
  std::istringstream words(text);
  std::vector<std::string> command;
  for (std::string word; words >> word;) command.push_back(word);
  return command;
}

// Identifies the machine's processor, for -march=native and for home folders shared by several machines.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    for (const char* field : {"vendor_id", "cpu family", "model", "flags", "Features", "CPU part", "isa"}) {
      if (line.starts_with(field)) text += line + "\n";
    }
  }
  return text;
}

// Path, version and time of a compiler, so that a new compiler does not use kernels of the old one; "" if it does not
// run.
std::string identify(const std::vector<std::string>& command) {
  std::vector<std::string> arguments = command;
  arguments.push_back("--version");
  const ProcessResult version = run_process(arguments, 20);
  struct stat s;
  if (!version.started || version.exit_code != 0 || ::stat(command[0].c_str(), &s) != 0) return "";
  Hash hash;
  for (const std::string& word : command) hash.add_field(word);
  hash.add_field(version.output).add_field(std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec));
  return hash.add_field(processor()).hex();
}

std::string shortened(std::string text) {
  if (text.size() > kMessageLimit) text = text.substr(0, kMessageLimit) + "\n...";
  return text;
}

}  // namespace

LoadedLibrary::LoadedLibrary(const fs::path& path, const std::string& symbol) : path_(path) {
  handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw Error("kernel: cannot load " + path.string() + ": " + ::dlerror());
  kernel_ = ::dlsym(handle_, symbol.c_str());
  if (kernel_ != nullptr) return;
  ::dlclose(handle_);
  throw Error("kernel: " + path.string() + " does not define extern \"C\" " + symbol);
}

LoadedLibrary::~LoadedLibrary() { ::dlclose(handle_); }

void* LoadedLibrary::symbol(const std::string& name) const { return ::dlsym(handle_, name.c_str()); }

HostCompiler::HostCompiler(CompileOptions options)
    : options_(std::move(options)), cache_(options_.cache_folder, options_.cache_limit, options_.notice) {
  std::string tried;
  const auto accept = [&](std::vector<std::string> command, const std::string& origin) {
    const fs::path program = command.empty() ? fs::path() : find_program(command[0]);
    if (program.empty()) {
      tried += (tried.empty() ? "" : ", ") + origin + " is not a program";
      return false;
    }
    command[0] = program.string();
    identity_ = identify(command);
    if (identity_.empty()) {
      tried += (tried.empty() ? "" : ", ") + origin + " does not run";
      return false;
    }
    command_ = std::move(command);
    return true;
  };

  // an explicit choice is never replaced by another compiler
  const char* own = std::getenv("FEATHERSTORM_CXX");
  if (!options_.compiler.empty()) {
    accept(options_.compiler, "'" + options_.compiler[0] + "'");
  } else if (own != nullptr && *own != '\0') {
    accept(split_command(own), "FEATHERSTORM_CXX='" + std::string(own) + "'");
  } else {
    const char* usual = std::getenv("CXX");
    bool found = usual != nullptr && *usual != '\0' && accept(split_command(usual), "CXX='" + std::string(usual) + "'");
    for (const char* name : {"c++", "g++", "clang++"}) found = found || accept({name}, name);
  }
  if (command_.empty()) missing_ = "no C++ compiler found: " + tried;
}

std::string HostCompiler::key(const std::string& source, const std::vector<std::string>& flags) const {
  Hash hash;
  hash.add_field(FEATHERSTORM_VERSION).add_field(identity_).add_field(options_.symbol);
  for (const std::string& flag : flags) hash.add_field(flag);
  return hash.add_field("").add_field(source).hex();
}

std::shared_ptr<LoadedLibrary> HostCompiler::compile_and_load(const std::string& source,
                                                              const std::vector<std::string>& flags) {
  if (command_.empty()) return nullptr;
  std::vector<std::string> all_flags = {"-std=c++20", "-shared", "-fPIC"};
  all_flags.insert(all_flags.end(), options_.flags.begin(), options_.flags.end());
  all_flags.insert(all_flags.end(), flags.begin(), flags.end());

  const std::string k = key(source, all_flags);
  if (const auto path = cache_.find(k)) {
    try {
      auto library = std::make_shared<LoadedLibrary>(*path, options_.symbol);
      library->from_cache = true;
      return library;
    } catch (const Error&) {
      // another process removed it, or the folder forbids execution: compile
    }
  }

  // the compiler works in a private folder, so that the cache contains only complete files
  const PrivateFolder work;
  const std::string library = compile(k, source, all_flags);
  const fs::path path = cache_.store(k, library, source);
  try {
    return std::make_shared<LoadedLibrary>(path, options_.symbol);
  } catch (const Error&) {
    // the cache folder may be mounted noexec; try the temporary folder
    const fs::path copy = work.path() / (k + ".so");
    if (!write_own_file(copy, library).empty()) throw;
    return std::make_shared<LoadedLibrary>(copy, options_.symbol);
  }
}

// Runs the compiler in a private folder and returns the bytes of the shared library.
std::string HostCompiler::compile(const std::string& key, const std::string& source,
                                  const std::vector<std::string>& flags) {
  const PrivateFolder work;
  const fs::path text = work.path() / (key + ".cpp");
  const fs::path output = work.path() / (key + ".so");
  const std::string reason = write_own_file(text, source);
  if (!reason.empty()) throw Error("kernel: cannot write " + text.string() + ": " + reason);

  std::vector<std::string> arguments = command_;
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  for (const std::string& word : {text.string(), std::string("-o"), output.string()}) arguments.push_back(word);
  const ProcessResult run = run_process(arguments, options_.time_limit);
  std::ifstream file(output, std::ios::binary);
  std::string library{std::istreambuf_iterator<char>(file), {}};
  if (run.started && !run.timed_out && run.exit_code == 0 && !library.empty()) return library;

  std::string message = "kernel: " + command_[0];
  if (!run.started) {
    message += " could not be started";
  } else if (run.timed_out) {
    char limit[32];
    std::snprintf(limit, sizeof limit, "%g", options_.time_limit);
    message += std::string(" was stopped after ") + limit + " s";
  } else if (run.exit_code != 0) {
    message += " failed with exit code " + std::to_string(run.exit_code);
  } else {
    message += " wrote no library";
  }
  const fs::path kept = cache_.store_source(key, source);
  if (!kept.empty()) message += " (program text: " + kept.string() + ")";
  throw Error(message + "\n" + shortened(run.output));
}

std::shared_ptr<LoadedLibrary> compile_and_load(const std::string& source, const CompileOptions& options,
                                                std::string* missing) {
  HostCompiler compiler(options);
  if (missing != nullptr) *missing = compiler.missing();
  return compiler.compile_and_load(source);
}

}  // namespace featherstorm
