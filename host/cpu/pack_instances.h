// Sets of instances of a pack, one bit for each instance (core/scalar/instances.h).
#pragma once
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <utility>

#include "core/scalar/instances.h"
#include "core/scalar/pack.h"

namespace featherstorm {

// The instances in which a < b.
template <class Real, int W> inline unsigned instances_below(const Pack<Real, W>& a, const Pack<Real, W>& b) {
#if defined(__AVX512DQ__)
  if constexpr (W == 16) return _mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ);
  else if constexpr (sizeof(a) == 64) return _mm512_cmp_pd_mask(a.v, b.v, _CMP_LT_OQ);
  else if constexpr (W == 8) return _mm256_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ);
  else if constexpr (sizeof(a) == 32) return _mm256_cmp_pd_mask(a.v, b.v, _CMP_LT_OQ);
  else
#elif defined(__AVX2__)
  if constexpr (W == 8) return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)));
  else if constexpr (sizeof(a) == 32)
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(a.v, b.v, _CMP_LT_OQ)));
  else
#endif
  {
    const auto below = a.v < b.v;
    unsigned bits = 0;
    for (int i = 0; i < W; i++) bits |= below[i] ? 1u << i : 0u;
    return bits;
  }
}
template <class Real, int W> inline unsigned instances_above_zero(const Pack<Real, W>& x) {
  return instances_below(Pack<Real, W>(0), x);
}
template <class Real, int W> inline unsigned instances_below_zero(const Pack<Real, W>& x) {
  return instances_below(x, Pack<Real, W>(0));
}
template <class Real, int W> inline bool some(const Pack<Real, W>& x) { return instances_above_zero(x) != 0; }

template <class Real, int W> struct NumberIn<Pack<Real, W>> {
  using Type = Real;
  // built in registers, because numbers that are stored one by one cannot be loaded as a vector without a stall
  static Pack<Real, W> pack(auto&& number) {
    return [&]<int... i>(std::integer_sequence<int, i...>) {
      return Pack<Real, W>::of(typename Pack<Real, W>::Vector{static_cast<Real>(number(i))...});
    }(std::make_integer_sequence<int, W>());
  }
};

template <class Real, int W> struct InstancesOf<Pack<Real, W>> {
  using Mask = typename Pack<Real, W>::Mask;
  static Mask where(unsigned bits) {
    Mask bit;
    for (int i = 0; i < W; i++) bit[i] = 1 << i;
    return (bit & (Mask{} + static_cast<std::remove_reference_t<decltype(bit[0])>>(bits))) != 0;
  }
};

#if defined(__AVX512DQ__)
template <> inline Pack<float, 16> keep(unsigned bits, const Pack<float, 16>& x) {
  return Pack<float, 16>::of(_mm512_maskz_mov_ps(static_cast<__mmask16>(bits), x.v));
}
template <> inline Pack<double, 8> keep(unsigned bits, const Pack<double, 8>& x) {
  return Pack<double, 8>::of(_mm512_maskz_mov_pd(static_cast<__mmask8>(bits), x.v));
}
#endif

}  // namespace featherstorm
