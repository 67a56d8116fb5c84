// Minimum of a quadratic over a ball about the origin:
//
//   x = argmin  1/2 x . S x + g . x,   |x| <= radius
//
// x = -S^-1 g if that lies in the ball. Otherwise x = -(S + s 1)^-1 g with s > 0 such that |x| = radius. s is found by
// Newton's method on 1 / |x| - 1 / radius. This function bends in one direction only, so from below the iteration rises
// to the root without overshooting (Moré and Sorensen 1983). It starts at |g| / radius - trace S, which is below the
// root.
//
// With x the friction divided by its coefficients, this is Coulomb's law: a force inside the ball holds, a force on its
// edge is opposite to the slip.
#pragma once
#include "core/linear/semidefinite.h"
#include "core/scalar/some.h"

namespace featherstorm {

// Newton iterations. The scaling at the end removes the remaining error of |x|.
inline constexpr int disc_iterations = 6;

// x = -(S + s 1)^-1 g
//
// out  L (n n)  the factor
template <int n, class T> FS_HD void shifted_solution(const T* S, const T& s, const T* g, T* L, T* x) {
  for (int k = 0; k < n * n; k++) L[k] = S[k];
  for (int k = 0; k < n; k++) L[k * (n + 1)] = L[k * (n + 1)] + s, x[k] = -g[k];
  factor_semidefinite(n, L, T(0.0));
  solve_semidefinite(n, L, x);
}

template <int n, class T> FS_HD T square_of(const T* x) {
  T sum = x[0] * x[0];
  for (int k = 1; k < n; k++) sum = sum + x[k] * x[k];
  return sum;
}

// in   S (n n);  g (n);  radius, not negative
// out  x (n)
template <int n, class T> FS_HD void disc_step(const T* S, const T* g, const T& radius, T* x) {
  const T zero(0.0), one(1.0), least(1e-30);
  T L[n * n], y[n], z[n];
  shifted_solution<n>(S, zero, g, L, x);
  const T inside = square_of<n>(x);
  const auto slips = radius * radius < inside;
  if (!some(T(select(slips, one, zero)))) return;
  // if the ball is a point, s would be infinite
  const T within = max(radius, T(1e-9) * sqrt(inside));
  T trace(0.0);
  for (int k = 0; k < n; k++) trace = trace + S[k * (n + 1)];
  T s = max(sqrt(square_of<n>(g)) * rcp(max(within, least)) - trace, zero);
  shifted_solution<n>(S, s, g, L, z);
  for (int k = 0; k < disc_iterations; k++) {
    // s += |z|^2 / z . (S + s 1)^-1 z  (|z| - r) / r
    for (int i = 0; i < n; i++) y[i] = z[i];
    solve_semidefinite(n, L, y);
    T bend = z[0] * y[0];
    for (int i = 1; i < n; i++) bend = bend + z[i] * y[i];
    const T square = square_of<n>(z), beyond = (sqrt(square) - within) * square * rcp(max(within * bend, least));
    s = max(s + beyond, zero);
    shifted_solution<n>(S, s, g, L, z);
  }
  const T scale = radius * rcp(sqrt(max(square_of<n>(z), least)));
  for (int k = 0; k < n; k++) x[k] = select(slips, z[k] * scale, x[k]);
}

}  // namespace featherstorm
