// Forces and curvatures of rows that share one cost s(r), r = J a - aref.
//
//   equality      s = D r^2 / 2
//   friction      s = D r^2 / 2 where |r| < f / D, beyond it straight with slope +-f
//   unilateral    s = D r^2 / 2 where r < 0, else 0
//   pyramid       the sum of D e^2 / 2 over its edges e = r_0 +- f_k r_k where e < 0
//   cone          with N = mu r_0, u_k = f_k r_k, T = |u|:
//                 0 where N >= mu T;  sum_k D_k r_k^2 / 2 where mu N + T <= 0;
//                 between them D_0 (N - mu T)^2 / (2 mu^2 (1 + mu^2))
//
// f of a row is the greatest dry friction, or the friction coefficient of a direction of a contact. mu is the
// coefficient of the regularised cone; it is stored as f of the first row. MuJoCo's documentation, chapter Computation,
// "Friction cones".
#pragma once
#include "core/constraint/row_pattern.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// Quantities of a cone that depend on r. u_k is recomputed when needed, because an array with one entry a row would go
// to memory.
template <class T> struct ConeState {
  T N, T_, inverse_T;
  T stiffness;  // D_0 / (mu^2 (1 + mu^2))
};
template <class T> FS_HD ConeState<T> cone_state(int rows, const auto& r, const auto& D, const auto& f) {
  ConeState<T> c;
  const T mu = f[0], square = mu * mu;
  T sum(0.0);
  for (int k = 1; k < rows; k++) {
    const T u = f[k] * r[k];
    sum = sum + u * u;
  }
  c.N = mu * r[0];
  c.T_ = sqrt(sum), c.inverse_T = rcp(max(c.T_, T(1e-30)));
  c.stiffness = D[0] * rcp(square * (T(1.0) + square));
  return c;
}

// Computes the forces and curvatures of one block.
//
// in   r, D, f (rows)  of the block
// out  force (rows)  -s'
// out  W (rows (rows + 1) / 2)  s'', lower half row by row
template <class T>
FS_HD void block_state(const RowBlock& b, const auto& r, const auto& D, const auto& f, auto force, auto W) {
  const T zero(0.0);
  switch (b.kind) {
    case RowKind::Equality: force[0] = -D[0] * r[0], W[0] = D[0]; return;
    case RowKind::Unilateral: {
      const auto active = r[0] < zero;
      force[0] = select(active, -D[0] * r[0], zero), W[0] = select(active, T(D[0]), zero);
      return;
    }
    case RowKind::Friction: {
      const T free = -D[0] * r[0], most = f[0];
      force[0] = max(min(free, most), -most), W[0] = select(abs(free) < most, T(D[0]), zero);
      return;
    }
    case RowKind::Pyramid: {
      force[0] = zero, W[0] = zero;
      for (int k = 1, row = 1; k < b.rows; row += ++k) {
        const T along = f[k] * r[k], up = r[0] + along, down = r[0] - along;
        const T a = select(up < zero, T(D[0]), zero), c = select(down < zero, T(D[0]), zero);
        const T force_up = -(a * up), force_down = -(c * down), sum = a + c;
        force[0] = force[0] + (force_up + force_down), force[k] = f[k] * (force_up - force_down);
        W[0] = W[0] + sum, W[row] = f[k] * (a - c);
        for (int j = 1; j < k; j++) W[row + j] = zero;
        W[row + k] = f[k] * f[k] * sum;
      }
      return;
    }
    case RowKind::Cone: {
      const ConeState<T> c = cone_state<T>(b.rows, r, D, f);
      const T mu = f[0], slip = c.N - mu * c.T_;
      const auto open = zero <= slip, stuck = mu * c.N + c.T_ <= zero;
      const auto pick = [&](const T& sticking, const T& sliding) {
        return select(open, zero, select(stuck, sticking, sliding));
      };
      const T normal = -(c.stiffness * slip * mu), ratio = mu * c.N * c.inverse_T, round = mu * mu - ratio;
      const T bent = ratio * c.inverse_T * c.inverse_T;
      force[0] = pick(-D[0] * r[0], normal), W[0] = pick(D[0], c.stiffness * mu * mu);
      for (int k = 1, row = 1; k < b.rows; row += ++k) {
        const T u = f[k] * r[k], e = u * c.inverse_T, stiff = c.stiffness * f[k];
        force[k] = pick(-D[k] * r[k], -(normal * e * f[k]));
        W[row] = pick(zero, -(stiff * mu * mu * e));
        for (int j = 1; j < k; j++) W[row + j] = pick(zero, stiff * f[j] * bent * (f[j] * r[j]) * u);
        W[row + k] = pick(D[k], stiff * f[k] * (bent * u * u + round));
      }
      return;
    }
  }
}

// Computes the forces and curvatures of all blocks of a problem that has rows, D and friction.
//
// in   r (n)  J a - aref
// out  force (n), W (rows.curvatures())
FS_HD void block_states(const auto& p, const auto& r, auto force, auto W) {
  using T = ScalarOf<decltype(W)>;
  for (const auto& b : p.rows.block)
    block_state<T>(b, slice(r, b.first), slice(p.D, b.first), slice(p.friction, b.first), slice(force, b.first),
                   slice(W, b.w));
}

// Returns 1 if r and q are on different pieces of s, or on a piece that is not quadratic, else 0.
//
// in   r, q, D, f (rows)
template <class T> FS_HD T other_piece(const RowBlock& b, const auto& r, const auto& q, const auto& D, const auto& f) {
  const T zero(0.0), one(1.0);
  const auto differ = [&](const T& x, const T& y) {
    return T(abs(T(select(x < zero, one, zero) - select(y < zero, one, zero))));
  };
  switch (b.kind) {
    case RowKind::Equality: return zero;
    case RowKind::Unilateral: return select(zero < D[0], differ(r[0], q[0]), zero);
    case RowKind::Friction: {
      const T most = f[0], x = D[0] * r[0], y = D[0] * q[0];
      return max(differ(T(most - x), T(most - y)), differ(T(most + x), T(most + y)));
    }
    case RowKind::Pyramid: {
      T other(0.0);
      for (int k = 1; k < b.rows; k++) {
        const T x = f[k] * r[k], y = f[k] * q[k];
        other = max(other, max(differ(T(r[0] + x), T(q[0] + y)), differ(T(r[0] - x), T(q[0] - y))));
      }
      return select(zero < D[0], other, zero);
    }
    case RowKind::Cone: {
      const ConeState<T> x = cone_state<T>(b.rows, r, D, f), y = cone_state<T>(b.rows, q, D, f);
      const T mu = f[0];
      const auto open = [&](const ConeState<T>& c) { return T(mu * c.T_ - c.N); };
      const auto stuck = [&](const ConeState<T>& c) { return T(mu * c.N + c.T_); };
      const T slides = select(zero < stuck(y), select(zero < open(y), one, zero), zero);
      const T other = max(slides, max(differ(open(x), open(y)), differ(stuck(x), stuck(y))));
      return select(zero < D[0], other, zero);
    }
  }
  return zero;
}

// First and second derivatives of s along r + alpha p.
template <class T> struct Slope { T first, second; };

// in   r, p, D, f (rows)  of the block, at alpha = 0
template <class T>
FS_HD Slope<T> slope_along(const RowBlock& b, const auto& r, const auto& p, const auto& D, const auto& f) {
  const T zero(0.0);
  switch (b.kind) {
    case RowKind::Equality:
    case RowKind::Unilateral:
    case RowKind::Friction: {
      T force[1], W[1];
      block_state<T>(b, r, D, f, force, W);
      return {-(force[0] * p[0]), W[0] * p[0] * p[0]};
    }
    case RowKind::Pyramid: {
      Slope<T> s{zero, zero};
      for (int k = 1; k < b.rows; k++)
        for (const double side : {1.0, -1.0}) {
          const T factor = T(side) * f[k], e = r[0] + factor * r[k], rate = p[0] + factor * p[k];
          const T weight = select(e < zero, rate, zero);
          s.first = s.first + weight * e, s.second = s.second + weight * rate;
        }
      return {D[0] * s.first, D[0] * s.second};
    }
    case RowKind::Cone: {
      const ConeState<T> c = cone_state<T>(b.rows, r, D, f);
      const T mu = f[0], slip = c.N - mu * c.T_;
      T across(0.0), square(0.0), first = D[0] * r[0] * p[0], second = D[0] * p[0] * p[0];
      for (int k = 1; k < b.rows; k++) {
        const T rate = f[k] * p[k];
        across = across + f[k] * r[k] * rate, square = square + rate * rate;
        first = first + D[k] * r[k] * p[k], second = second + D[k] * p[k] * p[k];
      }
      // T' = u . u' / T,  T'' = (|u'|^2 - T'^2) / T
      const T T_rate = across * c.inverse_T, T_bend = (square - T_rate * T_rate) * c.inverse_T;
      const T rate = mu * p[0] - mu * T_rate;
      const auto open = zero <= slip, stuck = mu * c.N + c.T_ <= zero;
      const auto pick = [&](const T& sticking, const T& sliding) {
        return select(open, zero, select(stuck, sticking, sliding));
      };
      return {pick(first, c.stiffness * slip * rate), pick(second, c.stiffness * (rate * rate - slip * mu * T_bend))};
    }
  }
  return {zero, zero};
}

}  // namespace featherstorm
