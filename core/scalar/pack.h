// W neighbouring instances of a batch as one scalar: a vector of the compiler (GCC, clang) with the functions of scalar.h.
//
// W is 16 floats or 8 doubles on AVX-512, half of that on AVX2, 4 floats or 2 doubles elsewhere.
#pragma once
#include <Eigen/Core>

#include "core/scalar/scalar.h"
#include "core/scalar/vector_math.h"

namespace featherstorm {

// A dependent vector_size is lost by g++ 12 in parameters, so the widths are written out.
template <class Real, int W> struct VectorOf;
template <> struct VectorOf<float, 4> { typedef float Type __attribute__((vector_size(16))); };
template <> struct VectorOf<float, 8> { typedef float Type __attribute__((vector_size(32))); };
template <> struct VectorOf<float, 16> { typedef float Type __attribute__((vector_size(64))); };
template <> struct VectorOf<double, 2> { typedef double Type __attribute__((vector_size(16))); };
template <> struct VectorOf<double, 4> { typedef double Type __attribute__((vector_size(32))); };
template <> struct VectorOf<double, 8> { typedef double Type __attribute__((vector_size(64))); };

template <class Real, int W> struct Pack {
  using Vector = typename VectorOf<Real, W>::Type;
  using Mask = decltype(Vector{} < Vector{});
  Vector v;

  Pack() = default;
  Pack(Real x) : v(x - Vector{}) {}
  Pack(std::conditional_t<std::is_same_v<Real, double>, float, double> x) : Pack(static_cast<Real>(x)) {}
  Pack(int x) : Pack(static_cast<Real>(x)) {}
  static Pack of(Vector x) {
    Pack p;
    p.v = x;
    return p;
  }

  friend Pack operator+(Pack a, Pack b) { return of(a.v + b.v); }
  friend Pack operator-(Pack a, Pack b) { return of(a.v - b.v); }
  friend Pack operator*(Pack a, Pack b) { return of(a.v * b.v); }
  friend Pack operator/(Pack a, Pack b) { return of(a.v / b.v); }
  friend Pack operator-(Pack a) { return of(-a.v); }
  Pack& operator+=(Pack b) { return *this = *this + b; }
  Pack& operator-=(Pack b) { return *this = *this - b; }
  Pack& operator*=(Pack b) { return *this = *this * b; }
  friend Mask operator<(Pack a, Pack b) { return a.v < b.v; }
  friend Mask operator<=(Pack a, Pack b) { return a.v <= b.v; }
  friend Mask operator>(Pack a, Pack b) { return a.v > b.v; }

  friend Pack select(Mask c, Pack a, Pack b) { return of(c ? a.v : b.v); }
  friend Pack rcp(Pack a) { return of(Real(1) / a.v); }
  friend Pack sqrt(Pack a) { return of(vector_math::sqrt(a.v)); }
  friend Pack abs(Pack a) { return of(vector_math::abs(a.v)); }
  friend Pack min(Pack a, Pack b) { return of(a.v < b.v ? a.v : b.v); }
  friend Pack max(Pack a, Pack b) { return of(a.v > b.v ? a.v : b.v); }
  friend Pack exp(Pack a) { return of(vector_math::exp(a.v)); }
  friend Pack log(Pack a) { return of(vector_math::log(a.v)); }
  friend Pack floor(Pack a) { return of(vector_math::floor(a.v)); }
  friend Pack atan2(Pack a, Pack b) { return of(vector_math::atan2(a.v, b.v)); }
  friend Pack asin(Pack x) { return atan2(x, sqrt((Pack(Real(1)) - x) * (Pack(Real(1)) + x))); }
  friend void sincos(Pack x, Pack& s, Pack& c) { vector_math::sincos(x.v, s.v, c.v); }
};

template <class Real, int W> inline constexpr int lanes<Pack<Real, W>> = W;
template <class Real, int W> double lane(const Pack<Real, W>& x, int i) { return x.v[i]; }
template <class Real, int W> void set_lane(Pack<Real, W>& x, int i, double value) { x.v[i] = static_cast<Real>(value); }

}  // namespace featherstorm

namespace Eigen {
template <class Real, int W> struct NumTraits<featherstorm::Pack<Real, W>> : GenericNumTraits<Real> {
  using Real_ = featherstorm::Pack<Real, W>;
  using NonInteger = Real_;
  using Nested = Real_;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 0,
    ReadCost = 1,
    AddCost = 1,
    MulCost = 1
  };
};
}  // namespace Eigen
