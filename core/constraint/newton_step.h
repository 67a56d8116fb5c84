// One Newton step towards the acceleration of a robot with constraints, for MuJoCo's convex problem.
//
//   a* = argmin  1/2 a^T M a - b^T a + sum_i s_i(r_i),   r = J a - aref,   b = M a0
//
//   s of the rows of a block: core/constraint/row_state.h
//
//   gradient  g = M a - b - J^T f,   f = -s'(r)          forces of the rows
//   curvature H = M + J^T W J,       W = s''             factorised with the pattern of an elimination tree
//   a_next = a - alpha H^-1 g,   alpha: the least cost along the step
//
// If the pieces are quadratic and no block changes to another piece of its cost between a and a + step, a + step is the
// solution. This happens after finitely many steps, unless contacts slide on round cones.
#pragma once
#include "core/constraint/line_search.h"
#include "core/linear/elimination_tree.h"
#include "core/linear/lower_half.h"
#include "core/linear/ltdl.h"

namespace featherstorm {

// Data of a problem. tree: pattern of M and the rows.
template <class Tree, class Rows, class M, class B, class J, class Row> struct NewtonProblem {
  const Tree& tree;
  const Rows& rows;       // a pattern (core/constraint/row_pattern.h)
  M mass;                 // (tree.nh)  packed on the tree
  B b;                    // (nv)
  J jacobian;             // packed
  Row D, aref, friction;  // (n)
};
template <class Tree, class Rows, class M, class B, class J, class Row>
NewtonProblem(const Tree&, const Rows&, M, B, J, Row, Row, Row) -> NewtonProblem<Tree, Rows, M, B, J, Row>;

// y = J x (rows_times) and y += J^T x (add_rows_transposed)
FS_HD void rows_times(const auto& rows, const auto& J, const auto& x, auto y) {
  using T = ScalarOf<decltype(y)>;
  for (const PackedBlock& b : rows.block)
    for (int i = 0; i < b.rows; i++) {
      T sum(0.0);
      for (int k = 0; k < b.columns; k++) sum = sum + J[b.entry + i * b.columns + k] * x[rows.column[b.column + k]];
      y[b.first + i] = sum;
    }
}
FS_HD void add_rows_transposed(const auto& rows, const auto& J, const auto& x, auto y) {
  for (const PackedBlock& b : rows.block)
    for (int k = 0; k < b.columns; k++) {
      auto& sum = y[rows.column[b.column + k]];
      for (int i = 0; i < b.rows; i++) sum = sum + J[b.entry + i * b.columns + k] * x[b.first + i];
    }
}

// H += J^T W J, packed on the tree. The columns of a block ascend.
FS_HD void add_curvature(const auto& p, const auto& W, auto H) {
  using T = ScalarOf<decltype(H)>;
  for (const PackedBlock& b : p.rows.block)
    with_rows(b.rows, [&](auto rows) {
      const int n = b.columns;
      const auto J = slice(p.jacobian, b.entry);
      const auto w = slice(W, b.w);
      for (int k = 0; k < n; k++) {
        T a[rows];  // column k of W J
        for (int i = 0; i < rows; i++) {
          a[i] = w[symmetric(i, 0)] * J[k];
          for (int j = 1; j < rows; j++) a[i] = a[i] + w[symmetric(i, j)] * J[j * n + k];
        }
        const int row = p.tree.row_start[p.rows.column[b.column + k]];
        for (int l = 0; l <= k; l++) {
          T sum = a[0] * J[l];
          for (int i = 1; i < rows; i++) sum = sum + a[i] * J[i * n + l];
          T& h = H[row + p.tree.depth[p.rows.column[b.column + l]]];
          h = h + sum;
        }
      }
    });
}

// H = M + J^T W J
FS_HD void curvature(const auto& p, const auto& W, auto H) {
  for (int k = 0; k < p.tree.nh; k++) H[k] = p.mass[k];
  add_curvature(p, W, H);
}

// Result of a step.
template <class T> struct NewtonOutcome {
  T left;   // greatest |g| at a, relative to the greatest entry of M a, b and J^T f
  T exact;  // 1 where a_next is the solution up to rounding
};

// Continues the line search for `line_steps` steps, in instances where it is open, with
//
//   slope(alpha) = step^T (M a - b) + alpha step^T M step + sum s'(r + alpha J step)
//
// in   r, force (n)  at a;  g, step (nv);  Js (n)  J step
// in-out  s
template <int line_steps = 4, class T>
FS_HD void search_line(const auto& p, const auto& r, const auto& force, const auto& g, const auto& step, const auto& Js,
                       LineSearch<T>& s) {
  const int n = p.rows.rows(), nv = p.tree.nv;
  auto Ms = scratch<T>(nv);
  mul_h(p.tree, p.mass, step, Ms.data());
  SmoothSlope<T> smooth;
  for (int k = 0; k < nv; k++)
    smooth.first = smooth.first + step[k] * g[k], smooth.bend = smooth.bend + step[k] * Ms[k];
  smooth.linear = smooth.first;
  for (int i = 0; i < n; i++) smooth.linear = smooth.linear + force[i] * Js[i];
  search_rows<line_steps>(p, r, Js, smooth, s);
}

// Computes Newton's step from a, and the inputs of a line search along it.
//
// in   p       the problem
// in   a (nv)
// out  step (nv), g (nv)
// out  r (n)   J a - aref;  Js (n)  J step
// out  force (n)  of the rows at a + step where that is the solution, else at a
FS_HD auto newton_direction(const auto& p, const auto& a, auto step, auto g, auto r, auto Js, auto force) {
  using T = ScalarOf<decltype(step)>;
  const int n = p.rows.rows(), nv = p.tree.nv;
  const T zero(0.0), one(1.0);
  auto W = scratch<T>(p.rows.curvatures());
  auto H = scratch<T>(p.tree.nh);
  rows_times(p.rows, p.jacobian, a, r);
  for (int i = 0; i < n; i++) r[i] = r[i] - p.aref[i];
  block_states(p, r, force, W.data());
  // g = M a - b - J^T f
  mul_h(p.tree, p.mass, a, g);
  T left(0.0), scale(1e-30);
  for (int k = 0; k < nv; k++) {
    scale = max(scale, max(abs(g[k]), abs(T(p.b[k]))));
    g[k] = g[k] - p.b[k], step[k] = zero;
  }
  add_rows_transposed(p.rows, p.jacobian, force, step);
  for (int k = 0; k < nv; k++) {
    scale = max(scale, abs(step[k]));
    g[k] = g[k] - step[k], left = max(left, abs(g[k]));
  }
  // step = -H^-1 g
  curvature(p, W.data(), H.data());
  ltdl(p.tree, H.data());
  for (int k = 0; k < nv; k++) step[k] = -g[k];
  solve<Factor::LTDL>(p.tree, H.data(), step);

  // exact if a + step is on the same piece in all blocks
  auto ahead = scratch<T>(n);
  auto force_ahead = scratch<T>(n);
  T changed(0.0);
  rows_times(p.rows, p.jacobian, step, Js);
  for (int i = 0; i < n; i++) ahead[i] = r[i] + Js[i];
  block_states(p, ahead.data(), force_ahead.data(), W.data());
  for (const PackedBlock& b : p.rows.block)
    changed = max(changed, other_piece<T>(b, slice(r, b.first), slice(ahead.data(), b.first), slice(p.D, b.first),
                                          slice(p.friction, b.first)));
  const auto exact = changed <= zero;
  for (int i = 0; i < n; i++) force[i] = select(exact, force_ahead[i], force[i]);
  return NewtonOutcome<T>{left * rcp(scale), select(exact, one, zero)};
}

// Takes one Newton step with its line search.
//
// in   p       the problem
// in   a (nv)
// out  a_next (nv)
// out  force (n)  of the rows at a_next where that is the solution, else at a
FS_HD auto newton_step(const auto& p, const auto& a, auto a_next, auto force) {
  using T = ScalarOf<decltype(a_next)>;
  const int n = p.rows.rows(), nv = p.tree.nv;
  auto step = scratch<T>(nv);
  auto g = scratch<T>(nv);
  auto r = scratch<T>(n);
  auto Js = scratch<T>(n);
  const NewtonOutcome<T> o = newton_direction(p, a, step.data(), g.data(), r.data(), Js.data(), force);
  LineSearch<T> line;
  const auto search = [&] { search_line(p, r.data(), force, g.data(), step.data(), Js.data(), line); };
  if constexpr (!is_traced<T>) {
    for (int i = 0; i < most_searches && some(T(line.open - o.exact)); i++) search();
  } else {
    for (int i = 0; i < 2; i++) search();
  }
  for (int k = 0; k < nv; k++) a_next[k] = a[k] + select(T(0.0) < o.exact, T(1.0), line.alpha) * step[k];
  return o;
}

}  // namespace featherstorm
