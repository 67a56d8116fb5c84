// Normal numbers by counter: Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2,
// 3"; code of Random123) and the Box-Muller transform. The generator has no state: a number is a function of its
// indices,
//
//   w = philox(counter = (instance, step, component / 4, draw), key = seed), 4 words of 32 bits
//   components 4 g + 2 k and 4 g + 2 k + 1:  sqrt(-2 log a) (cos b, sin b),
//   a = (floor(w[2 k] / 2) + 1/2) / 2^31,  b = pi w[2 k + 1] / 2^31 with that word as a signed number
//
// It does not depend on the batch, its blocks, threads or the width of packs. Every instruction set returns the same
// bits, and CUDA devices use the same words (core/emit/prelude_rollout.inc). |z| < 6.7. float32 and float64 use the
// same words and differ by rounding: at most 5e-4 where |z| is small.
#pragma once
#include <cstdint>
#include <string>

#include "host/memory/kernel.h"

namespace featherstorm {

// Key that all numbers of a call share.
struct NoiseKey {
  std::uint64_t seed = 0;
  std::uint32_t draw = 0;  // another value gives other, independent numbers for the same seed
};

// Numbers for the controls of a step, the same for all instances of a block.
template <class Real>
struct ControlNumbers {
  const Real *mean, *sigma, *lower, *upper;  // (n)
  const Real* weights;                       // (knots)
  long knots;
};

// The loops for one instruction set (host/cpu/noise.cpp). Arrays are blocks [component][stride].
struct NoiseKernels {
  const char* isa;
  // words [4][stride] of instances first .. first + count - 1
  void (*words)(std::uint32_t* w, long stride, long count, NoiseKey key, std::uint32_t first, std::uint32_t step,
                std::uint32_t group);
  // z (n): standard normal numbers
  void (*normals_float)(float* z, long stride, long count, long n, NoiseKey key, std::uint32_t first,
                        std::uint32_t step);
  void (*normals_double)(double* z, long stride, long count, long n, NoiseKey key, std::uint32_t first,
                         std::uint32_t step);
  // u (n) = clip(mean + sigma * sum over k of weights[k] z_k, lower, upper); z is [knot][component][stride]
  void (*controls_float)(const ControlNumbers<float>& numbers, const float* z, long n, long stride, float* u);
  void (*controls_double)(const ControlNumbers<double>& numbers, const double* z, long n, long stride, double* u);
  // Uniform numbers of a draw stage (draw_stage.h). `model` is a UniformDraw (core/scalar/draws.h); any number of
  // instances. A conditional draw skips groups of draw_group instances that need no numbers.
  Kernel uniforms_float, uniforms_double;
};
inline constexpr int draw_group = 16;

// Return the loops of "avx512", "avx2" or "base", which the processor must support. Other names give those of "base".
const NoiseKernels& noise_kernels(const std::string& isa);

}  // namespace featherstorm
