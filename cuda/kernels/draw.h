// Stages that draw (host/rollout/draw_stage.h) on a device, one thread for an instance, by the algorithm of
// core/scalar/draws.h.
#pragma once
#include "core/scalar/draws.h"
#include "core/scalar/scalar.h"
#include "host/memory/kernel.h"

namespace featherstorm {

inline constexpr int draw_threads = 64;  // of a block

// Component c of instance i is at data[c * stride + i].
template <class Real> struct DrawArguments {
  UniformDraw draw;
  const Real *key, *episode, *step, *needed;
  Real* out;
  long key_stride, out_stride;
  int instances;
};

template <class Real> DrawArguments<Real> draw_arguments(const UniformDraw& draw, const Array* in, const Array* out,
                                                         int instances) {
  const auto data = [in](int k) { return static_cast<const Real*>(in[k].data); };
  return {draw,
          data(0),
          data(1),
          data(2),
          draw.conditional ? data(3) : nullptr,
          static_cast<Real*>(out[0].data),
          in[0].stride,
          out[0].stride,
          instances};
}

// The work of thread `thread` of block `block`.
template <class Real> FS_HD void draw_body(const DrawArguments<Real>& a, int block, int thread) {
  const long i = static_cast<long>(block) * draw_threads + thread;
  if (i >= a.instances || (a.draw.conditional && !(a.needed[i] > 0))) return;
  const DrawCounter counter =
      draw_counter<Real>(a.draw, [&](int k) { return a.key[k * a.key_stride + i]; }, a.episode[i], a.step[i]);
  Real* to = a.out + i;
  for (int slot = 0; slot < a.draw.count; slot += 4, to += 4 * a.out_stride) {
    const PhiloxWords w = draw_words(a.draw, counter, static_cast<std::uint32_t>(slot / 4));
    for (int k = 0; k < 4; k++)
      if (slot + k < a.draw.count) to[k * a.out_stride] = uniform_of<Real>(w.word[k]);
  }
}

}  // namespace featherstorm
