// A test of the scalar's type, the only one that algorithms use.
#pragma once
#include <type_traits>

#include "core/scalar/dual.h"

namespace featherstorm {

class Expr;

// True if a scalar is traced: an algorithm of a joint then receives it as a whole and not lane by lane.
template <class T> inline constexpr bool is_traced = std::is_same_v<T, Expr>;
template <class T> inline constexpr bool is_traced<Dual<T>> = is_traced<T>;

}  // namespace featherstorm
