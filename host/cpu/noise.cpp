// The loops of host/rollout/noise.h, compiled once for each instruction set: plain loops over instances that the
// compiler vectorises. They are compiled without contraction to fused products, so that all instruction sets return the
// same bits. All functions in this file are inlined or static, because no function may be shared with another
// instruction set.
#include "host/rollout/noise.h"

#include <Random123/philox.h>

#include "core/scalar/draws.h"
#include "core/scalar/vector_math.h"

namespace featherstorm {
namespace {

constexpr long chunk = 64;  // instances whose words are kept at a time

void words(std::uint32_t* __restrict w, long stride, long count, NoiseKey key, std::uint32_t first, std::uint32_t step,
           std::uint32_t group) {
  const std::uint32_t low = static_cast<std::uint32_t>(key.seed), high = static_cast<std::uint32_t>(key.seed >> 32);
  for (long i = 0; i < count; i++) {
    const philox4x32_ctr_t counter = {{first + static_cast<std::uint32_t>(i), step, group, key.draw}};
    const philox4x32_ctr_t r = philox4x32_R(10, counter, philox4x32_key_t{{low, high}});
    w[i] = r.v[0], w[stride + i] = r.v[1], w[2 * stride + i] = r.v[2], w[3 * stride + i] = r.v[3];
  }
}

// Compute two normal numbers from each of `count` pairs of words.
template <class Real>
void box_muller(const std::uint32_t* __restrict w0, const std::uint32_t* __restrict w1, long count, Real* __restrict z0,
                Real* __restrict z1) {
  const Real unit = Real(1) / 2147483648.0f, turn = Real(3.14159265358979323846) * unit;
  for (long i = 0; i < count; i++) {
    const Real a = (static_cast<Real>(static_cast<std::int32_t>(w0[i] >> 1)) + Real(0.5)) * unit;
    const Real r = vector_math::sqrt(Real(-2) * vector_math::log(a));
    Real s, c;
    vector_math::sincos(static_cast<Real>(static_cast<std::int32_t>(w1[i])) * turn, s, c);
    z0[i] = r * c, z1[i] = r * s;
  }
}

template <class Real>
void normals(Real* z, long stride, long count, long n, NoiseKey key, std::uint32_t first, std::uint32_t step) {
  std::uint32_t w[4 * chunk];
  Real unused[chunk];
  for (long begin = 0; begin < count; begin += chunk) {
    const long m = count - begin < chunk ? count - begin : chunk;
    for (long c = 0; c < n; c += 2) {
      if (c % 4 == 0)
        words(w, chunk, m, key, first + static_cast<std::uint32_t>(begin), step, static_cast<std::uint32_t>(c / 4));
      const std::uint32_t* pair = w + c % 4 * chunk;
      Real* to = z + c * stride + begin;
      box_muller(pair, pair + chunk, m, to, c + 1 < n ? to + stride : unused);
    }
  }
}

template <class Real>
void controls(const ControlNumbers<Real>& x, const Real* z, long n, long stride, Real* out) {
  for (long c = 0; c < n; c++) {
    Real* __restrict u = out + c * stride;
    const Real mean = x.mean[c], sigma = x.sigma[c], lower = x.lower[c], upper = x.upper[c];
    for (long i = 0; i < stride; i++) u[i] = 0;
    for (long k = 0; k < x.knots; k++) {
      const Real weight = x.weights[k];
      if (weight == 0) continue;
      const Real* __restrict from = z + (k * n + c) * stride;
      for (long i = 0; i < stride; i++) u[i] += weight * from[i];
    }
    for (long i = 0; i < stride; i++) {
      Real y = mean + sigma * u[i];
      y = y < lower ? lower : y;
      u[i] = y > upper ? upper : y;
    }
  }
}

struct DrawCounters {
  std::uint32_t low[draw_group], high[draw_group], env[draw_group], episode[draw_group], step[draw_group];
};

// Draw four slots of n instances.
template <class Real>
inline __attribute__((always_inline)) void draw_slots(const UniformDraw& draw, const DrawCounters& c,
                                                      std::uint32_t group, long n, Real* __restrict u0,
                                                      Real* __restrict u1, Real* __restrict u2, Real* __restrict u3) {
  for (long i = 0; i < n; i++) {
    const PhiloxWords w = draw_words(draw, {c.low[i], c.high[i], c.env[i], c.episode[i], c.step[i]}, group);
    u0[i] = uniform_of<Real>(w.word[0]), u1[i] = uniform_of<Real>(w.word[1]);
    u2[i] = uniform_of<Real>(w.word[2]), u3[i] = uniform_of<Real>(w.word[3]);
  }
}

// Draw for n instances from index `first`, at most draw_group.
template <class Real>
inline __attribute__((always_inline)) void draw_instances(const UniformDraw& draw, const Array* in, const Array& out,
                                                          long first, long n) {
  const auto at = [first](const Array& a, long c) { return static_cast<Real*>(a.data) + c * a.stride + first; };
  const Real* const key[] = {at(in[0], 0), at(in[0], 1), at(in[0], 2), at(in[0], 3), at(in[0], 4), at(in[0], 5)};
  const Real *const episode = at(in[1], 0), *const step = at(in[2], 0);
  DrawCounters x;
  for (long i = 0; i < n; i++) {
    const DrawCounter c = draw_counter<Real>(draw, [&](int k) { return key[k][i]; }, episode[i], step[i]);
    x.low[i] = c.low, x.high[i] = c.high, x.env[i] = c.env, x.episode[i] = c.episode, x.step[i] = c.step;
  }
  Real unused[4][draw_group];
  for (int slot = 0; slot < draw.count; slot += 4) {
    Real* to[4];
    for (int k = 0; k < 4; k++) to[k] = slot + k < draw.count ? at(out, slot + k) : unused[k];
    draw_slots(draw, x, static_cast<std::uint32_t>(slot / 4), n, to[0], to[1], to[2], to[3]);
  }
}

template <class Real>
void uniforms(const void* model, const Array* in, const Array* out, long, long first, long count) {
  const UniformDraw draw = *static_cast<const UniformDraw*>(model);
  for (long begin = first; begin < first + count; begin += draw_group) {
    const long n = first + count - begin < draw_group ? first + count - begin : draw_group;
    if (draw.conditional) {
      const Real* needed = static_cast<const Real*>(in[3].data) + begin;
      bool any = false;
      for (long i = 0; i < n; i++) any |= needed[i] > 0;
      if (!any) continue;
    }
    draw_instances<Real>(draw, in, out[0], begin, n);
  }
}

}  // namespace

#define FEATHERSTORM_JOIN_(a, b) a##b
#define FEATHERSTORM_JOIN(a, b) FEATHERSTORM_JOIN_(a, b)
#define FEATHERSTORM_TEXT_(a) #a
#define FEATHERSTORM_TEXT(a) FEATHERSTORM_TEXT_(a)
extern const NoiseKernels FEATHERSTORM_JOIN(noise_kernels_, FEATHERSTORM_NOISE_ISA);
const NoiseKernels FEATHERSTORM_JOIN(noise_kernels_, FEATHERSTORM_NOISE_ISA) = {
    FEATHERSTORM_TEXT(FEATHERSTORM_NOISE_ISA),
    words,
    normals<float>,
    normals<double>,
    controls<float>,
    controls<double>,
    uniforms<float>,
    uniforms<double>};

}  // namespace featherstorm
