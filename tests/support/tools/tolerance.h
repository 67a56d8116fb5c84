// Tolerances of computed quantities relative to their reference, by operation and scalar: for the engine's first
// algorithms and for spatial algebra, which many tests of core share. A bound of a single test is in that test, beside
// its scale. Bounds for the operations of the table, by their conditioning, are in tests/host/table/test_ops.cpp and
// op_tolerance.h.
//
// tolerance<T>(op) = factor * epsilon of T, relative to the natural scale named in the reason. The factors of
// algorithms are about ten times the worst of 400 random robots (double 25 for rnea, 62 for aba, 4 for solve; float 5,
// 2, 2). In double most of the error is the rounding of the model's own frames, which the oracle does not share.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

namespace featherstorm::testing {

struct OpTolerance {
  std::string_view op;
  double factor_double, factor_float;  // times 2.2e-16 and 1.2e-7
  std::string_view reason;
};

inline constexpr OpTolerance tolerances[] = {
    {"spatial", 50, 50, "a few dozen operations on numbers of size 1; scale: the largest entry"},
    {"joint", 100, 100, "products of three rotations and the matrix inverse of the oracle; scale: 1 + largest entry"},
    {"finite_difference", 1e8, 0,
     "central differences with step 1e-5: 1e-10 of truncation, 1e-11 of rounding; scale: 1"},
    {"placement", 2000, 4000, "a dozen chained rotations of up to 8 factors; scale: 1 + largest entry"},
    {"rnea", 250, 60, "sums over a dozen bodies both ways; scale: largest force of the call"},
    {"newton_euler", 250, 60, "as rnea; scale: largest force of the call"},
    {"crba", 300, 60, "sums over a dozen bodies; scale: largest entry of H"},
    {"ltl", 20, 20, "backward stable; the residual L^T L - H; scale: largest entry of H"},
    {"ltdl", 20, 20, "backward stable; the residual L^T D L - H; scale: largest entry of H"},
    {"solve", 50, 30, "backward stable; the error as a force, H dx; scale: largest force of the call"},
    {"solve_x", 50, 0, "the error itself grows with the condition number; scale: condition number times largest x"},
    {"aba", 600, 30, "the error as a force, H dqdd; scale: largest force of the call"},
    {"aba_qdd", 200, 0, "the error itself grows with the condition number; scale: condition number times largest qdd"},
    {"trace", 4500, 0, "sums in another order, 1e-12 in double; scale: largest entry"},
};

template <class T> double tolerance(std::string_view op) {
  for (const OpTolerance& t : tolerances)
    if (t.op == op)
      return (sizeof(T) == sizeof(double) ? t.factor_double : t.factor_float) *
             static_cast<double>(std::numeric_limits<T>::epsilon());
  ADD_FAILURE() << "no tolerance for " << op;
  return 0;
}

// Largest difference of two arrays, relative to `scale`.
template <class A, class B> double relative_error(const A& a, const B& b, double scale) {
  double e = 0;
  for (int i = 0; i < static_cast<int>(b.size()); i++) {
    const double d = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    e = d >= 0 ? std::max(e, d) : std::numeric_limits<double>::infinity();  // NaN
  }
  return e / scale;
}
template <class A> double largest(const A& a) {
  double e = 0;
  for (int i = 0; i < static_cast<int>(a.size()); i++) e = std::max(e, std::abs(static_cast<double>(a[i])));
  return e;
}
template <class A> double scale_of(const A& a) { return std::max(1.0, largest(a)); }

}  // namespace featherstorm::testing
