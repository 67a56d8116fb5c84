#include "host/rollout/noise.h"

namespace featherstorm {

// one for each instruction set, from host/cpu/noise.cpp
extern const NoiseKernels noise_kernels_base;
#ifdef FEATHERSTORM_NOISE_X86
extern const NoiseKernels noise_kernels_avx2, noise_kernels_avx512;
#endif

const NoiseKernels& noise_kernels([[maybe_unused]] const std::string& isa) {
#ifdef FEATHERSTORM_NOISE_X86
  if (isa == "avx512") return noise_kernels_avx512;
  if (isa == "avx2") return noise_kernels_avx2;
#endif
  return noise_kernels_base;
}

}  // namespace featherstorm
