// Algorithms of the contact solver in precision FEATHERSTORM_REAL: those of SolverAlgorithm from
// FEATHERSTORM_SOLVER_FIRST to FEATHERSTORM_SOLVER_LAST. Files of one algorithm compile in parallel; a file of several
// reads their headers once.
#define FEATHERSTORM_LAUNCHED_SCRATCH
#include "cuda/kernels/contact_solver.h"

#define FEATHERSTORM_JOIN2(a, b, c) a##b##_##c
#define FEATHERSTORM_JOIN(a, b, c) FEATHERSTORM_JOIN2(a, b, c)

namespace featherstorm {
namespace {

using Real = FEATHERSTORM_REAL;

// Raw bytes, because a kernel's parameter may not have Eigen's constructors.
struct SolverBytes { alignas(16) unsigned char bytes[sizeof(DeviceSolver<Real>)]; };

template <class Arguments>
__global__ void __launch_bounds__(solver_threads)
    solver_kernel(const __grid_constant__ SolverBytes solver, const __grid_constant__ Arguments a) {
  solver_body(reinterpret_cast<const DeviceSolver<Real>&>(solver), a, blockIdx.x, gridDim.x, threadIdx.x);
}

template <SolverAlgorithm text> cudaError_t launch(const void* solver, const SolverLaunch& l, cudaStream_t stream) {
  solver_kernel<<<l.blocks, solver_threads, 0, stream>>>(*static_cast<const SolverBytes*>(solver),
                                                         solver_arguments<Real, text>(l));
  return cudaGetLastError();
}

template <SolverAlgorithm text> SolverLauncher launcher() {
  return {launch<text>, reinterpret_cast<const void*>(solver_kernel<SolverArguments<Real, text>>)};
}

}  // namespace

#define FEATHERSTORM_HAS(text) (FEATHERSTORM_SOLVER_FIRST <= text && text <= FEATHERSTORM_SOLVER_LAST)
#define FEATHERSTORM_LAUNCHER(text)                                               \
  SolverLauncher FEATHERSTORM_JOIN(solver_launcher_, FEATHERSTORM_REAL, text)() { \
    return launcher<SolverAlgorithm::text>();                                     \
  }

#if FEATHERSTORM_HAS(0)
FEATHERSTORM_LAUNCHER(solution)
#endif
#if FEATHERSTORM_HAS(1)
FEATHERSTORM_LAUNCHER(gradients)
#endif
#if FEATHERSTORM_HAS(2)
FEATHERSTORM_LAUNCHER(tangents)
#endif
#if FEATHERSTORM_HAS(3)
FEATHERSTORM_LAUNCHER(soft)
#endif

}  // namespace featherstorm
