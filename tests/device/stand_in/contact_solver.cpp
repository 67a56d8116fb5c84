// The kernels of the contact solver, as cuda/kernels/contact_solver.cu has them, on the host: all blocks, last thread first, each
// with its part of the launch's memory.
#define FEATHERSTORM_LAUNCHED_SCRATCH
#include "cuda/kernels/contact_solver.h"

#include <new>

#include "tests/device/stand_in/runtime.h"
#include "tests/device/stand_in/stand_in.h"

namespace featherstorm {
namespace {

StandInSolver used{};

template <class Real> cudaError_t launch(const void* bytes, const SolverLaunch& l, cudaStream_t stream) {
  // a launch keeps copies of its parameters, as a kernel has them
  const auto solver = *static_cast<const DeviceSolver<Real>*>(bytes);
  const SolverArguments<Real> a = solver_arguments<Real>(l);
  return stand_in_launch(stream, [solver, a, blocks = l.blocks] {
    peak_of_host_thread = {};
    try {
      for (int block = blocks - 1; block >= 0; block--)
        for (int thread = solver_threads - 1; thread >= 0; thread--) solver_body(solver, a, block, blocks, thread);
    } catch (const std::bad_alloc&) { used.out_of_room = 1; }
    used.blocks = blocks, used.most_numbers = a.most_numbers, used.most_bytes = a.most_bytes;
    used.numbers = peak_of_host_thread.numbers, used.bytes = peak_of_host_thread.bytes;
  });
}
template <class Real> SolverLauncher launcher() { return {launch<Real>, reinterpret_cast<const void*>(launch<Real>)}; }

}  // namespace

SolverLauncher solver_launcher_float() { return launcher<float>(); }
SolverLauncher solver_launcher_double() { return launcher<double>(); }

}  // namespace featherstorm

extern "C" __attribute__((visibility("default"))) void stand_in_solver(StandInSolver* s) { *s = featherstorm::used; }
