// The contact solver in precision FEATHERSTORM_REAL.
#define FEATHERSTORM_LAUNCHED_SCRATCH
#include "cuda/kernels/contact_solver.h"

#define FEATHERSTORM_JOIN2(a, b) a##b
#define FEATHERSTORM_JOIN(a, b) FEATHERSTORM_JOIN2(a, b)

namespace featherstorm {
namespace {

using Real = FEATHERSTORM_REAL;

// As raw bytes, because a kernel's parameter may not have Eigen's constructors.
struct SolverBytes { alignas(16) unsigned char bytes[sizeof(DeviceSolver<Real>)]; };

__global__ void __launch_bounds__(solver_threads)
    solver_kernel(const __grid_constant__ SolverBytes solver, const __grid_constant__ SolverArguments<Real> a) {
  solver_body(reinterpret_cast<const DeviceSolver<Real>&>(solver), a, blockIdx.x, gridDim.x, threadIdx.x);
}

cudaError_t launch(const void* solver, const SolverLaunch& l, cudaStream_t stream) {
  solver_kernel<<<l.blocks, solver_threads, 0, stream>>>(*static_cast<const SolverBytes*>(solver),
                                                         solver_arguments<Real>(l));
  return cudaGetLastError();
}

}  // namespace

SolverLauncher FEATHERSTORM_JOIN(solver_launcher_, FEATHERSTORM_REAL)() {
  return {launch, reinterpret_cast<const void*>(solver_kernel)};
}

}  // namespace featherstorm
