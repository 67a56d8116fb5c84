// Forces of rows under the rigid law: the laws of Signorini and Coulomb, with a little softness in each row.
//
//   u = A f + r0 + R f,   A = J M^-1 J^T
//
//   equality      u = 0
//   friction      u = 0 if |f| is below its limit, else f = -+ limit with u = +-
//   unilateral    f >= 0, u >= 0, f u = 0
//   contact       normal: unilateral; other rows, x_k = f_k / mu_k with |x| <= f_0: u = 0 inside, mu u opposite to x on
//                 the edge
//
// Normal and friction do not share one cost, so a contact that slides does not lift. The solver has three stages:
//
//   start    a direct solution of the rows that acted at an acceleration known before, all of them held by friction
//   sweeps   each block solved with the others held, first its normal and then its ball (core/rigid/disc_step.h)
//   polish   a direct solution of the rows that act now, forces of slipping rows on their edge; then a sweep; kept if
//            the residual falls
//
// Sweeps alone stall when light bodies carry heavy ones; the direct solution does not. If the same rows act as before,
// the direct solution is final. This is the case for robots that stand.
#pragma once
#include "core/constraint/row_pattern.h"
#include "core/linear/lower_half.h"
#include "core/rigid/disc_step.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// Problem with n rows. block: RowBlocks; Pyramid and Cone are treated alike.
template <class Blocks, class Matrix, class Row> struct RigidProblem {
  const Blocks& block;
  int n;
  Matrix A;       // (n (n + 1) / 2) rows of its lower half
  Row r0, scale;  // (n) J a0 - aref; (A + R) / A, 0 for an absent row, which has no force
  Row friction;   // (n) greatest dry friction; for contacts the coefficients, from the second row on
};
template <class Blocks, class Matrix, class Row>
RigidProblem(const Blocks&, int, Matrix, Row, Row, Row) -> RigidProblem<Blocks, Matrix, Row>;

FS_HD bool is_contact(const RowBlock& b) { return b.kind == RowKind::Pyramid || b.kind == RowKind::Cone; }

// Returns 1 / mu. An absent row has mu = 0.
template <class T> FS_HD T inverse_friction(const auto& p, int i) { return rcp(max(T(p.friction[i]), T(1e-15))); }

// Computes the diagonal A + R. A row without inertia, such as a tangent of a planar robot, gets a small lower bound.
FS_HD void rigid_diagonal(const auto& p, auto diagonal) {
  using T = ScalarOf<decltype(diagonal)>;
  const T zero(0.0), one(1.0);
  const auto part = [&](int first, int last) {
    T most(0.0);
    for (int i = first; i < last; i++) most = max(most, T(p.A[symmetric(i, i)]));
    const T least = select(zero < most, T(1e-5) * most, one);
    for (int i = first; i < last; i++) {
      const T a = p.A[symmetric(i, i)];
      diagonal[i] = max(p.scale[i] * a, least);
    }
  };
  for (const RowBlock& b : p.block) {
    part(b.first, b.first + (b.rows < 3 ? b.rows : 3));
    if (b.rows > 3) part(b.first + 3, b.first + b.rows);
  }
}

// Returns u_i.
template <class T> FS_HD T rigid_violation(const auto& p, const auto& diagonal, const auto& f, int i) {
  const int row = lower_half(i, 0);
  T u = p.r0[i] + (diagonal[i] - p.A[row + i]) * f[i];
  for (int j = 0; j <= i; j++) u = u + p.A[row + j] * f[j];
  for (int j = i + 1, at = row + 2 * i + 1; j < p.n; at += ++j) u = u + p.A[at] * f[j];
  return u;
}

// Computes the forces of a contact's rows other than the normal: the minimum of their quadratic, with the other forces
// held.
//
// in  u (rows)  violations; that of the normal is unused
template <int rows, class T>
FS_HD void friction_step(const auto& p, const auto& diagonal, int first, const T& normal, const T* u, T* f) {
  constexpr int n = rows - 1;
  T S[n * n], g[n], x[n];
  for (int i = 0; i < n; i++) {
    const int a = first + 1 + i;
    const T mu = p.friction[a];
    for (int j = 0; j <= i; j++) {
      const T inertia = i == j ? T(diagonal[a]) : T(p.A[symmetric(a, first + 1 + j)]);
      S[i * n + j] = S[j * n + i] = mu * p.friction[first + 1 + j] * inertia;
    }
    g[i] = mu * u[1 + i];
  }
  // gradient at x = 0
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) g[i] = g[i] - S[i * n + j] * f[1 + j] * inverse_friction<T>(p, first + 1 + j);
  disc_step<n>(S, g, normal, x);
  for (int i = 0; i < n; i++) f[1 + i] = x[i] * p.friction[first + 1 + i];
}

// Computes the forces of a block, with the other forces held.
//
// out  found (rows)
template <class T>
FS_HD void block_step(const auto& p, const auto& diagonal, const RowBlock& b, const auto& f, T* found) {
  const T zero(0.0);
  const int i = b.first;
  const T u = rigid_violation<T>(p, diagonal, f, i);
  const T single = select(zero < p.scale[i], T(f[i] - u * rcp(T(diagonal[i]))), zero);
  switch (b.kind) {
    case RowKind::Equality: found[0] = single; return;
    case RowKind::Friction: found[0] = max(min(single, T(p.friction[i])), -T(p.friction[i])); return;
    case RowKind::Unilateral: found[0] = max(single, zero); return;
    case RowKind::Pyramid:
    case RowKind::Cone: break;
  }
  found[0] = max(single, zero);
  const T change = found[0] - f[i];
  with_rows(b.rows, [&](auto rows) {
    if constexpr (rows > 1) {
      T others[rows];
      for (int k = 1; k < rows; k++) {
        others[k] = rigid_violation<T>(p, diagonal, f, i + k) + p.A[symmetric(i + k, i)] * change;
        found[k] = f[i + k];
      }
      friction_step<rows>(p, diagonal, i, found[0], others, found);
    }
  });
}

// Updates all blocks once, in order.
//
// in-out  f (n)
FS_HD void rigid_sweep(const auto& p, const auto& diagonal, auto f) {
  using T = ScalarOf<decltype(f)>;
  T found[most_rows];
  for (const RowBlock& b : p.block) {
    block_step(p, diagonal, b, f, found);
    for (int k = 0; k < b.rows; k++) f[b.first + k] = found[k];
  }
}

// Returns the error of f: the greatest change of acceleration that a step of a block would make in its own rows. It is
// 0 exactly at solutions.
FS_HD auto rigid_residual(const auto& p, const auto& diagonal, const auto& f) {
  using T = ScalarOf<decltype(f)>;
  T found[most_rows], most(0.0);
  for (const RowBlock& b : p.block) {
    block_step(p, diagonal, b, f, found);
    for (int k = 0; k < b.rows; k++) most = max(most, T(abs(T(found[k] - f[b.first + k])) * diagonal[b.first + k]));
  }
  return most;
}

// Returns |x|^2 of a contact.
template <class T> FS_HD T friction_square(const auto& p, const RowBlock& b, const auto& f) {
  T square(0.0);
  for (int k = b.first + 1; k < b.first + b.rows; k++) {
    const T x = f[k] * inverse_friction<T>(p, k);
    square = square + x * x;
  }
  return square;
}

// Selects the rows of a direct solution: acts is 1 where u = 0, else 0. For a slipping contact, slope is its edge:
// f_k = slope_k f_0.
//
// out  acts, slope (n)
FS_HD void acting_rows(const auto& p, const auto& f, auto acts, auto slope) {
  using T = ScalarOf<decltype(f)>;
  const T zero(0.0), one(1.0), inside(1 - 1e-4), least(1e-30);
  for (const RowBlock& b : p.block) {
    const T force = f[b.first], pulls = select(zero < force, one, zero);
    slope[b.first] = zero;
    if (b.kind == RowKind::Equality) acts[b.first] = select(zero < p.scale[b.first], one, zero);
    else if (b.kind == RowKind::Friction)
      acts[b.first] = select(abs(force) < inside * p.friction[b.first] && zero < p.scale[b.first], one, zero);
    else acts[b.first] = pulls;
    if (!is_contact(b)) continue;
    const T square = friction_square<T>(p, b, f), holds = select(square < inside * force * force, pulls, zero);
    const T scale = (pulls - holds) * rcp(sqrt(max(square, least)));
    for (int k = b.first + 1; k < b.first + b.rows; k++) acts[k] = holds, slope[k] = scale * f[k];
  }
}

// x = K^-1 x by elimination without pivoting. K (n n) is overwritten.
FS_HD void eliminate(int n, auto K, auto x) {
  using T = ScalarOf<decltype(x)>;
  for (int k = 0; k < n; k++) {
    const T inverse = rcp(K[k * n + k]);
    for (int i = k + 1; i < n; i++) {
      const T factor = K[i * n + k] * inverse;
      for (int j = k + 1; j < n; j++) K[i * n + j] = K[i * n + j] - factor * K[k * n + j];
      x[i] = x[i] - factor * x[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    for (int j = k + 1; j < n; j++) x[k] = x[k] - K[k * n + j] * x[j];
    x[k] = x[k] * rcp(K[k * n + k]);
  }
}

// Direct solution: forces with u = 0 in the rows that act, forces on the edge for slipping contacts, unchanged forces
// elsewhere. Finally clamps all forces to their bounds.
//
// in      acts, slope (n)
// in-out  f (n)
FS_HD void direct_forces(const auto& p, const auto& diagonal, const auto& acts, const auto& slope, auto f) {
  using T = ScalarOf<decltype(f)>;
  const T zero(0.0), one(1.0), half(0.5), least(1e-30);
  const int n = p.n;
  auto K = scratch<T>(n * n);
  auto x = scratch<T>(n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) K[i * n + j] = acts[i] * p.A[symmetric(i, j)];
    K[i * n + i] = select(half < acts[i], T(diagonal[i]), one);
    x[i] = select(half < acts[i], -p.r0[i], f[i]);
  }
  for (const RowBlock& b : p.block)
    for (int k = b.first + 1; k < b.first + b.rows; k++) {
      // substitute f_k = slope_k f_0 in all other rows
      for (int i = 0; i < n; i++) {
        if (i == k) continue;
        const T along = K[i * n + k];
        K[i * n + b.first] = K[i * n + b.first] + along * slope[k], K[i * n + k] = along * acts[k];
      }
      x[k] = select(half < acts[k], x[k], zero);
    }
  eliminate(n, K.data(), x.data());
  for (const RowBlock& b : p.block) {
    const int i = b.first;
    if (b.kind == RowKind::Equality) {
      f[i] = x[i];
      continue;
    }
    if (b.kind == RowKind::Friction) {
      f[i] = max(min(x[i], T(p.friction[i])), -T(p.friction[i]));
      continue;
    }
    f[i] = max(x[i], zero);
    if (!is_contact(b)) continue;
    for (int k = 1; k < b.rows; k++) x[i + k] = select(half < acts[i + k], x[i + k], slope[i + k] * f[i]);
    const T square = friction_square<T>(p, b, x), edge = f[i] * f[i];
    const T scale = select(edge < square, f[i] * rcp(sqrt(max(square, least))), one);
    for (int k = 1; k < b.rows; k++) f[i + k] = x[i + k] * scale;
  }
}

// Solves for the forces of all rows.
//
// in   p
// in   r (n)  J a - aref at an acceleration known before
// in   sweeps, polishes  greatest number of each
// in   tolerance  of the residual [m/s^2]; an instance with a smaller residual is done
// out  f (n)
// returns the residual [m/s^2]; multiplied by the step it is the largest error of a velocity
// Cost (sweeps + 1) n^2 + (polishes + 1) n^3 / 3; n^2 + n^3 / 3 if the same rows act as before.
FS_HD auto rigid_solve(const auto& p, const auto& r, int sweeps, int polishes, const auto& tolerance, auto f) {
  using T = ScalarOf<decltype(f)>;
  const T zero(0.0), one(1.0), enough(tolerance);
  const int n = p.n;
  auto diagonal = scratch<T>(n);
  auto acts = scratch<T>(n), slope = scratch<T>(n);
  rigid_diagonal(p, diagonal.data());
  for (const RowBlock& b : p.block)
    for (int k = 0; k < b.rows; k++) {
      const bool one_way = b.kind == RowKind::Unilateral || is_contact(b);
      const T there = select(zero < p.scale[b.first + k], one, zero);
      acts[b.first + k] = one_way ? T(select(r[b.first] < zero, there, zero)) : there;
      f[b.first + k] = slope[b.first + k] = zero;
    }
  direct_forces(p, diagonal, acts, slope, f);
  T residual = rigid_residual(p, diagonal, f);
  if (!some(T(residual - enough))) return residual;

  auto other = scratch<T>(n);
  const auto take = [&](const T& left, const auto& where) {
    for (int i = 0; i < n; i++) f[i] = select(where, other[i], f[i]);
    residual = select(where, left, residual);
  };
  for (int i = 0; i < n; i++) other[i] = f[i];
  for (int k = 0; k < sweeps; k++) rigid_sweep(p, diagonal, other.data());
  take(T(rigid_residual(p, diagonal, other.data())), enough < residual);
  for (int k = 0; k < polishes && some(T(residual - enough)); k++) {
    for (int i = 0; i < n; i++) other[i] = f[i];
    acting_rows(p, f, acts.data(), slope.data());
    direct_forces(p, diagonal, acts, slope, other.data());
    rigid_sweep(p, diagonal, other.data());
    const T left = rigid_residual(p, diagonal, other.data());
    take(left, left < residual && enough < residual);
  }
  return residual;
}

}  // namespace featherstorm
