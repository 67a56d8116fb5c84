// A test whether any instance in a scalar is still active.
#pragma once
#include "core/scalar/is_traced.h"
#include "core/scalar/scalar.h"

namespace featherstorm {

// True if x is above zero in any instance; for traced numbers always true.
template <class T> FS_HD bool some(const T& x) {
  if constexpr (is_traced<T>) return true;
  else {
    for (int i = 0; i < lanes<T>; i++)
      if (lane(x, i) > 0) return true;
    return false;
  }
}
FS_HD bool some(const double& x) { return x > 0; }
FS_HD bool some(const float& x) { return x > 0; }
template <class T> FS_HD bool some(const Dual<T>& x) { return some(x.x); }

}  // namespace featherstorm
