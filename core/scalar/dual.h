// A number with its derivative, x + d eps with eps^2 = 0: a scalar that differentiates the algorithms of core/.
//
//   f(x + d eps) = f(x) + f'(x) d eps
//
// Any algorithm called with arrays of Dual<T> returns its values and their exact derivatives along one direction; a
// Dual of a Dual has second derivatives. Kinks (abs, min, max, select) use the derivative of the branch they select.
#pragma once
#include <Eigen/Core>

#include "core/scalar/scalar.h"

namespace featherstorm {

template <class T> struct Dual {
  T x, d;

  Dual() = default;
  FS_HD Dual(const T& x, const T& d) : x(x), d(d) {}
  // a constant; by value, as device code has no address of the host's constants
  template <class S>
    requires std::is_convertible_v<S, T>
  FS_HD Dual(S s) : x(T(s)), d(T(0.0)) {}

  friend FS_HD Dual operator+(const Dual& a, const Dual& b) { return {a.x + b.x, a.d + b.d}; }
  friend FS_HD Dual operator-(const Dual& a, const Dual& b) { return {a.x - b.x, a.d - b.d}; }
  friend FS_HD Dual operator-(const Dual& a) { return {-a.x, -a.d}; }
  friend FS_HD Dual operator*(const Dual& a, const Dual& b) { return {a.x * b.x, a.d * b.x + a.x * b.d}; }
  template <class S>
    requires std::is_convertible_v<S, T>
  friend FS_HD Dual operator*(const Dual& a, S s) {
    return {T(a.x * s), T(a.d * s)};
  }
  template <class S>
    requires std::is_convertible_v<S, T>
  friend FS_HD Dual operator*(S s, const Dual& a) {
    return {T(s * a.x), T(s * a.d)};
  }
  FS_HD Dual& operator+=(const Dual& b) { return *this = *this + b; }
  FS_HD Dual& operator-=(const Dual& b) { return *this = *this - b; }

  friend FS_HD auto operator<(const Dual& a, const Dual& b) { return a.x < b.x; }
  friend FS_HD auto operator<=(const Dual& a, const Dual& b) { return a.x <= b.x; }
  template <class Condition> friend FS_HD Dual select(const Condition& c, const Dual& a, const Dual& b) {
    return {select(c, a.x, b.x), select(c, a.d, b.d)};
  }
  friend FS_HD Dual min(const Dual& a, const Dual& b) { return select(b.x < a.x, b, a); }
  friend FS_HD Dual max(const Dual& a, const Dual& b) { return select(a.x < b.x, b, a); }
  friend FS_HD Dual abs(const Dual& a) { return select(a.x < T(0.0), -a, a); }

  friend FS_HD Dual rcp(const Dual& a) {
    const T y = rcp(a.x);
    return {y, -(a.d * (y * y))};
  }
  friend FS_HD Dual sqrt(const Dual& a) {
    const T y = sqrt(a.x);
    return {y, a.d * (T(0.5) * rcp(y))};
  }
  friend FS_HD Dual exp(const Dual& a) {
    const T y = exp(a.x);
    return {y, a.d * y};
  }
  friend FS_HD Dual log(const Dual& a) { return {log(a.x), a.d * rcp(a.x)}; }
  friend FS_HD Dual asin(const Dual& a) { return {asin(a.x), a.d * rcp(sqrt(T(1.0) - a.x * a.x))}; }
  friend FS_HD Dual atan2(const Dual& y, const Dual& x) {
    return {atan2(y.x, x.x), (y.d * x.x - y.x * x.d) * rcp(x.x * x.x + y.x * y.x)};
  }
  friend FS_HD void sincos(const Dual& a, Dual& s, Dual& c) {
    T sn, cs;
    sincos(a.x, sn, cs);
    s = {sn, a.d * cs}, c = {cs, -(a.d * sn)};
  }
};

template <class T> inline constexpr int lanes<Dual<T>> = lanes<T>;
template <class T> FS_HD auto lane(const Dual<T>& x, int i) {
  return Dual<decltype(lane(x.x, i))>{lane(x.x, i), lane(x.d, i)};
}
template <class T, class Value> FS_HD void set_lane(Dual<T>& x, int i, const Dual<Value>& value) {
  set_lane(x.x, i, value.x), set_lane(x.d, i, value.d);
}

// The numbers x with derivatives d, and the values and derivatives of an array of Dual.
template <class X, class D> struct DualArray {
  X x;
  D d;
  FS_HD auto operator[](int i) const {
    using T = ScalarOf<X>;
    return Dual<T>(T(x[i]), T(d[i]));
  }
};
template <class X, class D> FS_HD DualArray<X, D> dual_array(const X& x, const D& d) { return {x, d}; }

}  // namespace featherstorm

namespace Eigen {
template <class T> struct NumTraits<featherstorm::Dual<T>> : GenericNumTraits<featherstorm::Dual<T>> {
  using Real = featherstorm::Dual<T>;
  using NonInteger = Real;
  using Nested = Real;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 1,
    ReadCost = 2,
    AddCost = 2,
    MulCost = 6
  };
};
}  // namespace Eigen
