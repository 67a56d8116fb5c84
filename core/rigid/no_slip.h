// Friction forces that prevent creeping contacts: sweeps after a solver with soft rows. MuJoCo's documentation, chapter
// Computation, "Noslip solver".
//
//   min over f  1/2 f^T A f + b^T f,   A = J M^-1 J^T,  b = J a0 - aref      without the softness R
//
//   dry friction  |f| <= loss
//   pyramid       |f_k| <= mu_k g_k,  g_k the sum of the forces of the two edges along tangent k
//   cone          sum_k (f_k / mu_k)^2 <= g^2,  g the normal force
//
// Only friction forces change. Forces of equalities, limits and normals keep the solver's values, and so do the bounds
// g. A sweep improves one block after the other [Gauss and Seidel]. Its result depends on their order, which is
// MuJoCo's.
//
// Functions with local arrays are not inlined: nvcc 13.0 has placed such arrays over others that were still in use.
//
// The functions work on one instance, so T is a plain number and they may branch on it. Their thresholds are MuJoCo's,
// because they affect forces visibly: the search along the edge of a cone ends at 1e-10 of a squared force.
#pragma once
#include "core/constraint/row_pattern.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// Friction rows whose forces share a bound: one row, or the tangents of a cone.
template <class T> struct SlipBlock {
  int first, rows;  // among the friction rows
  int island;       // set of rows that depend on each other
  bool cone;
  T bound;  // loss, mu_k g_k, or g of a cone
};

// n friction rows in the order of the sweeps. Row i of A is Y_i Y^T, Y = J L^-1 D^-1/2 (core/constraint/delassus.h).
template <class Blocks, class Array> struct SlipRows {
  Blocks block;  // (blocks)
  int blocks;
  int columns;  // nv
  Array Y;      // (n nv) row by row
  Array b;      // (n)
  Array mu;     // (n) used by rows of cones
};

// Returns row i of J a - aref, where z = Y^T f is the effect of all forces.
template <class T> FS_HD T slip_residual(const auto& p, int i, const auto& z) {
  T sum = p.b[i];
  for (int k = 0; k < p.columns; k++) sum = sum + p.Y[i * p.columns + k] * z[k];
  return sum;
}
template <class T> FS_HD T slip_inertia(const auto& p, int i, int j) {
  T sum(0.0);
  for (int k = 0; k < p.columns; k++) sum = sum + p.Y[i * p.columns + k] * p.Y[j * p.columns + k];
  return sum;
}

// Computes x = argmin 1/2 x^T A x + g^T x over |x| <= bound, for n <= 5 unknowns. x = -(A + s)^-1 g with the least
// s >= 0 that satisfies the bound, found by Newton's method on s from 0. x = 0 if A is singular.
//
// returns true if x is on the edge
template <class T>
__attribute__((noinline)) FS_HD bool least_in_ball(int n, const T* A, const T* g, const T& bound, T* x) {
  constexpr double smallest = 1e-10;
  T L[25], y[5], s(0.0);
  for (int pass = 0; pass < 20; pass++) {
    // A + s = L D L^T, with 1 / D on the diagonal
    T determinant(1.0), least(1e30);
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) {
        T sum = A[n * i + j] + (i == j ? s : T(0.0));
        for (int k = 0; k < j; k++) sum = sum - L[n * i + k] * L[n * j + k] / L[n * k + k];
        if (i == j) determinant = determinant * sum, least = sum < least ? sum : least;
        // a zero pivot makes both measures zero; the entries computed from it must stay finite
        L[n * i + j] = i != j ? sum * L[n * j + j] : sum == T(0.0) ? T(1.0) : T(1.0) / sum;
      }
    if ((n <= 3 ? determinant : least) < T(smallest)) {
      for (int k = 0; k < n; k++) x[k] = T(0.0);
      return false;
    }
    const auto solve = [&](const T* from, T* to) {
      for (int i = 0; i < n; i++) {
        to[i] = from[i];
        for (int k = 0; k < i; k++) to[i] = to[i] - L[n * i + k] * to[k];
      }
      for (int i = n - 1; i >= 0; i--) {
        to[i] = to[i] * L[n * i + i];
        for (int k = i + 1; k < n; k++) to[i] = to[i] - L[n * k + i] * to[k];
      }
    };
    solve(g, x);
    T over = -(bound * bound), along(0.0);
    for (int k = 0; k < n; k++) x[k] = -x[k], over = over + x[k] * x[k];
    if (over < T(smallest)) break;
    solve(x, y);
    for (int k = 0; k < n; k++) along = along + x[k] * y[k];
    const T more = over / (T(2.0) * along);
    if (more < T(smallest)) break;
    s = s + more;
  }
  return s > T(0.0);
}

// Computes the best forces f of the tangents of a cone, with all other forces held.
//
// in   A (rows rows), residual (rows)  at `before`
template <class T>
FS_HD void best_in_cone(int rows, const auto& mu, const T* A, const T* residual, const T* before, const T& bound,
                        T* f) {
  T S[25], g[5];
  for (int i = 0; i < rows; i++) {
    f[i] = T(0.0);
    g[i] = residual[i];
    for (int j = 0; j < rows; j++)
      g[i] = g[i] - A[rows * i + j] * before[j], S[rows * i + j] = mu[i] * mu[j] * A[rows * i + j];
    g[i] = g[i] * mu[i];
  }
  if (bound < T(1e-15)) return;
  const bool on_edge = least_in_ball(rows, S, g, bound, f);
  T square(0.0);
  for (int k = 0; k < rows; k++) square = square + f[k] * f[k];
  const T scale = on_edge ? bound / sqrt(square < T(1e-15) ? T(1e-15) : square) : T(1.0);
  for (int k = 0; k < rows; k++) f[k] = f[k] * scale * mu[k];
}

// Updates one block with all other forces held. Returns the decrease of the cost.
//
// in-out  z (nv)  Y^T f of all rows
// in-out  f  forces of the friction rows
template <class T>
__attribute__((noinline)) FS_HD T slip_block_step(const auto& p, const SlipBlock<T>& block, auto z, auto f) {
  const int n = block.rows;
  T A[25], residual[5], before[5], found[5], change(0.0);
  for (int i = 0; i < n; i++) {
    residual[i] = slip_residual<T>(p, block.first + i, z), before[i] = f[block.first + i];
    for (int j = 0; j <= i; j++) A[n * i + j] = A[n * j + i] = slip_inertia<T>(p, block.first + i, block.first + j);
    if (block.cone && A[n * i + i] < T(1e-10)) A[n * i + i] = T(1e-10);
  }
  if (block.cone) {
    T mu[5];
    for (int i = 0; i < n; i++) mu[i] = p.mu[block.first + i];
    best_in_cone(n, mu, A, residual, before, block.bound, found);
  } else {
    const T free = A[0] < T(1e-15) ? before[0] : before[0] - residual[0] / A[0];
    found[0] = free < -block.bound ? -block.bound : block.bound < free ? block.bound : free;
  }
  for (int i = 0; i < n; i++) {
    const T step = found[i] - before[i];
    change = change + step * residual[i];
    for (int j = 0; j < n; j++) change = change + T(0.5) * step * A[n * i + j] * (found[j] - before[j]);
  }
  if (T(1e-10) < change) return T(0.0);
  for (int i = 0; i < n; i++) {
    const int row = block.first + i;
    const T step = found[i] - before[i];
    f[row] = found[i];
    for (int k = 0; k < p.columns; k++) z[k] = z[k] + p.Y[row * p.columns + k] * step;
  }
  return -change;
}

// Sweeps over the blocks of one island until a sweep gains less than `least_gain`, at most `sweeps` times.
//
// in      soft  cost of softness, removed by the first sweep: 1/2 sum R f^2 of all rows
// in-out  z, f  as for slip_block_step
template <class T>
FS_HD void no_slip_sweeps(const auto& p, int island, int sweeps, const T& least_gain, const T& soft, auto z, auto f) {
  for (int i = 0; i < sweeps; i++) {
    T gain = i == 0 ? soft : T(0.0);
    for (int k = 0; k < p.blocks; k++)
      if (p.block[k].island == island) gain = gain + slip_block_step<T>(p, p.block[k], z, f);
    if (gain < least_gain) return;
  }
}

}  // namespace featherstorm
