// Kernels of one robot for a CUDA device: a traced program is written in a statement order that suits the device's
// compiler, compiled by NVRTC and cached on disk.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/program/partition.h"
#include "host/compile/nvrtc.h"
#include "host/memory/kernel.h"
#include "host/system/cache.h"

namespace featherstorm {

// The form in which a source is written. The tables of tests/cuda use these names.
struct DeviceForm {
  std::string_view order = "trace";  // or "greedy", "sethi_ullman" (core/program/order.h)
  int blocks = 0;                    // emit.h, Cuda::blocks
  int warps = 1;                     // warps that work on one instance, one role each (core/program/partition.h)
};
inline constexpr int max_device_roles = 8;
inline constexpr int max_role_bytes = 48 << 10;  // shared memory that every block may use

// Threads per block: two warps, as in cuda/kernels/kernels.cuh. Threads share nothing, so larger blocks have no
// advantage, and small blocks spread a small batch over more multiprocessors. With 255 registers per thread, four
// blocks fill a multiprocessor.
inline constexpr int device_block_threads = 64;

struct DeviceKernel {
  std::string image;
  DeviceForm form;
  DeviceCost cost;
};

// The source of a program in this form. Forms with several warps need the bodies of the program's numbers (bodies.h).
// Throws Error if the program cannot be cut into that many roles, or if the roles would exchange more than
// max_role_bytes.
std::string device_source(const Program& p, bool double_precision, const DeviceForm& form,
                          const Bodies* bodies = nullptr);

// The statement order with this name. Throws Error for any name but the three.
std::vector<int> order_of(const Program& p, std::string_view name);

// Number of warps that fit a multiprocessor, from the registers per thread: 64 Ki registers in total, allocated in
// units of 8.
int resident_warps(int registers);

// True if the first of two forms of one program is better: fewer bytes spilled; else more resident warps, up to the 16
// (four per scheduler) that hide the latency of arithmetic; else fewer instructions.
bool is_better(const DeviceCost& a, const DeviceCost& b);

// Compiles the program in the three orders and returns the best. Registers are not limited: of the kernels in
// tests/cuda/specialised.csv, every one that uses more than 128 registers spills if it is limited to 128 or 168, which
// would make room for 16 or 12 warps (go2 fd at 128: 172 bytes and 3 % more instructions; atlas fd at 168: 1 KiB and 5
// %). Only a measurement on a GPU can show if more warps outweigh this; DeviceForm::blocks allows it. If the compiler
// produces only PTX, the cost is unknown, and the order with the fewest live values is used.
DeviceKernel compile_for_device(const Program& p, bool double_precision, const Nvrtc& compiler,
                                const std::string& target, int warps = 1, const Bodies* bodies = nullptr);

// compile_for_device with a cache on disk. Keep one object. Any number of threads and processes may use it.
class DeviceCompiler {
 public:
  explicit DeviceCompiler(Notice notice, std::filesystem::path cache_folder = default_cache_folder());

  // The reason why nothing can be compiled, or "".
  const std::string& missing() const { return nvrtc_.missing(); }

  // The kernel, from the cache or compiled now. It has this form, or, if the form's order is empty, the best form with
  // that number of warps. Throws Error.
  DeviceKernel kernel(const Program& p, bool double_precision, int capability, const DeviceForm& form = best_form,
                      const Bodies* bodies = nullptr);
  static constexpr DeviceForm best_form{"", 0, 1};
  // The best of these sources of one kernel; the first one if the compiler produces only PTX. The first source
  // identifies the cache entry, so it must determine the others.
  DeviceKernel kernel(const std::vector<std::pair<DeviceForm, std::string>>& texts, int capability);

 private:
  Nvrtc nvrtc_;
  KernelCache cache_;
};

}  // namespace featherstorm
