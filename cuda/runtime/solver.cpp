#include "cuda/runtime/solver.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/scalar/launched_scratch.h"
#include "cuda/kernels/device_model.h"
#include "cuda/kernels/device_solver.h"
#include "cuda/kernels/launcher.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/working_memory.h"
#include "host/solver/solver_room.h"

namespace featherstorm {

struct CudaSolver {
  int device = 0;
  SolverAlgorithm text{};
  SolverLauncher launcher;
  std::vector<unsigned char> image;  // the bytes of a DeviceSolver
  void* arrays = nullptr;            // arrays that it points to, in device memory
  SolverRoom room;                   // of one thread
  unsigned long number_size = 0;
  CudaSolverInfo info{};

  CudaSolver() = default;
  CudaSolver(const CudaSolver&) = delete;
  CudaSolver& operator=(const CudaSolver&) = delete;
  ~CudaSolver() {
    // pending kernels may read the arrays
    if (OnDevice on(device); on) cudaDeviceSynchronize(), cudaFree(arrays);
  }
};

namespace {

constexpr unsigned long alignment = 256;

unsigned long number_bytes(const CudaSolver& s) {  // of a block
  return launched_threads * s.room.numbers * s.number_size;
}

// Blocks that a multiprocessor can hold at once, by registers (64 Ki, allocated to a thread in units of 8) and by
// threads.
int blocks_at_once(const cudaFuncAttributes& a, const cudaDeviceProp& p) {
  const int registers = std::max(8, (a.numRegs + 7) / 8 * 8);
  return std::max(1,
                  std::min(65536 / (registers * launched_threads), p.maxThreadsPerMultiProcessor / launched_threads));
}

SolverLauncher launcher_of(bool double_precision, SolverAlgorithm text) {
  switch (text) {
    case SolverAlgorithm::solution:
      return double_precision ? solver_launcher_double_solution() : solver_launcher_float_solution();
    case SolverAlgorithm::soft: return double_precision ? solver_launcher_double_soft() : solver_launcher_float_soft();
    case SolverAlgorithm::gradients:
      return double_precision ? solver_launcher_double_gradients() : solver_launcher_float_gradients();
    default: return double_precision ? solver_launcher_double_tangents() : solver_launcher_float_tangents();
  }
}

// Return the algorithm of a robot's solver: the requested one, or the part of it that the robot needs.
template <class Real> SolverAlgorithm text_for(const void* solver, SolverAlgorithm text) {
  const auto& s = *static_cast<const ContactSolver<Real>*>(solver);
  return text == SolverAlgorithm::solution && !s.rigid && s.world.no_slip.iterations == 0 ? SolverAlgorithm::soft
                                                                                          : text;
}

template <class Real> bool make(const ContactSolver<Real>& s, CudaSolver& to) {
  to.room = solver_room(s, to.text), to.number_size = sizeof(Real);
  if (to.room.numbers > INT_MAX / launched_lanes || to.room.bytes > INT_MAX)
    return cuda_failed("the contact solver needs " + std::to_string(to.room.numbers) + " numbers and " +
                       std::to_string(to.room.bytes) + " bytes for each instance, more than a kernel can address");
  PlacedArrays arrays(0);
  device_solver(s, arrays);
  if (!arrays.bytes.empty() && !FEATHERSTORM_CUDA(cudaMalloc(&to.arrays, arrays.bytes.size()))) return false;
  PlacedArrays placed(reinterpret_cast<std::uintptr_t>(to.arrays));
  const DeviceSolver<Real> d = device_solver(s, placed);
  if (!placed.bytes.empty() &&
      !FEATHERSTORM_CUDA(cudaMemcpy(to.arrays, placed.bytes.data(), placed.bytes.size(), cudaMemcpyHostToDevice)))
    return false;
  to.image.resize(sizeof d);
  std::memcpy(to.image.data(), static_cast<const void*>(&d), sizeof d);
  return true;
}

}  // namespace

bool create_solver(int device, const void* solver, bool double_precision, SolverAlgorithm text, CudaSolver** handle) {
  *handle = nullptr;
  OnDevice on(device);
  if (!on) return false;
  auto s = std::make_unique<CudaSolver>();
  s->device = device;
  s->text = double_precision ? text_for<double>(solver, text) : text_for<float>(solver, text);
  s->launcher = launcher_of(double_precision, s->text);
  cudaFuncAttributes a;
  cudaDeviceProp p;
  if (!FEATHERSTORM_CUDA(cudaGetDeviceProperties(&p, device)) ||
      !set_aside_by(device, s->launcher.kernel, &s->info.kernel.set_aside, &a) ||
      !can_set_aside(device, s->launcher.kernel, "the kernel of the contact solver",
                     "A robot with few contact candidates does not need it") ||
      !(double_precision ? make(*static_cast<const ContactSolver<double>*>(solver), *s)
                         : make(*static_cast<const ContactSolver<float>*>(solver), *s)))
    return false;
  s->info.kernel.registers = a.numRegs, s->info.kernel.local_bytes = static_cast<int>(a.localSizeBytes);
  s->info.kernel.max_threads = a.maxThreadsPerBlock;
  s->info.threads = launched_threads, s->info.blocks = p.multiProcessorCount * blocks_at_once(a, p);
  const unsigned long bytes = number_bytes(*s) + launched_threads * s->room.bytes;
  s->info.block_bytes = (bytes + alignment - 1) / alignment * alignment;
  *handle = s.release();
  return true;
}

void destroy_solver(CudaSolver* handle) { delete handle; }

bool solver_info(const CudaSolver* s, CudaSolverInfo* info) { return *info = s->info, true; }

bool launch_solver(const CudaSolver* s, const CudaSolverLaunch* l, void* stream) {
  if (l->count < 0 || l->count > INT_MAX)
    return cuda_failed("the contact solver was given " + std::to_string(l->count) + " instances");
  const SolverArrays count = arrays_of(s->text);
  for (const auto& [arrays, n] : {std::pair{l->in, count.in}, std::pair{l->out, count.out}})
    for (int k = 0; k < n; k++)
      if (arrays[k].stride < 0 || arrays[k].stride > INT_MAX)
        return cuda_failed("the contact solver was given an array of stride " + std::to_string(arrays[k].stride) +
                           ", expected 0 to 2147483647");
  if (l->count == 0) return true;
  const long wanted = (l->count + launched_threads - 1) / launched_threads;
  const long blocks = std::min<long>({wanted, s->info.blocks, static_cast<long>(l->bytes / s->info.block_bytes)});
  if (blocks < 1)
    return cuda_failed("the contact solver was given " + std::to_string(l->bytes) + " bytes of memory, expected " +
                       std::to_string(s->info.block_bytes) + " or more");
  OnDevice on(s->device);
  unsigned char* const work = static_cast<unsigned char*>(l->work);
  const SolverLaunch launch{l->in,
                            l->out,
                            work,
                            work + blocks * number_bytes(*s),
                            static_cast<int>(s->room.numbers),
                            static_cast<int>(s->room.bytes),
                            static_cast<int>(l->count),
                            static_cast<int>(blocks)};
  return on && FEATHERSTORM_CUDA(s->launcher.launch(s->image.data(), launch, static_cast<cudaStream_t>(stream)));
}

}  // namespace featherstorm
