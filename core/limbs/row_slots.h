// Constraint rows during the Newton iterations (limb_newton.h). A slot holds the rows of one contact, or one row of
// another constraint, for the instances of a pack. Each instance may have a different contact in it.
//
// A slot keeps the values r = J a - aref of its rows, or the edges e = r_0 +- f_k r_k of a pyramid, their rates p along
// the step, and the piece of the cost (row_state.h) of each. When a becomes a + alpha step, r becomes r + alpha p.
// Forces and curvatures change only if a row changes its piece:
//
//   force of a piece   f = c - W r
//   added to H         J^T (W' - W) J
//   added to -g        J^T (f'(r) - f(r))          old and new piece, both at the new r
//
// A sliding cone has no pieces and changes in every iteration: W is that of the last iteration, and
// f = f_last - alpha W p.
//
// Rows of a contact between a body and the world follow from the spatial acceleration A = (w, v) of the body about a
// reference point. Let c be the contact point relative to the reference point and e_k the axes of the contact. Row k is
// e_k . (v + w x c), or e_k . w for torsion and rolling. The contact adds N W N^T to H, a 6 x 6 matrix of the body.
// Other rows have a Jacobian J for the coordinates of some limbs.
#pragma once
#include "core/constraint/row_state.h"
#include "core/linear/lower_half.h"
#include "core/scalar/instances.h"
#include "core/scalar/some.h"
#include "core/scalar/unroll.h"

namespace featherstorm {

// Coordinates of a limb that have columns in J.
struct RowSegment { int limb, first, count; };  // first: within the limb

// Rows with the same columns and the same kind of cost.
struct RowType {
  RowKind kind = RowKind::Equality;
  int rows = 1;
  int segment = 0, segments = 0;  // ascending limbs
  int columns = 0;
  bool of_contacts = false;
};

inline constexpr int most_edges = 10;  // of a pyramid
struct RowSlot {
  RowKind kind;
  int rows;
  int body;     // body that touches the world, 0 for other rows
  int type;     // type of rows with a Jacobian
  int numbers;  // offset of its numbers
  int next;     // next slot of the body or of the type, or -1
  unsigned there;
  unsigned moved = 0;                  // instances in which a row may be on another piece within the step
  unsigned short on[most_edges] = {};  // instances in which the row, or an edge of the pyramid, has a curvature
};

// Layout of the numbers of a slot: aref, D and the coefficient of row_state.h, each for all rows; values and their
// rates; then the piece; then the point and axes of a contact with the world, or J row by row. Values are r of the rows,
// or e of the edges of a pyramid.
FS_HD constexpr int slot_values(RowKind kind, int rows) { return kind == RowKind::Pyramid ? 2 * (rows - 1) : rows; }
// c of dry friction; f and W of a cone
FS_HD constexpr int slot_piece_numbers(RowKind kind, int rows) {
  return kind == RowKind::Friction ? 1 : kind == RowKind::Cone ? rows + lower_half(rows, 0) : 0;
}
template <RowKind kind, int d> struct SlotLayout {
  static constexpr int aref = 0, D = d, friction = 2 * d, value = 3 * d, values = slot_values(kind, d);
  static constexpr int rate = value + values, piece = rate + values, geometry = piece + slot_piece_numbers(kind, d);
  static constexpr int curvature = piece + d;  // offset of W, for a cone
};
FS_HD int slot_geometry(RowKind kind, int rows) {
  return 3 * rows + 2 * slot_values(kind, rows) + slot_piece_numbers(kind, rows);
}
// The first number of a slot that is read before it is written: the rates of a cone, else the piece.
FS_HD int slot_zeros(RowKind kind, int rows) {
  return slot_geometry(kind, rows) - slot_piece_numbers(kind, rows) - (kind == RowKind::Cone ? rows : 0);
}
inline constexpr int point_and_axes = 12;

template <RowKind kind> using RowKindConstant = std::integral_constant<RowKind, kind>;

// Calls f(kind, rows) with both as constants.
FS_HD void with_rows_of(RowKind kind, int rows, auto&& f) {
  constexpr std::integral_constant<int, 1> one{};
  switch (kind) {
    case RowKind::Equality: return f(RowKindConstant<RowKind::Equality>{}, one);
    case RowKind::Friction: return f(RowKindConstant<RowKind::Friction>{}, one);
    case RowKind::Unilateral: return f(RowKindConstant<RowKind::Unilateral>{}, one);
    case RowKind::Pyramid:
    case RowKind::Cone: break;
  }
  const auto contact = [&](auto of_kind) {
    switch (rows) {
      case 3: return f(of_kind, std::integral_constant<int, 3>{});
      case 4: return f(of_kind, std::integral_constant<int, 4>{});
      default: break;
    }
    assert(rows == 6);
    f(of_kind, std::integral_constant<int, 6>{});
  };
  if (kind == RowKind::Pyramid) contact(RowKindConstant<RowKind::Pyramid>{});
  else contact(RowKindConstant<RowKind::Cone>{});
}
// Change of forces and curvatures of the rows of a slot.
template <int d, class T> struct RowChange { T f[d], W[d * (d + 1) / 2]; };

// Returns true if W of a kind has an entry (k, j).
template <RowKind kind> FS_HD constexpr bool bend_together(int k, int j) {
  return kind == RowKind::Cone || k == j || k == 0 || j == 0;
}

// Sets the values of a slot from its rows: the rows themselves, or the edges of a pyramid.
template <RowKind kind, int d, class T> FS_HD void values_of_rows(const T* row, const auto& friction, auto value) {
  if constexpr (kind == RowKind::Pyramid) {
    FS_UNROLL for (int k = 1; k < d; k++) {
      const T along = friction[k] * row[k];
      value[2 * k - 2] = row[0] + along, value[2 * k - 1] = row[0] - along;
    }
  } else {
    FS_UNROLL for (int k = 0; k < d; k++) value[k] = row[k];
  }
}

// The force c of dry friction on a straight piece, and where the row is on the curved one.
template <class T> struct FrictionPiece { T slid, on; };
template <class T> FS_HD FrictionPiece<T> friction_piece(const T& force, const T& most) {
  const T zero(0.0), one(1.0);
  const auto above = most < force, below = force < -most;
  return {select(above, -most, select(below, most, zero)), select(above, zero, select(below, zero, one))};
}

// D in instances that a piece has entered, -D in those that it has left.
template <class T> FS_HD T entered(unsigned now, unsigned before, const T& D) {
  return keep(now & ~before, D) - keep(before & ~now, D);
}

// Updates the pieces of the rows. Returns true if a piece has changed in some instance.
//
// in      alpha  size of the last step;  open  instances that are not done
// in-out  s, x   the slot and its numbers, values up to date
// out     c
template <RowKind kind, int d, class T>
FS_CALLED FS_HD bool change_pieces(RowSlot& s, auto x, const T& alpha, unsigned open, RowChange<d, T>& c) {
  using At = SlotLayout<kind, d>;
  static_assert(lanes<T> <= 16);  // bits of RowSlot::on
  const auto value = x + At::value;
  const T zero(0.0), D = x[At::D];
  open &= s.there;
  if constexpr (kind == RowKind::Equality || kind == RowKind::Unilateral) {
    const unsigned was = s.on[0] & open;
    const unsigned now = kind == RowKind::Equality ? open : instances_below_zero(T(value[0])) & open;
    s.on[0] = static_cast<unsigned short>((s.on[0] & ~open) | now);
    if (now == was) return false;
    const T w = entered(now, was, D);
    c.W[0] = w, c.f[0] = -(w * value[0]);
    return true;
  } else if constexpr (kind == RowKind::Friction) {
    const FrictionPiece<T> piece = friction_piece<T>(D * value[0], x[At::friction]);
    const unsigned was = s.on[0] & open, now = instances_above_zero(piece.on) & open;
    const T moved = keep(open, T(piece.slid - x[At::piece]));
    s.on[0] = static_cast<unsigned short>((s.on[0] & ~open) | now), x[At::piece] = x[At::piece] + moved;
    if (now == was && !some(T(abs(moved)))) return false;
    const T w = entered(now, was, D);
    c.W[0] = w, c.f[0] = moved - w * value[0];
    return true;
  } else if constexpr (kind == RowKind::Pyramid) {
    unsigned now[At::values], was[At::values], changed = 0;
    FS_UNROLL for (int k = 0; k < At::values; k++) {
      was[k] = s.on[k] & open, now[k] = instances_below_zero(T(value[k])) & open;
      changed |= was[k] ^ now[k];
    }
    if (changed == 0) return false;
    T w[At::values];
    const auto e = value;
    FS_UNROLL for (int k = 0; k < At::values; k++) {
      w[k] = entered(now[k], was[k], D);
      s.on[k] = static_cast<unsigned short>((s.on[k] & ~open) | now[k]);
    }
    c.f[0] = c.W[0] = zero;
    FS_UNROLL for (int k = 1; k < d; k++) {
      const T f = x[At::friction + k], up = w[2 * k - 2], down = w[2 * k - 1], sum = up + down;
      const T force_up = up * e[2 * k - 2], force_down = down * e[2 * k - 1];
      c.f[0] = c.f[0] - (force_up + force_down), c.f[k] = f * (force_down - force_up);
      c.W[0] = c.W[0] + sum, c.W[lower_half(k, 0)] = f * (up - down), c.W[lower_half(k, k)] = f * f * sum;
    }
    return true;
  } else {
    T f[d], W[d * (d + 1) / 2], any(0.0);
    block_state<T>(RowBlock{kind, 0, d}, value, x + At::D, x + At::friction, f, W);
    FS_UNROLL for (int k = 0; k < d * (d + 1) / 2; k++) {
      c.W[k] = keep(open, T(W[k] - x[At::curvature + k]));
      any = any + abs(c.W[k]);
    }
    const auto changes = zero < any;
    FS_UNROLL for (int k = 0; k < d; k++) {
      T was = x[At::piece + k];
      FS_UNROLL for (int j = 0; j < d; j++) was = was - alpha * x[At::curvature + symmetric(k, j)] * x[At::rate + j];
      c.f[k] = keep(open, T(select(changes, T(f[k] - was), zero)));
    }
    FS_UNROLL for (int k = 0; k < d; k++) x[At::piece + k] = f[k];
    FS_UNROLL for (int k = 0; k < d * (d + 1) / 2; k++) x[At::curvature + k] = W[k];
    return some(any);
  }
}

// Change of the cost along a step due to rows that are on another piece at alpha: first and second derivative, and
// twice the cost. changed: the instances that have such rows.
template <class T> struct LineChange {
  T slope{0.0}, bend{0.0}, cost{0.0};
  unsigned changed = 0;
};

// Adds rows, or edges of a pyramid, whose curvature is D on one of their two pieces and 0 on the other.
//
// in  on    instances in which the curvature was D before
// in  open  instances of interest
template <int count, class T>
FS_HD void add_edges(const auto& value, const auto& rate, const T& alpha, const T& D, const unsigned short* on,
                     unsigned open, LineChange<T>& to) {
  T e[count];
  unsigned now[count], was[count], changed = 0;
  FS_UNROLL for (int k = 0; k < count; k++) {
    e[k] = value[k] + alpha * rate[k];
    was[k] = on[k] & open, now[k] = instances_below_zero(e[k]) & open, changed |= was[k] ^ now[k];
  }
  if (changed == 0) return;
  T slope = to.slope, bend = to.bend, cost = to.cost;
  FS_UNROLL for (int k = 0; k < count; k++) {
    const T w = entered(now[k], was[k], D), we = w * e[k], wp = w * rate[k];
    slope = slope + we * rate[k], bend = bend + wp * rate[k], cost = cost + we * e[k];
  }
  to.slope = slope, to.bend = bend, to.cost = cost, to.changed |= changed;
}

// Returns twice the cost s of a cone.
template <int d, class T> FS_HD T twice_cone_cost(const auto& r, const auto& D, const auto& f) {
  const ConeState<T> c = cone_state<T>(d, r, D, f);
  const T zero(0.0), slip = c.N - f[0] * c.T_;
  T stuck(0.0);
  for (int k = 0; k < d; k++) stuck = stuck + D[k] * r[k] * r[k];
  return select(zero <= slip, zero, select(f[0] * c.N + c.T_ <= zero, stuck, T(c.stiffness * slip * slip)));
}

// Adds the change of the cost of one slot between alpha = 0 and the given alpha.
//
// in      s, x  the slot and its numbers;  open  instances of interest
// in-out  to
template <RowKind kind, int d, class T>
FS_CALLED FS_HD void add_line_change(const RowSlot& s, const auto& x, const T& alpha, unsigned open,
                                     LineChange<T>& to) {
  using At = SlotLayout<kind, d>;
  const auto value = x + At::value, rate = x + At::rate;
  const T zero(0.0), D = x[At::D];
  open &= s.there;
  if constexpr (kind == RowKind::Equality) {
  } else if constexpr (kind == RowKind::Unilateral || kind == RowKind::Pyramid) {
    add_edges<At::values>(value, rate, alpha, D, s.on, open, to);
  } else if constexpr (kind == RowKind::Friction) {
    const T p = rate[0], r = value[0] + alpha * p;
    const FrictionPiece<T> piece = friction_piece<T>(D * r, x[At::friction]);
    const unsigned was = s.on[0] & open, now = instances_above_zero(piece.on) & open;
    const T w = entered(now, was, D), moved = keep(open, T(piece.slid - x[At::piece]));
    const unsigned changed = (now ^ was) | instances_above_zero(T(abs(moved)));
    // s = W r^2 / 2 - c r - c^2 / (2 D)
    const T half = w * r * r - T(2.0) * moved * r;
    const T level = (piece.slid * piece.slid - x[At::piece] * x[At::piece]) * rcp(max(D, T(1e-30)));
    to.slope = to.slope + (w * r - moved) * p, to.bend = to.bend + w * p * p;
    to.cost = to.cost + keep(changed, T(half - level)), to.changed |= changed;
  } else {
    const RowBlock b{kind, 0, d};
    T ahead[d], f[d], W[d * (d + 1) / 2];
    FS_UNROLL for (int k = 0; k < d; k++) ahead[k] = value[k] + alpha * rate[k];
    const T other = keep(open, other_piece<T>(b, value, ahead, x + At::D, x + At::friction));
    if (!some(other)) return;
    block_state<T>(b, ahead, x + At::D, x + At::friction, f, W);
    T slope(0.0), bend(0.0), old_bend(0.0);
    FS_UNROLL for (int k = 0; k < d; k++) {
      const T p = rate[k];
      slope = slope + (x[At::piece + k] - f[k]) * p;
      FS_UNROLL for (int j = 0; j < d; j++) {
        bend = bend + p * W[symmetric(k, j)] * rate[j];
        old_bend = old_bend + p * x[At::curvature + symmetric(k, j)] * rate[j];
      }
    }
    slope = slope - alpha * old_bend;
    T cost = twice_cone_cost<d, T>(ahead, x + At::D, x + At::friction) -
             twice_cone_cost<d, T>(value, x + At::D, x + At::friction) - alpha * alpha * old_bend;
    FS_UNROLL for (int k = 0; k < d; k++) cost = cost + T(2.0) * alpha * x[At::piece + k] * rate[k];
    const auto changes = zero < other;
    to.slope = to.slope + select(changes, slope, zero), to.bend = to.bend + select(changes, T(bend - old_bend), zero);
    to.cost = to.cost + select(changes, cost, zero);
    to.changed |= instances_above_zero(other);
  }
}

// Computes the rows of a contact with the world from the acceleration A of its body.
//
// in   x (point_and_axes)  c, e_0, e_1, e_2
template <int d, class T> FS_HD void contact_rows_at(const auto& x, const auto& A, T* v) {
  const T u[3] = {A[3] + (A[1] * x[2] - A[2] * x[1]), A[4] + (A[2] * x[0] - A[0] * x[2]),
                  A[5] + (A[0] * x[1] - A[1] * x[0])};
  FS_UNROLL for (int k = 0; k < d; k++) {
    const int e = 3 + 3 * (k % 3);
    if (k < 3) v[k] = x[e] * u[0] + x[e + 1] * u[1] + x[e + 2] * u[2];
    else v[k] = x[e] * T(A[0]) + x[e + 1] * T(A[1]) + x[e + 2] * T(A[2]);
  }
}

// wrench += N f
template <int d, class T> FS_HD void add_contact_wrench(const auto& x, const T* f, auto wrench) {
  T force[3];
  FS_UNROLL for (int i = 0; i < 3; i++) {
    force[i] = x[3 + i] * f[0];
    FS_UNROLL for (int k = 1; k < d && k < 3; k++) force[i] = force[i] + x[3 + 3 * k + i] * f[k];
  }
  FS_UNROLL for (int i = 0; i < 3; i++) {
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    T moment = x[a] * force[b] - x[b] * force[a];
    FS_UNROLL for (int k = 3; k < d; k++) moment = moment + x[3 + 3 * (k - 3) + i] * f[k];
    wrench[i] = wrench[i] + moment, wrench[3 + i] = wrench[3 + i] + force[i];
  }
}

// A body carries 27 numbers: the lower half of its 6 x 6 matrix, with rows in the order (w, v), then moment and force.
inline constexpr int body_numbers = 27, body_wrench = 21;

// Adds N W N^T and N f to C.
//
// in   x  as for contact_rows_at
template <RowKind kind, int d, class T>
FS_CALLED FS_HD void add_contact_to_body(const auto& x, const RowChange<d, T>& change, T* C) {
  constexpr int linear = d < 3 ? d : 3;
  const T c[3] = {x[0], x[1], x[2]};
  // G = sum W_kj e_k e_j^T over the rows of the point's acceleration
  T G[3][3];
  T weighed[linear][3];
  FS_UNROLL for (int k = 0; k < linear; k++) FS_UNROLL for (int i = 0; i < 3; i++) {
    T sum = change.W[symmetric(k, 0)] * x[3 + i];
    FS_UNROLL for (int j = 1; j < linear; j++) if (bend_together<kind>(k, j)) sum =
        sum + change.W[symmetric(k, j)] * x[3 + 3 * j + i];
    weighed[k][i] = sum;
  }
  FS_UNROLL for (int i = 0; i < 3; i++) FS_UNROLL for (int j = 0; j <= i; j++) {
    T g = x[3 + i] * weighed[0][j];
    FS_UNROLL for (int k = 1; k < linear; k++) g = g + x[3 + 3 * k + i] * weighed[k][j];
    G[i][j] = g, G[j][i] = g;
  }
  // B = c x G: rows w, columns v
  T B[3][3];
  FS_UNROLL for (int j = 0; j < 3; j++) {
    B[0][j] = c[1] * G[2][j] - c[2] * G[1][j];
    B[1][j] = c[2] * G[0][j] - c[0] * G[2][j];
    B[2][j] = c[0] * G[1][j] - c[1] * G[0][j];
  }
  // block (w, w) = B (c x)^T
  C[0] = C[0] + (B[0][2] * c[1] - B[0][1] * c[2]);
  C[1] = C[1] + (B[1][2] * c[1] - B[1][1] * c[2]);
  C[2] = C[2] + (B[1][0] * c[2] - B[1][2] * c[0]);
  C[3] = C[3] + (B[2][2] * c[1] - B[2][1] * c[2]);
  C[4] = C[4] + (B[2][0] * c[2] - B[2][2] * c[0]);
  C[5] = C[5] + (B[2][1] * c[0] - B[2][0] * c[1]);
  FS_UNROLL for (int i = 0; i < 3; i++) {
    FS_UNROLL for (int j = 0; j < 3; j++) C[lower_half(3 + i, j)] = C[lower_half(3 + i, j)] + B[j][i];
    FS_UNROLL for (int j = 0; j <= i; j++) C[lower_half(3 + i, 3 + j)] = C[lower_half(3 + i, 3 + j)] + G[i][j];
  }
  add_contact_wrench<d>(x, change.f, C + body_wrench);
  if constexpr (d > 3) {
    // rows 3 + k: couples along e_k
    T M[3][3], P[3][3];  // sum W e_k e_j^T: couples with couples, couples with forces
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) M[i][j] = P[i][j] = T(0.0);
    for (int k = 3; k < d; k++)
      for (int j = 0; j < d; j++) {
        if (!bend_together<kind>(k, j)) continue;
        const T w = change.W[symmetric(k, j)];
        for (int i = 0; i < 3; i++) {
          const T along = w * x[3 + 3 * (k - 3) + i];
          for (int l = 0; l < 3; l++)
            if (j < 3) P[i][l] = P[i][l] + along * x[3 + 3 * j + l];
            else M[i][l] = M[i][l] + along * x[3 + 3 * (j - 3) + l];
        }
      }
    // block (w, w): P (c x)^T and its transpose
    const auto turned = [&](int i, int j) {  // sum_l P_il ((c x)^T)_lj
      const int a = (j + 1) % 3, b = (j + 2) % 3;
      return T(c[a] * P[i][b] - c[b] * P[i][a]);
    };
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j <= i; j++) C[lower_half(i, j)] = C[lower_half(i, j)] + M[i][j] + turned(i, j) + turned(j, i);
      for (int j = 0; j < 3; j++) C[lower_half(3 + i, j)] = C[lower_half(3 + i, j)] + P[j][i];
    }
  }
}

}  // namespace featherstorm
