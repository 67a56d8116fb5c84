// The kernels of the contact solver (cuda/kernels/contact_solver.cu) on the host: all blocks, last thread first, each
// with its part of the launch's memory.
#define FEATHERSTORM_LAUNCHED_SCRATCH
#include "cuda/kernels/contact_solver.h"

#include <new>

#include "tests/device/fake_cuda/fake_cuda.h"
#include "tests/device/fake_cuda/runtime.h"

namespace featherstorm {
namespace {

StandInSolver used{};

template <class Real, SolverAlgorithm text>
cudaError_t launch(const void* bytes, const SolverLaunch& l, cudaStream_t stream) {
  // a launch copies its parameters, as for a kernel
  const auto solver = *static_cast<const DeviceSolver<Real>*>(bytes);
  const SolverArguments<Real, text> a = solver_arguments<Real, text>(l);
  return fake_cuda_launch(stream, [solver, a, blocks = l.blocks] {
    peak_of_host_thread = {};
    try {
      for (int block = blocks - 1; block >= 0; block--)
        for (int thread = solver_threads - 1; thread >= 0; thread--) solver_body(solver, a, block, blocks, thread);
    } catch (const std::bad_alloc&) { used.out_of_room = 1; }
    used.blocks = blocks, used.most_numbers = a.most_numbers, used.most_bytes = a.most_bytes;
    used.numbers = peak_of_host_thread.numbers, used.bytes = peak_of_host_thread.bytes;
  });
}
template <class Real, SolverAlgorithm text> SolverLauncher launcher() {
  return {launch<Real, text>, reinterpret_cast<const void*>(launch<Real, text>)};
}

}  // namespace

#define FEATHERSTORM_LAUNCHER(real, text) \
  SolverLauncher solver_launcher_##real##_##text() { return launcher<real, SolverAlgorithm::text>(); }
#define FEATHERSTORM_LAUNCHERS(real)    \
  FEATHERSTORM_LAUNCHER(real, solution) \
  FEATHERSTORM_LAUNCHER(real, gradients) FEATHERSTORM_LAUNCHER(real, tangents) FEATHERSTORM_LAUNCHER(real, soft)
FEATHERSTORM_LAUNCHERS(float) FEATHERSTORM_LAUNCHERS(double)

}  // namespace featherstorm

extern "C" __attribute__((visibility("default"))) void fake_cuda_solver(StandInSolver* s) { *s = featherstorm::used; }
