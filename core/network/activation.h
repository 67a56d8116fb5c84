// Activation functions of a network, element by element:
//
//   tanh    (e^2x - 1) / (e^2x + 1)      elu    x if x > 0, else e^x - 1
//   relu    max(x, 0)                    silu   x / (1 + e^-x)
//
// The same code serves a plain number and a vector of the compiler (core/scalar/vector_math.h). Largest errors in
// float: tanh 2e-7, elu 2e-7 absolute, silu 5e-7 of |x|; in double: 1e-15. NaN stays NaN, and infinities give the
// limits.
#pragma once
#include "core/scalar/vector_math.h"

namespace featherstorm {

enum class DenseActivation { identity, tanh, elu, relu, silu };

namespace network {

// vector_math::exp does not handle NaN. A NaN is not <= itself.
template <class V>
FEATHERSTORM_INLINE V exp_or_nan(V x) {
  const auto number = x <= x;  // NOLINT(misc-redundant-expression)
  V y = vector_math::exp(vector_math::select(number, x, V{}));
  return vector_math::select(number, y, x);
}

template <class V>
FEATHERSTORM_INLINE V tanh(V x) {
  typedef typename vector_math::Lane<V>::Real Real;
  V twice = x + x;
  return Real(1) - Real(2) / (exp_or_nan(twice) + Real(1));
}
template <class V>
FEATHERSTORM_INLINE V elu(V x) {
  typedef typename vector_math::Lane<V>::Real Real;
  V below = exp_or_nan(x) - Real(1);
  return vector_math::select(x > Real(0), x, below);
}
template <class V>
FEATHERSTORM_INLINE V relu(V x) {
  typedef typename vector_math::Lane<V>::Real Real;
  V zero = V{};
  return vector_math::select(x < Real(0), zero, x);
}
// e^-x saturates at 88 (709), where the quotient is below 1e-36 (1e-305). It is set to zero there, which also avoids a
// NaN for minus infinity.
template <class V>
FEATHERSTORM_INLINE V silu(V x) {
  typedef typename vector_math::Lane<V>::Real Real;
  V minus = -x, zero = V{};
  V y = x / (exp_or_nan(minus) + Real(1));
  return vector_math::select(x < Real(sizeof(Real) == 4 ? -88 : -708), zero, y);
}

}  // namespace network

// Applies the activation to `count` numbers x_k, in place.
template <class V>
FEATHERSTORM_INLINE void activate(DenseActivation activation, V* x, long count) {
  switch (activation) {
    case DenseActivation::identity: break;
    case DenseActivation::tanh:
      for (long k = 0; k < count; k++) x[k] = network::tanh(x[k]);
      break;
    case DenseActivation::elu:
      for (long k = 0; k < count; k++) x[k] = network::elu(x[k]);
      break;
    case DenseActivation::relu:
      for (long k = 0; k < count; k++) x[k] = network::relu(x[k]);
      break;
    case DenseActivation::silu:
      for (long k = 0; k < count; k++) x[k] = network::silu(x[k]);
      break;
  }
}

}  // namespace featherstorm
