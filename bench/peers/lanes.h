// Several numbers side by side in a vector register, as the scalar of Pinocchio's templates.
//
// Comparisons return that of the first lane: Pinocchio's algorithms branch only where all lanes of these benches agree.
#pragma once
#include <Eigen/Core>
#include <cmath>
#include <type_traits>

#include "core/scalar/vector_math.h"

namespace peers {

template <class Real, int W> struct Lanes {
  typedef Real Vector __attribute__((vector_size(W * sizeof(Real))));
  Vector v;

  Lanes() = default;
  template <class X, class = std::enable_if_t<std::is_arithmetic_v<X>>> Lanes(X x)
      : v(static_cast<Real>(x) - Vector{}) {}
  static Lanes of(Vector x) {
    Lanes y;
    y.v = x;
    return y;
  }
  Lanes& operator+=(const Lanes& b) { return v += b.v, *this; }
  Lanes& operator-=(const Lanes& b) { return v -= b.v, *this; }
  Lanes& operator*=(const Lanes& b) { return v *= b.v, *this; }
  Lanes& operator/=(const Lanes& b) { return v /= b.v, *this; }
  Lanes operator-() const { return of(-v); }
  friend Lanes operator+(Lanes a, const Lanes& b) { return a += b; }
  friend Lanes operator-(Lanes a, const Lanes& b) { return a -= b; }
  friend Lanes operator*(Lanes a, const Lanes& b) { return a *= b; }
  friend Lanes operator/(Lanes a, const Lanes& b) { return a /= b; }
  friend bool operator<(const Lanes& a, const Lanes& b) { return a.v[0] < b.v[0]; }
  friend bool operator>(const Lanes& a, const Lanes& b) { return a.v[0] > b.v[0]; }
  friend bool operator<=(const Lanes& a, const Lanes& b) { return a.v[0] <= b.v[0]; }
  friend bool operator>=(const Lanes& a, const Lanes& b) { return a.v[0] >= b.v[0]; }
  friend bool operator==(const Lanes& a, const Lanes& b) { return a.v[0] == b.v[0]; }
  friend bool operator!=(const Lanes& a, const Lanes& b) { return a.v[0] != b.v[0]; }

  friend Lanes sqrt(const Lanes& a) { return of(featherstorm::vector_math::sqrt(a.v)); }
  friend Lanes abs(const Lanes& a) { return of(featherstorm::vector_math::abs(a.v)); }
  friend Lanes fabs(const Lanes& a) { return abs(a); }
  friend bool isfinite(const Lanes& a) { return std::isfinite(a.v[0]); }
  friend Lanes atan2(const Lanes& y, const Lanes& x) { return of(featherstorm::vector_math::atan2(y.v, x.v)); }
  friend void sincos(const Lanes& a, Lanes& s, Lanes& c) { featherstorm::vector_math::sincos(a.v, s.v, c.v); }
  friend Lanes sin(const Lanes& a) {
    Lanes s, c;
    return sincos(a, s, c), s;
  }
  friend Lanes cos(const Lanes& a) {
    Lanes s, c;
    return sincos(a, s, c), c;
  }
};

// Lane k of a number, which has one lane if it is not a vector.
template <class Real> double lane(Real x, long) { return x; }
template <class Real, int W> double lane(const Lanes<Real, W>& x, long k) { return x.v[k]; }
template <class Real> void set_lane(Real& x, long, double value) { x = static_cast<Real>(value); }
template <class Real, int W> void set_lane(Lanes<Real, W>& x, long k, double value) {
  x.v[k] = static_cast<Real>(value);
}
template <class Scalar> inline constexpr long lanes_of = 1;
template <class Real, int W> inline constexpr long lanes_of<Lanes<Real, W>> = W;

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#else
inline constexpr int vector_bytes = 32;
#endif
using FloatLanes = Lanes<float, vector_bytes / 4>;
using DoubleLanes = Lanes<double, vector_bytes / 8>;

}  // namespace peers

namespace Eigen {
template <class Number, int W> struct NumTraits<peers::Lanes<Number, W>> : NumTraits<Number> {
  using Real = peers::Lanes<Number, W>;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = Real;
  enum { RequireInitialization = 0, ReadCost = 1, AddCost = 1, MulCost = 1 };
  static Real epsilon() { return NumTraits<Number>::epsilon(); }
  static Real dummy_precision() { return NumTraits<Number>::dummy_precision(); }
  static Real highest() { return NumTraits<Number>::highest(); }
  static Real lowest() { return NumTraits<Number>::lowest(); }
};
}  // namespace Eigen
