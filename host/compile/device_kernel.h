// Kernels for a CUDA device made for one robot: a traced program in the order of statements that suits the device's
// compiler, compiled by NVRTC, kept on disk.
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

// How a text is written: what is tried, and what the tables of tests/cuda name.
struct DeviceForm {
  std::string_view order = "trace";  // or "greedy", "sethi_ullman" (core/program/order.h)
  int blocks = 0;                    // emit.h, Cuda::blocks
  int warps = 1;                     // that work on an instance: a role each (core/program/partition.h)
};
inline constexpr int max_device_roles = 8;
inline constexpr int max_role_bytes = 48 << 10;  // shared memory of a block that needs no asking

// Threads in a block. Two warps, as in cuda/kernels/kernels.cuh: nothing is shared between threads, so a block need be no
// larger, and small blocks spread a small batch over more multiprocessors. At 255 registers four blocks fill one.
inline constexpr int device_block_threads = 64;

struct DeviceKernel {
  std::string image;
  DeviceForm form;
  DeviceCost cost;
};

// The text of a program in this form. Several warps need the bodies that its numbers belong to (bodies.h); throws Error
// where the program cannot be cut into so many roles, or would exchange more than max_role_bytes.
std::string device_source(const Program& p, bool double_precision, const DeviceForm& form,
                          const Bodies* bodies = nullptr);

// The order of statements of this name. Throws Error for others than the three.
std::vector<int> order_of(const Program& p, std::string_view name);

// Warps that a multiprocessor holds, by the registers that a thread takes: 64 Ki registers in all, handed out by 8.
int resident_warps(int registers);

// Whether to prefer the first of two forms of one program: fewer bytes spilled; else more warps resident, up to the 16
// (four per scheduler) that hide the latency of arithmetic; else fewer instructions.
bool is_better(const DeviceCost& a, const DeviceCost& b);

// Compiles the program in the three orders and keeps the best, without a limit on registers: of the kernels of
// tests/cuda/specialised.csv every one that takes more than 128 spills when it is held to the 128 or 168 that make room
// for 16 or 12 warps (go2 fd at 128: 172 bytes and 3 % more instructions; atlas fd at 168: 1 KiB and 5 %). Whether more
// warps are worth that, a GPU must tell: DeviceForm::blocks is there for it. Where the compiler makes PTX only, nothing
// is known of the cost: the order with the fewest live values is taken.
DeviceKernel compile_for_device(const Program& p, bool double_precision, const Nvrtc& compiler,
                                const std::string& target, int warps = 1, const Bodies* bodies = nullptr);

// compile_for_device behind the cache on disk: make one and keep it. Any number of threads and processes may use it.
class DeviceCompiler {
 public:
  explicit DeviceCompiler(Notice notice, std::filesystem::path cache_folder = default_cache_folder());

  // Why nothing can be compiled here, or "".
  const std::string& missing() const { return nvrtc_.missing(); }

  // The kernel, from the cache or compiled now: in this form, or, where its order is empty, in the best with so many
  // warps. Throws Error.
  DeviceKernel kernel(const Program& p, bool double_precision, int capability, const DeviceForm& form = best_form,
                      const Bodies* bodies = nullptr);
  static constexpr DeviceForm best_form{"", 0, 1};
  // The best of these texts of one kernel, the first one where the compiler makes PTX only. The others follow from the
  // first: it is what the entry in the cache is found by.
  DeviceKernel kernel(const std::vector<std::pair<DeviceForm, std::string>>& texts, int capability);

 private:
  Nvrtc nvrtc_;
  KernelCache cache_;
};

}  // namespace featherstorm
