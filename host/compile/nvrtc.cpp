#include "host/compile/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <regex>

#include "host/system/error.h"
#include "host/system/installation.h"

namespace featherstorm {
namespace {

// The used part of nvrtc.h, so that the toolkit's header is not required.
using Result = int;
using Handle = struct NvrtcProgram*;

// Division and square root to 2 ulp, as in cuda/CMakeLists.txt. Doubles are not affected.
const std::vector<const char*> options = {"-std=c++17", "-prec-div=false", "-prec-sqrt=false", "--ptxas-options=-v",
                                          "-w"};

// Section `name` of a 64-bit ELF file; empty if there is none.
std::string_view section(std::string_view file, std::string_view name) {
  const auto number = [&](std::size_t at, int bytes) {
    std::uint64_t n = 0;
    if (at <= file.size() && file.size() - at >= static_cast<std::size_t>(bytes))
      std::memcpy(&n, file.data() + at, bytes);
    return n;
  };
  const std::size_t headers = number(40, 8), size = number(58, 2), count = number(60, 2), names = number(62, 2);
  const std::size_t strings = number(headers + names * size + 24, 8);
  for (std::size_t k = 0; k < count; k++) {
    const std::size_t header = headers + k * size, text = strings + number(header, 4);
    if (text > file.size() || file.size() - text <= name.size()) continue;
    if (file.substr(text, name.size()) != name || file[text + name.size()] != 0) continue;
    const std::size_t first = number(header + 24, 8), bytes = number(header + 32, 8);
    if (first <= file.size() && bytes <= file.size() - first) return file.substr(first, bytes);
  }
  return {};
}

// Reads the output of ptxas and the machine code. An instruction has 16 bytes; its lowest 12 bits are the opcode.
DeviceCost cost_of(std::string_view cubin, const std::string& log) {
  constexpr int no_operation = 0x918;
  DeviceCost c;
  std::smatch m;
  static const std::regex spills("([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads"),
      registers("Used ([0-9]+) reg"), stack("([0-9]+) bytes stack frame");
  if (std::regex_search(log, m, spills)) c.spill_stores = std::stoi(m[1]), c.spill_loads = std::stoi(m[2]);
  if (std::regex_search(log, m, registers)) c.registers = std::stoi(m[1]);
  if (std::regex_search(log, m, stack)) c.stack = std::stoi(m[1]);
  const std::string_view code = section(cubin, ".text.featherstorm_kernel");
  c.code = static_cast<int>(code.size());
  for (std::size_t at = 0; at + 16 <= code.size(); at += 16) {
    const int opcode = (static_cast<unsigned char>(code[at]) | static_cast<unsigned char>(code[at + 1]) << 8) & 0xfff;
    if (opcode != no_operation) c.instructions++;
  }
  return c;
}

}  // namespace

struct Nvrtc::Functions {
  Result (*version)(int* major, int* minor);
  Result (*number_of_targets)(int* count);
  Result (*targets)(int* all);
  Result (*create)(Handle*, const char* text, const char* name, int headers, const char* const*, const char* const*);
  Result (*compile)(Handle, int count, const char* const* options);
  Result (*destroy)(Handle*);
  Result (*log_size)(Handle, std::size_t*);
  Result (*log)(Handle, char*);
  Result (*cubin_size)(Handle, std::size_t*);
  Result (*cubin)(Handle, char*);
  Result (*ptx_size)(Handle, std::size_t*);
  Result (*ptx)(Handle, char*);
  const char* (*error)(Result);

  // Reads text that NVRTC returns as a size and a copy.
  static std::string fetch(Handle p, Result (*size)(Handle, std::size_t*), Result (*get)(Handle, char*)) {
    std::size_t n = 0;
    if (size(p, &n) != 0 || n == 0) return {};
    std::string s(n, '\0');
    return get(p, s.data()) == 0 ? s : std::string();
  }
};

// True if the library exists and has all required functions.
bool Nvrtc::open(const std::string& name) {
  void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return missing_ = ::dlerror(), false;
  bool complete = true;
  const auto find = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, symbol));
    complete = complete && function;
  };
  Functions& f = *f_;
  find(f.version, "nvrtcVersion"), find(f.number_of_targets, "nvrtcGetNumSupportedArchs");
  find(f.targets, "nvrtcGetSupportedArchs"), find(f.create, "nvrtcCreateProgram");
  find(f.compile, "nvrtcCompileProgram"), find(f.destroy, "nvrtcDestroyProgram");
  find(f.log_size, "nvrtcGetProgramLogSize"), find(f.log, "nvrtcGetProgramLog");
  find(f.cubin_size, "nvrtcGetCUBINSize"), find(f.cubin, "nvrtcGetCUBIN");
  find(f.ptx_size, "nvrtcGetPTXSize"), find(f.ptx, "nvrtcGetPTX"), find(f.error, "nvrtcGetErrorString");
  int major = 0, minor = 0, count = 0;
  if (!complete || f.version(&major, &minor) != 0 || major < 12 || f.number_of_targets(&count) != 0 || count <= 0) {
    ::dlclose(library);
    return missing_ = name + " is not NVRTC 12 or newer", false;
  }
  capabilities_.resize(count);
  f.targets(capabilities_.data());
  identity_ = "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
  for (const char* o : options) identity_ += std::string(" ") + o;
  library_ = library;
  missing_.clear();
  return true;
}

Nvrtc::Nvrtc() : f_(std::make_unique<Functions>()) {
  if (const char* own = std::getenv("FEATHERSTORM_NVRTC"); own && *own) {
    if (!open(own)) missing_ = "FEATHERSTORM_NVRTC: " + missing_;
    return;
  }
  std::vector<std::string> names;
  // NVIDIA's wheel nvidia-cuda-nvrtc, beside the package
  for (const auto& folder : installation_folders())
    names.push_back(folder.parent_path() / "nvidia/cu13/lib/libnvrtc.so.13");
  names.insert(names.end(), {"libnvrtc.so.13", "libnvrtc.so.12"});
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* folder = std::getenv(variable); folder && *folder)
      names.push_back(std::string(folder) + "/lib64/libnvrtc.so");
  names.push_back("/usr/local/cuda/lib64/libnvrtc.so");
  for (const std::string& name : names)
    if (open(name)) return;
  missing_ =
      "libnvrtc, which comes with the CUDA toolkit 12 and 13 and with the package nvidia-cuda-nvrtc, is not installed; FEATHERSTORM_NVRTC may name it";
}

Nvrtc::~Nvrtc() {
  // the library stays loaded: it may have started threads and exit handlers
}

std::string Nvrtc::target(int capability) const {
  int nearest = 0;
  for (int c : capabilities_)
    if (c <= capability) nearest = std::max(nearest, c);
  if (nearest == 0)
    throw Error("this NVRTC compiles for compute capability " + std::to_string(capabilities_.front()) +
                " and newer, the device has " + std::to_string(capability));
  return (nearest == capability ? "sm_" : "compute_") + std::to_string(nearest);
}

DeviceCode Nvrtc::compile(const std::string& text, const std::string& target) const {
  const Functions& f = *f_;
  const std::string architecture = "--gpu-architecture=" + target;
  std::vector<const char*> all = options;
  all.push_back(architecture.c_str());
  Handle p = nullptr;
  Result result = f.create(&p, text.c_str(), "featherstorm_kernel.cu", 0, nullptr, nullptr);
  if (result != 0) throw Error(std::string("NVRTC: ") + f.error(result));
  result = f.compile(p, static_cast<int>(all.size()), all.data());
  const std::string log = Functions::fetch(p, f.log_size, f.log);
  DeviceCode code;
  const bool machine_code = target.starts_with("sm_");
  if (result == 0)
    code.image = machine_code ? Functions::fetch(p, f.cubin_size, f.cubin) : Functions::fetch(p, f.ptx_size, f.ptx);
  f.destroy(&p);
  if (result != 0) throw Error(std::string("NVRTC: ") + f.error(result) + "\n" + log.substr(0, 4000));
  if (code.image.empty()) throw Error("NVRTC gave no code for " + target);
  if (machine_code) code.cost = cost_of(code.image, log);
  return code;
}

}  // namespace featherstorm
