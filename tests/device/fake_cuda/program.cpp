// Code loaded at run time. The fake CUDA library's "machine code" is an emitted CUDA source (nvrtc.cpp). It is
// compiled here by the host's compiler, so that the source's own index arithmetic runs.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <sstream>
#include <vector>

#include "host/system/hash.h"
#include "tests/device/fake_cuda/fake_cuda.h"
#include "tests/device/fake_cuda/runtime.h"

namespace fs = std::filesystem;

struct CUkern_st {
  int (*parameters)(unsigned long* sizes);
  void (*launch)(void** arguments, unsigned blocks, unsigned threads);
};
struct CUlib_st {
  void* handle;
  CUkern_st kernel;
  int max_threads;
};

namespace {

constexpr const char* mark = "fake-cuda\n";
constexpr const char* splitter = "//// the text ////\n";
std::mutex mutex;
std::set<const CUlib_st*> loaded;
unsigned last_threads = 0;
int launches = 0;

// Compiles a source as a library; false if it does not compile.
bool compile(const std::string& text, const fs::path& library) {
  const fs::path source = fs::path(library).replace_extension(".cpp");
  std::ofstream(source) << text;
  // without the C++ library, whose headers take three quarters of the compile time
  const std::string command = FEATHERSTORM_HOST_COMPILER " -std=c++17 -nostdinc++ -O0 -w -fPIC -shared -nostdlib " +
                              source.string() + " -lm -lc -o " + library.string();
  return std::system(command.c_str()) == 0;
}

// The same, but copies the library if any process has compiled this source before: tests make the same kernels
// repeatedly.
bool compile_once(const std::string& text, const fs::path& library) {
  const fs::path folder = FEATHERSTORM_COMPILED_TEXTS;
  const fs::path known = folder / featherstorm::Hash().add_field(FEATHERSTORM_HOST_COMPILER).add_field(text).hex();
  std::error_code none;
  if (fs::copy_file(known, library, none)) return true;
  if (!compile(text, library)) return false;
  fs::create_directories(folder, none);
  if (std::distance(fs::directory_iterator(folder, none), fs::directory_iterator()) > 2000)
    fs::remove_all(folder, none);
  // created by rename, because other processes may look for it
  const fs::path part = known.string() + "-" + library.parent_path().filename().string();
  if (fs::copy_file(library, part, none)) fs::rename(part, known, none);
  return true;
}

// Compiles and opens the source of a kernel as a library that shares memory with no other; null if it does not
// compile.
void* compile_and_open(const std::string& text) {
  std::string folder = (fs::temp_directory_path() / "featherstorm-fake-cuda-XXXXXX").string();
  if (!mkdtemp(folder.data())) return nullptr;
  std::stringstream file;
  file << std::ifstream(FEATHERSTORM_DEVICE_SOURCE).rdbuf();
  const std::string around = file.str();
  const std::size_t at = around.find(splitter);
  const bool barriers = text.find("__syncthreads()") != std::string::npos;
  const fs::path library = fs::path(folder) / "text.so";
  void* handle = nullptr;
  if (at != std::string::npos && compile_once("#define FAKE_CUDA_BARRIERS " + std::to_string(barriers) + "\n" +
                                                  around.substr(0, at) + text + around.substr(at),
                                              library))
    handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  fs::remove_all(folder);
  return handle;
}

}  // namespace

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, void* a, void* b, unsigned c, void* d,
                                void* e, unsigned f) {
  if (const cudaError_t error = fake_cuda_asked("cudaLibraryLoadData")) return error;
  if (a || b || c || d || e || f) return cudaErrorInvalidValue;
  const char* image = static_cast<const char*>(code);
  if (std::strncmp(image, mark, std::strlen(mark)) != 0) return cudaErrorInvalidKernelImage;
  void* handle = compile_and_open(image + std::strlen(mark));
  if (!handle) return cudaErrorInvalidKernelImage;
  fake_cuda_count_programs(1);
  const char* bounds = std::strstr(image, " __launch_bounds__(");
  *library = new CUlib_st{handle, {}, bounds ? std::atoi(bounds + 19) : 1024};
  std::lock_guard lock(mutex);
  loaded.insert(*library);
  return cudaSuccess;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  fake_cuda_count_programs(-1);
  {
    std::lock_guard lock(mutex);
    loaded.erase(library);
  }
  dlclose(library->handle);
  delete library;
  return cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  if (!dlsym(library->handle, name)) return cudaErrorSymbolNotFound;
  library->kernel = {
      reinterpret_cast<int (*)(unsigned long*)>(dlsym(library->handle, "fake_cuda_parameters")),
      reinterpret_cast<void (*)(void**, unsigned, unsigned)>(dlsym(library->handle, "fake_cuda_launch_source"))};
  *kernel = &library->kernel;
  return cudaSuccess;
}
int fake_cuda_max_threads(const void* kernel) {
  std::lock_guard lock(mutex);
  for (const CUlib_st* l : loaded)
    if (&l->kernel == kernel) return l->max_threads;
  return 64;
}
// Parameters are copied at the launch, as on a device, with the sizes that the kernel declares.
cudaError_t cudaLaunchKernel(const void* kernel, dim3 blocks, dim3 threads, void** arguments, std::size_t,
                             cudaStream_t s) {
  const CUkern_st k = *static_cast<const CUkern_st*>(kernel);
  unsigned long sizes[16];
  const int count = k.parameters(sizes);
  std::vector<std::vector<char>> copies;
  for (int i = 0; i < count; i++)
    copies.emplace_back(static_cast<char*>(arguments[i]), static_cast<char*>(arguments[i]) + sizes[i]);
  last_threads = threads.x, launches++;
  return fake_cuda_launch(s, [k, copies, blocks, threads] {
    std::vector<void*> pointers;
    for (const auto& c : copies) pointers.push_back(const_cast<char*>(c.data()));
    k.launch(pointers.data(), blocks.x, threads.x);
  });
}

extern "C" __attribute__((visibility("default"))) int fake_cuda_program_launches() { return launches; }
extern "C" __attribute__((visibility("default"))) int fake_cuda_program_threads() {
  return static_cast<int>(last_threads);
}
