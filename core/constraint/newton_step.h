// One step of Newton's method towards the acceleration of a robot with constraints, MuJoCo's convex law.
//
//   a* = argmin  1/2 a^T M a - b^T a + sum_i s_i(r_i),   r = J a - aref,   b = M a0
//
//   equality      s = D r^2 / 2
//   unilateral    s = D r^2 / 2 where r < 0, else 0: limits, contacts
//   friction      s = D r^2 / 2 where |r| < loss / D, beyond it straight with slope +-loss
//
//   gradient  g = M a - b - J^T f,   f = -s'(r)          force of each row
//   curvature H = M + J^T diag(s'') J                    factorised with the pattern of an elimination tree
//   a_next = a - alpha H^-1 g,   alpha: the least cost along the step
//
// The cost is piecewise quadratic, so with alpha = 1 in the end the method is exact after finitely many steps. Along the step
// the slope is a piecewise linear, growing function of alpha: `line_steps` steps of Newton's method on it, kept within a
// bracket of its root.
//
// A matrix row is packed: of row i the numbers J[start[i]..start[i + 1] - 1] are those of columns column[...].
#pragma once
#include <vector>

#include "core/constraint/row_kind.h"
#include "core/linear/elimination_tree.h"
#include "core/linear/ltdl.h"

namespace featherstorm {

struct RowPattern {
  std::vector<RowKind> kind;  // (n)
  std::vector<int> start;     // (n + 1)
  std::vector<int> column;
  int rows() const { return static_cast<int>(kind.size()); }
};

// Force and curvature of a row at r.
template <class T> struct RowState { T force, curvature; };
template <class T> FS_HD RowState<T> row_state(RowKind kind, const T& r, const T& D, const T& loss) {
  const T zero(0.0), f = -D * r;
  switch (kind) {
    case RowKind::Equality: return {f, D};
    case RowKind::Unilateral: return {max(f, zero), select(r < zero, D, zero)};
    case RowKind::Cone: break;  // not there yet
    case RowKind::Friction: return {max(min(f, loss), -loss), select(abs(f) < loss, D, zero)};
  }
  return {f, D};
}

// What a problem is made of; tree: of M and the rows.
template <class M, class B, class J, class Row> struct NewtonProblem {
  const EliminationTree& tree;
  const RowPattern& rows;
  M mass;             // (tree.nh)  packed on the tree
  B b;                // (nv)
  J jacobian;         // packed
  Row D, aref, loss;  // (n)
};
template <class M, class B, class J, class Row>
NewtonProblem(const EliminationTree&, const RowPattern&, M, B, J, Row, Row, Row) -> NewtonProblem<M, B, J, Row>;

// y = J x (n), and y (nv) += J^T x
FS_HD void rows_times(const RowPattern& rows, const auto& J, const auto& x, auto y) {
  using T = ScalarOf<decltype(y)>;
  for (int i = 0; i < rows.rows(); i++) {
    T sum(0.0);
    for (int k = rows.start[i]; k < rows.start[i + 1]; k++) sum = sum + J[k] * x[rows.column[k]];
    y[i] = sum;
  }
}
FS_HD void add_rows_transposed(const RowPattern& rows, const auto& J, const auto& x, auto y) {
  for (int i = 0; i < rows.rows(); i++)
    for (int k = rows.start[i]; k < rows.start[i + 1]; k++) y[rows.column[k]] = y[rows.column[k]] + J[k] * x[i];
}

// H = M + J^T diag(c) J, packed on the tree.
FS_HD void curvature(const auto& p, const auto& c, auto H) {
  using T = ScalarOf<decltype(H)>;
  for (int k = 0; k < p.tree.nh; k++) H[k] = p.mass[k];
  for (int i = 0; i < p.rows.rows(); i++)
    for (int k = p.rows.start[i]; k < p.rows.start[i + 1]; k++) {
      const T a = c[i] * p.jacobian[k];
      for (int l = p.rows.start[i]; l < p.rows.start[i + 1]; l++) {
        const int x = p.rows.column[k], y = p.rows.column[l];
        if (y > x) continue;
        T& h = H[p.tree.at(x, y)];
        h = h + a * p.jacobian[l];
      }
    }
}

// in   p       the problem
// in   a (nv)
// out  a_next (nv)
// out  force (n)  of the rows at a
// returns the greatest |g| beside the greatest of M a, b and J^T f: what is left to do at a
template <int line_steps = 4>
FS_HD auto newton_step(const auto& p, const auto& a, auto a_next, auto force) {
  using T = ScalarOf<decltype(a_next)>;
  const int n = p.rows.rows(), nv = p.tree.nv;
  const T zero(0.0), one(1.0);
  auto r = scratch<T>(n);
  auto c = scratch<T>(n);
  auto g = scratch<T>(nv);
  auto step = scratch<T>(nv);
  auto H = scratch<T>(p.tree.nh);
  rows_times(p.rows, p.jacobian, a, r.data());
  for (int i = 0; i < n; i++) {
    r[i] = r[i] - p.aref[i];
    const RowState<T> s = row_state<T>(p.rows.kind[i], r[i], p.D[i], p.loss[i]);
    force[i] = s.force, c[i] = s.curvature;
  }
  // g = M a - b - J^T f
  mul_h(p.tree, p.mass, a, g.data());
  T left(0.0), scale(1e-30);
  for (int k = 0; k < nv; k++) {
    scale = max(scale, max(abs(g[k]), abs(T(p.b[k]))));
    g[k] = g[k] - p.b[k], step[k] = zero;
  }
  add_rows_transposed(p.rows, p.jacobian, force, step.data());
  for (int k = 0; k < nv; k++) {
    scale = max(scale, abs(step[k]));
    g[k] = g[k] - step[k], left = max(left, abs(g[k]));
  }
  // step = -H^-1 g
  curvature(p, c, H.data());
  ltdl(p.tree, H.data());
  for (int k = 0; k < nv; k++) step[k] = -g[k];
  solve<Factor::LTDL>(p.tree, H.data(), step.data());

  // slope(alpha) = step^T (M a - b) + alpha step^T M step - sum f(r + alpha J step) J step
  auto Js = scratch<T>(n);
  auto Ms = scratch<T>(nv);
  rows_times(p.rows, p.jacobian, step, Js.data());
  mul_h(p.tree, p.mass, step, Ms.data());
  T linear(0.0), square(0.0);
  for (int k = 0; k < nv; k++) linear = linear + step[k] * g[k], square = square + step[k] * Ms[k];
  for (int i = 0; i < n; i++) linear = linear + force[i] * Js[i];
  T alpha(1.0), low(0.0), high(1e10);
  for (int l = 0; l < line_steps; l++) {
    T slope = linear + alpha * square, bend = square;
    for (int i = 0; i < n; i++) {
      const RowState<T> s = row_state<T>(p.rows.kind[i], r[i] + alpha * Js[i], p.D[i], p.loss[i]);
      slope = slope - s.force * Js[i], bend = bend + s.curvature * Js[i] * Js[i];
    }
    low = select(slope < zero, alpha, low), high = select(slope < zero, high, alpha);
    const T next = alpha - slope * rcp(max(bend, T(1e-30)));
    alpha = select(low <= next && next <= high, next, select(high < T(1e9), T(0.5) * (low + high), T(2.0) * alpha));
  }
  for (int k = 0; k < nv; k++) a_next[k] = a[k] + select(zero < left, alpha, one) * step[k];
  return left * rcp(scale);
}

}  // namespace featherstorm
