// Steps of Newton's method towards the forces of constraints, in the space of their rows: newton_step.h without coordinates.
//
//   r = r0 + Y x,  x = Y^T f,  f = -s'(r),   r0 = J a0 - aref,   M a0 = b,   Y of core/constraint/delassus.h
//
// With A = Y Y^T = J M^-1 J^T, W = s''(r), c = f + W r (zero but of dry friction that slides) and W = G G^T of each block, a step
// of newton_step.h leads to
//
//   r_next = r0 + A (c - W r_next)   that is   (I + G^T A G) z = G^T (r0 + A c),  f_next = c - G z,  x_next = Y^T f_next
//
// whose matrix has no eigenvalue below 1. It costs n^3 / 6 for n rows, whatever the robot. Forces that move nothing, of rows that
// contradict each other, may be very large on the way: x, 1/2 x^T x the cost of motion, does not know them.
//
// A step from a guess of r, which no x may lead to, is taken in full; the next ones are searched along.
#pragma once
#include "core/constraint/line_search.h"
#include "core/linear/lower_half.h"

namespace featherstorm {

// What a problem is made of. half: Y, with times(x, y): y = Y x; transposed_times(f, x): x = Y^T f; and columns.
template <class Rows, class Half, class Array> struct RowProblem {
  const Rows& rows;   // a pattern without columns
  const Half& half;   // (n columns)
  Array A;            // (n (n + 1) / 2)  rows of its lower half
  Array r0;           // (n)
  Array D, friction;  // (n)
  FS_HD int columns() const { return half.columns; }
  FS_HD void times(const auto& x, auto y) const { half.times(x, y); }
  // of x, that Y^T is taken to be of coordinates whose M is 1
  FS_HD void momentum(const auto& x, auto y) const {
    for (int k = 0; k < half.columns; k++) y[k] = x[k];
  }
};
template <class Rows, class Half, class Array>
RowProblem(const Rows&, const Half&, Array, Array, Array, Array) -> RowProblem<Rows, Half, Array>;

// Half the distance between numbers beside 1.
template <class T> inline constexpr double rounding = sizeof(T) / lanes<T> == sizeof(float) ? 6e-8 : 1.1e-16;

// W = G G^T of one block, both the lower half; a column whose pivot is nothing beside its diagonal is zero.
template <class T> FS_HD void half_curvature(int rows, const auto& W, auto G) {
  for (int j = 0; j < rows; j++) {
    T pivot = W[lower_half(j, j)];
    for (int k = 0; k < j; k++) pivot = pivot - G[lower_half(j, k)] * G[lower_half(j, k)];
    const auto there = T(16 * rounding<T>) * W[lower_half(j, j)] < pivot;
    const T root = sqrt(select(there, pivot, T(1.0))), inverse = select(there, rcp(root), T(0.0));
    G[lower_half(j, j)] = select(there, root, T(0.0));
    for (int i = j + 1; i < rows; i++) {
      T sum = W[lower_half(i, j)];
      for (int k = 0; k < j; k++) sum = sum - G[lower_half(i, k)] * G[lower_half(j, k)];
      G[lower_half(i, j)] = sum * inverse;
    }
  }
}

// S = I + G^T A G, the lower half.
FS_HD void scaled_delassus(const auto& p, const auto& G, auto S) {
  using T = ScalarOf<decltype(S)>;
  for (const PackedBlock& b : p.rows.block)
    with_rows(b.rows, [&](auto of_rows) {
      constexpr int rows = of_rows;
      const auto Gb = slice(G, b.w);
      for (const PackedBlock& c : p.rows.block) {
        if (c.first > b.first) break;
        with_rows(c.rows, [&](auto of_columns) {
          constexpr int columns = of_columns;
          const auto Gc = slice(G, c.w);
          T P[rows][columns];  // A G
          for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++) {
              T sum(0.0);
              for (int k = j; k < columns; k++) {
                sum = sum + p.A[symmetric(b.first + i, c.first + k)] * Gc[lower_half(k, j)];
              }
              P[i][j] = sum;
            }
          for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns && c.first + j <= b.first + i; j++) {
              T sum(c.first + j == b.first + i ? 1.0 : 0.0);
              for (int k = i; k < rows; k++) sum = sum + Gb[lower_half(k, i)] * P[k][j];
              S[lower_half(b.first + i, c.first + j)] = sum;
            }
        });
      }
    });
}

// S = L D L^T in place, L below the diagonal and 1 / D on it, block by block: three and three rows share what is loaded.
FS_HD void factor_rows(const auto& p, auto S) {
  using T = ScalarOf<decltype(S)>;
  for (const PackedBlock& b : p.rows.block)
    with_rows(b.rows, [&](auto of_rows) {
      constexpr int rows = of_rows;
      T own[rows * (rows + 1) / 2];  // of S, less L D L^T of the columns before
      for (int i = 0; i < rows; i++)
        for (int j = 0; j <= i; j++) own[lower_half(i, j)] = S[lower_half(b.first + i, b.first + j)];
      for (const PackedBlock& c : p.rows.block) {
        if (c.first >= b.first) break;
        with_rows(c.rows, [&](auto of_columns) {
          constexpr int columns = of_columns;
          T U[rows][columns];  // L D
          for (int i = 0; i < rows; i++)
            for (int j = 0; j < columns; j++) U[i][j] = S[lower_half(b.first + i, c.first + j)];
          for (int k = 0; k < c.first; k++) {
            T l[columns];
            for (int j = 0; j < columns; j++) l[j] = S[lower_half(c.first + j, k)];
            for (int i = 0; i < rows; i++) {
              const T u = S[lower_half(b.first + i, k)];
              for (int j = 0; j < columns; j++) U[i][j] = U[i][j] - u * l[j];
            }
          }
          for (int j = 0; j < columns; j++) {
            for (int k = 0; k < j; k++) {
              const T l = S[lower_half(c.first + j, c.first + k)];
              for (int i = 0; i < rows; i++) U[i][j] = U[i][j] - U[i][k] * l;
            }
            for (int i = 0; i < rows; i++) S[lower_half(b.first + i, c.first + j)] = U[i][j];
          }
        });
      }
      for (int k = 0; k < b.first; k++) {
        const T inverse = S[lower_half(k, k)];
        T l[rows];
        for (int i = 0; i < rows; i++) {
          T& u = S[lower_half(b.first + i, k)];
          l[i] = u * inverse;
          for (int j = 0; j <= i; j++) own[lower_half(i, j)] = own[lower_half(i, j)] - u * l[j];
          u = l[i];
        }
      }
      for (int j = 0; j < rows; j++) {
        const T inverse = rcp(own[lower_half(j, j)]);
        for (int i = j + 1; i < rows; i++) {
          const T l = own[lower_half(i, j)] * inverse;
          for (int k = j + 1; k <= i; k++) own[lower_half(i, k)] = own[lower_half(i, k)] - l * own[lower_half(k, j)];
        }
        for (int i = j + 1; i < rows; i++) S[lower_half(b.first + i, b.first + j)] = own[lower_half(i, j)] * inverse;
        S[lower_half(b.first + j, b.first + j)] = inverse;
      }
    });
}

// x = (L D L^T)^-1 x
FS_HD void solve_factored(int n, const auto& S, auto x) {
  for (int i = 0; i < n; i++) {
    const auto row = slice(S, lower_half(i, 0));
    auto sum = x[i];
    for (int j = 0; j < i; j++) sum = sum - row[j] * x[j];
    x[i] = sum;
  }
  for (int i = 0; i < n; i++) x[i] = x[i] * S[lower_half(i, i)];
  for (int i = n - 1; i > 0; i--) {
    const auto row = slice(S, lower_half(i, 0));
    for (int j = 0; j < i; j++) x[j] = x[j] - row[j] * x[i];
  }
}

// y = r0 + Y x, or J x of core/constraint/coordinate_newton.h
FS_HD void rows_at(const auto& p, const auto& x, auto y) {
  const int n = p.rows.rows();
  p.times(x, y);
  for (int i = 0; i < n; i++) y[i] = p.r0[i] + y[i];
}

// Goes from r to r_next and from x to x_next, in full from a guess and where that is the solution, else to the least cost between.
//
// in      force (n)  at r
// in      r_next (n), x_next  where Newton's method leads
// in-out  r (n), x
// returns as row_newton_step does
FS_HD auto take_step(const auto& p, bool guess, const auto& tolerance, const auto& force, const auto& r_next,
                     const auto& x_next, auto r, auto x) {
  using T = ScalarOf<decltype(r)>;
  const int n = p.rows.rows(), columns = p.columns();
  const T zero(0.0), one(1.0);
  T changed(0.0), moved(0.0), scale(0.0);
  for (const PackedBlock& b : p.rows.block)
    changed = max(changed, other_piece<T>(b, slice(r, b.first), slice(r_next, b.first), slice(p.D, b.first),
                                          slice(p.friction, b.first)));
  for (int i = 0; i < n; i++) {
    scale = max(scale, max(abs(r_next[i]), abs(T(p.r0[i]))));
    moved = max(moved, abs(T(r_next[i] - r[i])));
  }
  const T left = max(T(moved - T(tolerance) * scale), zero);
  const T done = select(min(changed, left) <= zero, one, zero);
  if (guess || !some(T(one - done))) {
    for (int i = 0; i < n; i++) r[i] = r_next[i];
    for (int k = 0; k < columns; k++) x[k] = x_next[k];
    return done;
  }
  // the cost is 1/2 x^T x + sum s(r), or 1/2 x^T M x
  SmoothSlope<T> smooth;
  auto dx = scratch<T>(columns), dr = scratch<T>(n), Mx = scratch<T>(columns), Mdx = scratch<T>(columns);
  for (int k = 0; k < columns; k++) dx[k] = x_next[k] - x[k];
  p.momentum(x, Mx.data()), p.momentum(dx.data(), Mdx.data());
  for (int k = 0; k < columns; k++) {
    smooth.linear = smooth.linear + Mx[k] * dx[k], smooth.bend = smooth.bend + Mdx[k] * dx[k];
    smooth.noise = smooth.noise + abs(T(Mx[k] * dx[k]));
  }
  p.times(dx.data(), dr.data());
  smooth.first = smooth.linear;
  for (int i = 0; i < n; i++) {
    smooth.first = smooth.first - force[i] * dr[i];
    const T hard = select(zero < abs(force[i]), T(abs(force[i]) + p.D[i] * abs(T(p.r0[i]))), zero);
    smooth.noise = smooth.noise + hard * abs(dr[i]);
  }
  smooth.noise = T(8 * rounding<T>) * smooth.noise;
  LineSearch<T> line;
  search_rows<1>(p, r, dr.data(), smooth, line);  // the whole step, mostly
  for (int i = 0; i < most_searches && some(T(line.open - done)); i++) search_rows(p, r, dr.data(), smooth, line);
  // to the bit what it would be beside instances that are done
  const auto ends = zero < done;
  for (int i = 0; i < n; i++) r[i] = select(ends, r_next[i], r[i] + line.alpha * dr[i]);
  for (int k = 0; k < columns; k++) x[k] = select(ends, x_next[k], x[k] + line.alpha * dx[k]);
  return done;
}

// in      p
// in      guess      whether r is a guess; else r = r0 + Y x
// in      tolerance  a step that moves r by less, beside the greatest of r and r0, is the last
// in-out  r (n), x (columns of Y)   x of a guess is not read
// out     f (n)
// returns 1 where r, x and f are the solution: where the step stayed on the same pieces, but for rounding; else 0
FS_HD auto row_newton_step(const auto& p, bool guess, const auto& tolerance, auto r, auto x, auto f) {
  using T = ScalarOf<decltype(r)>;
  const int n = p.rows.rows(), columns = p.half.columns;
  const T zero(0.0), one(1.0);
  auto W = scratch<T>(p.rows.curvatures()), G = scratch<T>(p.rows.curvatures());
  auto S = scratch<T>(lower_half(n, 0));
  auto force = scratch<T>(n), c = scratch<T>(n), start = scratch<T>(n), z = scratch<T>(n), r_next = scratch<T>(n);
  auto x_next = scratch<T>(columns);
  block_states(p, r, force.data(), W.data());
  bool slides = false;
  for (const PackedBlock& b : p.rows.block) {
    half_curvature<T>(b.rows, slice(W.data(), b.w), slice(G.data(), b.w));
    const bool dry = b.kind == RowKind::Friction;
    for (int i = b.first; i < b.first + b.rows; i++) c[i] = dry ? force[i] + W[b.w] * r[i] : zero;
    slides = slides || dry;
  }
  for (int i = 0; i < n; i++) start[i] = p.r0[i];
  if (slides) p.half.transposed_times(c.data(), x_next.data()), rows_at(p, x_next.data(), start.data());
  scaled_delassus(p, G.data(), S.data());
  factor_rows(p, S.data());
  for (const PackedBlock& b : p.rows.block)
    for (int j = 0; j < b.rows; j++) {
      T sum(0.0);
      for (int i = j; i < b.rows; i++) sum = sum + G[b.w + lower_half(i, j)] * start[b.first + i];
      z[b.first + j] = sum;
    }
  solve_factored(n, S.data(), z.data());
  for (const PackedBlock& b : p.rows.block)
    for (int i = 0; i < b.rows; i++) {
      T sum = c[b.first + i];
      for (int j = 0; j <= i; j++) sum = sum - G[b.w + lower_half(i, j)] * z[b.first + j];
      f[b.first + i] = sum;
    }
  p.half.transposed_times(f, x_next.data());
  rows_at(p, x_next.data(), r_next.data());

  return take_step(p, guess, tolerance, force.data(), r_next.data(), x_next.data(), r, x);
}

}  // namespace featherstorm
