// Sets of instances of a pack, one bit for each instance (core/scalar/instances.h).
#pragma once
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <utility>

#include "core/scalar/instances.h"
#include "core/scalar/pack.h"

namespace featherstorm {

template <class Real, int W> inline unsigned instances_above_zero(const Pack<Real, W>& x) {
  const auto positive = x.v > Real(0);
#if defined(__AVX512DQ__)
  if constexpr (sizeof(x) == 64 && sizeof(Real) == 4) return _mm512_movepi32_mask((__m512i)positive);
  else if constexpr (sizeof(x) == 64) return _mm512_movepi64_mask((__m512i)positive);
  else if constexpr (sizeof(x) == 32 && sizeof(Real) == 4) return _mm256_movepi32_mask((__m256i)positive);
  else if constexpr (sizeof(x) == 32) return _mm256_movepi64_mask((__m256i)positive);
  else
#elif defined(__AVX2__)
  if constexpr (sizeof(x) == 32 && sizeof(Real) == 4)
    return static_cast<unsigned>(_mm256_movemask_ps((__m256)positive));
  else if constexpr (sizeof(x) == 32) return static_cast<unsigned>(_mm256_movemask_pd((__m256d)positive));
  else
#endif
  {
    unsigned bits = 0;
    for (int i = 0; i < W; i++) bits |= positive[i] ? 1u << i : 0u;
    return bits;
  }
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

}  // namespace featherstorm
