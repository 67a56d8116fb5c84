// Steps of Newton's method towards the acceleration under constraints, from that without them: newton_step.h for a pattern of rows
// that is known only now, and for numbers of few digits.
//
//   r = r0 + J x,   M x = J^T f,   f = -s'(r),   x = a - a0,   r0 = J a0 - aref
//
// With W = s''(r) and c = f + W r (zero but of dry friction that slides) a step leads to
//
//   (M + J^T W J) x_next = J^T (c - W r0),   r_next = r0 + J x_next,   f_next = c - W r_next
//
// Dry friction and limits of a joint are one number on the diagonal of that matrix, whose entries are those of the robot's tree and of
// what couples its branches. It is solved twice, the second time for what the first one left.
//
// A step from a guess of r, which no x may lead to, is taken in full; the next ones are searched along.
#pragma once
#include "core/constraint/newton_step.h"
#include "core/constraint/row_newton.h"

namespace featherstorm {

template <class Own, class Tree, class Rows, class Mass, class Array> struct CoordinateProblem {
  const Own& own;     // the tree of M
  const Tree& tree;   // of M + J^T W J
  const Rows& rows;   // a pattern
  Mass mass;          // (own.nh)  packed on its tree
  Array jacobian;     // packed
  Array r0;           // (n)
  Array D, friction;  // (n)
  FS_HD int columns() const { return own.nv; }
  // y = J x, and y = M x
  FS_HD void times(const auto& x, auto y) const { rows_times(rows, jacobian, x, y); }
  FS_HD void momentum(const auto& x, auto y) const { mul_h(own, mass, x, y); }
};
template <class Own, class Tree, class Rows, class Mass, class Array>
CoordinateProblem(const Own&, const Tree&, const Rows&, Mass, Array, Array, Array, Array)
    -> CoordinateProblem<Own, Tree, Rows, Mass, Array>;

// M + J^T W J, packed on its tree.
FS_HD void curvature_on_tree(const auto& p, const auto& W, auto H) {
  using T = ScalarOf<decltype(H)>;
  for (int k = 0; k < p.tree.nh; k++) H[k] = T(0.0);
  for (int k = 0; k < p.own.nv; k++) {
    const int from = p.own.row_start[k], to = p.tree.row_start[k];
    for (int c = 0; c <= p.own.depth[k]; c++) H[to + p.tree.depth[p.own.column[from + c]]] = p.mass[from + c];
  }
  add_curvature(p, W, H);
}

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

// y = J^T f - M x
FS_HD void unbalanced(const auto& p, const auto& f, const auto& x, auto y) {
  const int nv = p.own.nv;
  mul_h(p.own, p.mass, x, y);
  for (int k = 0; k < nv; k++) y[k] = -y[k];
  add_rows_transposed(p.rows, p.jacobian, f, y);
}

// in      p
// in      guess      whether r is a guess; else r = r0 + J x
// in      tolerance  a step that moves r by less, beside the greatest of r and r0, is the last
// in-out  r (n), x (nv)   x of a guess is not read
// out     f (n)
// returns 1 where r, x and f are the solution: where the step stayed on the same pieces, but for rounding; else 0
FS_HD auto coordinate_newton_step(const auto& p, bool guess, const auto& tolerance, auto r, auto x, auto f) {
  using T = ScalarOf<decltype(r)>;
  const int n = p.rows.rows(), nv = p.own.nv;
  auto W = scratch<T>(p.rows.curvatures()), H = scratch<T>(p.tree.nh);
  auto force = scratch<T>(n), c = scratch<T>(n), r_next = scratch<T>(n);
  auto x_next = scratch<T>(nv), left = scratch<T>(nv);
  block_states(p, r, force.data(), W.data());
  for (const PackedBlock& b : p.rows.block)
    for (int i = b.first; i < b.first + b.rows; i++)
      c[i] = b.kind == RowKind::Friction ? force[i] + W[b.w] * r[i] : T(0.0);
  curvature_on_tree(p, W.data(), H.data());
  ltdl(p.tree, H.data());
  for (int k = 0; k < nv; k++) x_next[k] = T(0.0);
  for (int i = 0; i < n; i++) r_next[i] = p.r0[i];
  for (int again = 0; again < 2; again++) {
    straight_forces(p.rows, W.data(), c.data(), r_next.data(), f);
    if (again > 0) {
      unbalanced(p, f, x_next.data(), left.data());
    } else {
      for (int k = 0; k < nv; k++) left[k] = T(0.0);
      add_rows_transposed(p.rows, p.jacobian, f, left.data());
    }
    solve<Factor::LTDL>(p.tree, H.data(), left.data());
    for (int k = 0; k < nv; k++) x_next[k] = x_next[k] + left[k];
    rows_at(p, x_next.data(), r_next.data());
  }
  straight_forces(p.rows, W.data(), c.data(), r_next.data(), f);
  return take_step(p, guess, tolerance, force.data(), r_next.data(), x_next.data(), r, x);
}

}  // namespace featherstorm
