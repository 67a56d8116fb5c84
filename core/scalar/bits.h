// Sets of bits, on the host and on devices.
#pragma once
#include <bit>
#include <cstdint>

#include "core/scalar/scalar.h"

namespace featherstorm {

// Index of the lowest set bit, and of the highest one; at least one must be set.
FS_HD int lowest_bit(std::uint64_t bits) {
#ifdef __CUDA_ARCH__
  return __ffsll(static_cast<long long>(bits)) - 1;
#else
  return std::countr_zero(bits);
#endif
}
FS_HD int highest_bit(std::uint64_t bits) {
#ifdef __CUDA_ARCH__
  return 63 - __clzll(static_cast<long long>(bits));
#else
  return 63 - std::countl_zero(bits);
#endif
}

}  // namespace featherstorm
