// The algorithm FEATHERSTORM_SOLVER_TEXT of the contact solver in precision FEATHERSTORM_REAL.
#define FEATHERSTORM_LAUNCHED_SCRATCH
#include "cuda/kernels/contact_solver.h"

#define FEATHERSTORM_JOIN2(a, b, c) a##b##_##c
#define FEATHERSTORM_JOIN(a, b, c) FEATHERSTORM_JOIN2(a, b, c)

namespace featherstorm {
namespace {

using Real = FEATHERSTORM_REAL;
constexpr SolverAlgorithm text = SolverAlgorithm::FEATHERSTORM_SOLVER_TEXT;

// Raw bytes, because a kernel's parameter may not have Eigen's constructors.
struct SolverBytes { alignas(16) unsigned char bytes[sizeof(DeviceSolver<Real>)]; };

__global__ void __launch_bounds__(solver_threads)
    solver_kernel(const __grid_constant__ SolverBytes solver, const __grid_constant__ SolverArguments<Real, text> a) {
  solver_body(reinterpret_cast<const DeviceSolver<Real>&>(solver), a, blockIdx.x, gridDim.x, threadIdx.x);
}

cudaError_t launch(const void* solver, const SolverLaunch& l, cudaStream_t stream) {
  solver_kernel<<<l.blocks, solver_threads, 0, stream>>>(*static_cast<const SolverBytes*>(solver),
                                                         solver_arguments<Real, text>(l));
  return cudaGetLastError();
}

}  // namespace

SolverLauncher FEATHERSTORM_JOIN(solver_launcher_, FEATHERSTORM_REAL, FEATHERSTORM_SOLVER_TEXT)() {
  return {launch, reinterpret_cast<const void*>(solver_kernel)};
}

}  // namespace featherstorm
