// Minimum of a quadratic over a ball about the origin:
//
//   x = argmin  1/2 x . S x + g . x,   |x| <= radius
//
// x = -S^-1 g if that lies in the ball. Otherwise x = -(S + s 1)^-1 g with s > 0 such that |x| = radius. s is found by
// Newton's method on 1 / |x| - 1 / radius. This function bends in one direction only, so from below the iteration rises
// to the root without overshooting (Moré and Sorensen 1983). It starts at |g| / radius - g . S g / |g|^2, which is
// below the root: |x|^2 is a mean of the convex function 1 / (d + s)^2 over eigenvalues d of S, whose own mean is
// g . S g / |g|^2. An instance ends when a step has changed s by less than `disc_change` of it, whatever others need.
//
// With x the friction divided by its coefficients, this is Coulomb's law: a force inside the ball holds, a force on its
// edge is opposite to the slip.
#pragma once
#include "core/linear/semidefinite.h"
#include "core/scalar/some.h"

namespace featherstorm {

// Newton iterations, at most, and the change of s after which the next one would be rounding: each doubles the digits.
// The scaling at the end removes the remaining error of |x|.
inline constexpr int disc_iterations = 6;
inline constexpr double disc_change = 1e-6;

template <int n, class T> FS_HD T square_of(const T* x) {
  T sum = x[0] * x[0];
  for (int k = 1; k < n; k++) sum = sum + x[k] * x[k];
  return sum;
}

// x = -(S + s 1)^-1 g, by elimination. Where S + s 1 is singular, x is a solution.
//
// out  L (n n)  the factor
template <int n, class T> FS_HD void shifted_solution(const T* S, const T& s, const T* g, T* L, T* x) {
  for (int k = 0; k < n * n; k++) L[k] = S[k];
  for (int k = 0; k < n; k++) L[k * (n + 1)] = L[k * (n + 1)] + s, x[k] = -g[k];
  factor_semidefinite(n, L, T(0.0));
  solve_semidefinite(n, L, x);
}

// x = -(S + s 1)^-1 g for s > 0. Returns x . (S + s 1)^-1 x, which is -1/2 d|x|^2 / ds.
template <int n, class T> FS_HD T bent_solution(const T* S, const T& s, const T* g, T* x) {
  if constexpr (n == 2) {
    const T a = S[0] + s, b = S[1], c = S[3] + s, inverse = rcp(max(a * c - b * b, T(1e-30)));
    x[0] = (b * g[1] - c * g[0]) * inverse, x[1] = (b * g[0] - a * g[1]) * inverse;
    return (c * x[0] * x[0] - (b + b) * x[0] * x[1] + a * x[1] * x[1]) * inverse;
  } else {
    T L[n * n], y[n];
    shifted_solution<n>(S, s, g, L, x);
    for (int k = 0; k < n; k++) y[k] = x[k];
    solve_semidefinite(n, L, y);
    T bend = x[0] * y[0];
    for (int k = 1; k < n; k++) bend = bend + x[k] * y[k];
    return bend;
  }
}

// in   S (n n);  g (n);  radius, not negative
// out  x (n)
template <int n, class T> FS_HD void disc_step(const T* S, const T* g, const T& radius, T* x) {
  const T zero(0.0), one(1.0), least(1e-30);
  T L[n * n], z[n];
  shifted_solution<n>(S, zero, g, L, x);
  const T inside = square_of<n>(x);
  const auto slips = radius * radius < inside;
  T goes_on = select(slips, one, zero);
  if (!some(goes_on)) return;
  // if the ball is a point, s would be infinite
  const T within = max(radius, T(1e-9) * sqrt(inside));
  T trace(0.0), along(0.0);
  for (int k = 0; k < n; k++) {
    trace = trace + S[k * (n + 1)];
    for (int j = 0; j < n; j++) along = along + g[k] * S[k * n + j] * g[j];
  }
  const T square = max(square_of<n>(g), least), floor = T(1e-7) * trace;
  T s = max(sqrt(square) * rcp(max(within, least)) - along * rcp(square), floor);
  for (int k = 0; k < disc_iterations && some(goes_on); k++) {
    // s += |z|^2 / z . (S + s 1)^-1 z  (|z| - r) / r
    const T bend = bent_solution<n>(S, s, g, z), size = square_of<n>(z);
    const T beyond = (sqrt(size) - within) * size * rcp(max(within * bend, least)), next = max(s + beyond, floor);
    s = select(zero < goes_on, next, s);
    goes_on = select(T(disc_change) * s < abs(beyond), goes_on, zero);
  }
  bent_solution<n>(S, s, g, z);
  const T scale = radius * rcp(sqrt(max(square_of<n>(z), least)));
  for (int k = 0; k < n; k++) x[k] = select(slips, z[k] * scale, x[k]);
}

}  // namespace featherstorm
