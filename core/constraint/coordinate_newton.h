// Steps of Newton's method towards the forces of constraints, in the space of the coordinates of half-solved rows: row_newton.h
// where there are more rows than coordinates.
//
//   r = r0 + Y x,  x = Y^T f,  f = -s'(r),   r0 = J a0 - aref,   M a0 = b,   Y of core/constraint/delassus.h
//
// With W = s''(r) and c = f + W r (zero but of dry friction that slides) a step leads to
//
//   (1 + Y^T W Y) x_next = Y^T (c - W r0),   r_next = r0 + Y x_next,   f_next = c - W r_next
//
// The matrix has no eigenvalue below 1, and entries where M has them, beside those of rows that couple two branches of the tree. A row
// costs about as many multiply-adds as these are, whatever the number of rows. It is solved twice, the second time for what the first
// one left: what no row moves is zero in x = Y^T f, but rounded beside hard rows in the solution.
#pragma once
#include "core/constraint/row_newton.h"
#include "core/linear/ltdl.h"

namespace featherstorm {

// half: Y as RowProblem has it, and add_curvature(tree, W, H): H += Y^T W Y, packed on the tree.
template <class Rows, class Half, class Tree, class Array> struct CoordinateProblem {
  const Rows& rows;   // a pattern without columns
  const Half& half;   // (n columns)
  const Tree& tree;   // of 1 + Y^T W Y
  Array r0;           // (n)
  Array D, friction;  // (n)
};
template <class Rows, class Half, class Tree, class Array>
CoordinateProblem(const Rows&, const Half&, const Tree&, Array, Array, Array)
    -> CoordinateProblem<Rows, Half, Tree, Array>;

// f = c - W r
FS_HD void straight_forces(const auto& rows, const auto& W, const auto& c, const auto& r, auto f) {
  using T = ScalarOf<decltype(f)>;
  for (const PackedBlock& b : rows.block)
    for (int i = 0; i < b.rows; i++) {
      T sum = c[b.first + i];
      for (int j = 0; j < b.rows; j++) sum = sum - W[b.w + symmetric(i, j)] * r[b.first + j];
      f[b.first + i] = sum;
    }
}

// As row_newton_step: the same arguments, the same end.
FS_HD auto coordinate_newton_step(const auto& p, bool guess, const auto& tolerance, auto r, auto x, auto f) {
  using T = ScalarOf<decltype(r)>;
  const int n = p.rows.rows(), nv = p.half.columns;
  auto W = scratch<T>(p.rows.curvatures()), H = scratch<T>(p.tree.nh);
  auto force = scratch<T>(n), c = scratch<T>(n), r_next = scratch<T>(n);
  auto x_next = scratch<T>(nv), left = scratch<T>(nv);
  block_states(p, r, force.data(), W.data());
  for (const PackedBlock& b : p.rows.block)
    for (int i = b.first; i < b.first + b.rows; i++)
      c[i] = b.kind == RowKind::Friction ? force[i] + W[b.w] * r[i] : T(0.0);
  for (int k = 0; k < p.tree.nh; k++) H[k] = T(0.0);
  for (int k = 0; k < nv; k++) H[p.tree.at(k, k)] = T(1.0);
  p.half.add_curvature(p.tree, W.data(), H.data());
  ltdl(p.tree, H.data());
  // f at r = r0 + Y x; x + (1 + Y^T W Y)^-1 (Y^T f - x) from zero, and again
  for (int k = 0; k < nv; k++) x_next[k] = T(0.0);
  for (int i = 0; i < n; i++) r_next[i] = p.r0[i];
  for (int again = 0; again < 2; again++) {
    straight_forces(p.rows, W.data(), c.data(), r_next.data(), f);
    p.half.transposed_times(f, left.data());
    for (int k = 0; k < nv; k++) left[k] = left[k] - x_next[k];
    solve<Factor::LTDL>(p.tree, H.data(), left.data());
    for (int k = 0; k < nv; k++) x_next[k] = x_next[k] + left[k];
    rows_at(p, x_next.data(), r_next.data());
  }
  straight_forces(p.rows, W.data(), c.data(), r_next.data(), f);
  return take_step(p, guess, tolerance, force.data(), r_next.data(), x_next.data(), r, x);
}

}  // namespace featherstorm
