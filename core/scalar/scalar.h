// The scalars of an algorithm, and the few functions it may call on them.
//
// A scalar T offers + - * and unary -, and, found by argument-dependent lookup or declared here:
//   sincos(x, s, c)   sine and cosine        rcp(x)            1/x
//   sqrt, exp, log, atan2, asin, min, max, abs
//   x < y, x <= y     a condition (bool for double and float), used only in
//   select(condition, a, b)                  a where the condition holds, else b; both sides are evaluated
// There is no branch on a scalar: all instances of a pack take the same path.
#pragma once
#include <cmath>
#include <type_traits>
#include <utility>

#ifdef __CUDACC__
#define FS_HD __host__ __device__ inline
#else
#define FS_HD inline
#endif

namespace featherstorm {

FS_HD double rcp(double x) { return 1.0 / x; }
FS_HD float rcp(float x) { return 1.0f / x; }
FS_HD double select(bool c, double a, double b) { return c ? a : b; }
FS_HD float select(bool c, float a, float b) { return c ? a : b; }
#ifdef __CUDA_ARCH__
FS_HD void sincos(double x, double& s, double& c) { ::sincos(x, &s, &c); }
FS_HD void sincos(float x, float& s, float& c) { ::sincosf(x, &s, &c); }
FS_HD double min(double a, double b) { return ::fmin(a, b); }
FS_HD float min(float a, float b) { return ::fminf(a, b); }
FS_HD double max(double a, double b) { return ::fmax(a, b); }
FS_HD float max(float a, float b) { return ::fmaxf(a, b); }
FS_HD double abs(double a) { return ::fabs(a); }
FS_HD float abs(float a) { return ::fabsf(a); }
#else
inline void sincos(double x, double& s, double& c) { s = std::sin(x), c = std::cos(x); }
inline void sincos(float x, float& s, float& c) { s = std::sin(x), c = std::cos(x); }
inline double min(double a, double b) { return b < a ? b : a; }
inline float min(float a, float b) { return b < a ? b : a; }
inline double max(double a, double b) { return a < b ? b : a; }
inline float max(float a, float b) { return a < b ? b : a; }
inline double abs(double a) { return std::fabs(a); }
inline float abs(float a) { return std::fabs(a); }
#endif
using std::asin;
using std::atan2;
using std::exp;
using std::log;
using std::sqrt;

// The scalar type of an array of numbers: double for double*, float pack for a view of a batch.
template <class Array> using ScalarOf = std::remove_cv_t<std::remove_reference_t<decltype(std::declval<Array&>()[0])>>;

// Number of instances in a scalar, and access to one of them.
template <class T> inline constexpr int lanes = 1;
template <class T> FS_HD double lane(const T& x, int) { return x; }
template <class T> FS_HD void set_lane(T& x, int, double value) { x = T(value); }

// An absent input: every component is zero, and all operations that depend only on it fold away.
template <class T> struct Zeros {
  FS_HD T operator[](int) const { return T(0.0); }
};
template <class Array> inline constexpr bool is_given = true;
template <class T> inline constexpr bool is_given<Zeros<T>> = false;

// An output that nobody reads.
template <class T> struct Ignored {
  struct Element {
    FS_HD void operator=(const T&) const {}
  };
  FS_HD Element operator[](int) const { return {}; }
};

// Part of an array, from component `first` on.
template <class Array> struct Slice {
  Array array;
  int first;
  FS_HD decltype(auto) operator[](int i) const { return array[first + i]; }
};
template <class Array> FS_HD Slice<Array> slice(const Array& array, int first) { return {array, first}; }

}  // namespace featherstorm
