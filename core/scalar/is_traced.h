// The one question that texts ask about their scalar.
#pragma once
#include <type_traits>

#include "core/scalar/dual.h"

namespace featherstorm {

class Expr;

// Whether a scalar is traced, so that a joint's text is called with it as a whole and not lane by lane.
template <class T> inline constexpr bool is_traced = std::is_same_v<T, Expr>;
template <class T> inline constexpr bool is_traced<Dual<T>> = is_traced<T>;

}  // namespace featherstorm
