// Stiffness and damping as polynomials, as in model files: the force is -x p(x).
//
//   spring   p(x) = linear + higher[0] x   + higher[1] x^2
//   damper   p(v) = linear + higher[0] |v| + higher[1] v^2      even, so v p(v) resists motion in both directions
#pragma once
#include "core/scalar/scalar.h"

namespace featherstorm {

template <class P> struct Polynomial { P linear{}, higher[2]{}; };
template <class P, class S> Polynomial<P> cast(const Polynomial<S>& p) {
  return {P(p.linear), {P(p.higher[0]), P(p.higher[1])}};
}

// Returns p(x) of a spring.
template <class P, class T> FS_HD T value_of(const Polynomial<P>& p, const T& x) {
  return p.linear + x * (p.higher[0] + x * p.higher[1]);
}
// Returns d(x p(x))/dx of a spring, or of a damper with x = |v|.
template <class P, class T> FS_HD T slope_of(const Polynomial<P>& p, const T& x) {
  return p.linear + x * (T(2.0) * p.higher[0] + T(3.0) * x * p.higher[1]);
}

// Returns the energy of a spring, int_0^x t p(t) dt.
template <class P, class T> FS_HD T potential_of(const Polynomial<P>& p, const T& x) {
  return x * x * (T(0.5) * p.linear + x * (T(1.0 / 3) * p.higher[0] + T(0.25) * x * p.higher[1]));
}

}  // namespace featherstorm
