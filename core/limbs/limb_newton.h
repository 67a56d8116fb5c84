// Newton's method for the convex constraint problem, on blocks of limbs:
//
//   a = argmin 1/2 (a - a0)^T M (a - a0) + sum s(J a - aref)             s, f = -s', W = s'': row_state.h
//   iteration   H step = -g,   H = M + J^T W J,   g = M (a - a0) - J^T f;   a += alpha step,   g = (1 - alpha) g
//
// The next iteration keeps H and g and adds the changes of the rows that have moved to another piece of their cost
// (row_slots.h). Contacts between a body and the world are summed on the body, as one 6 x 6 matrix for any number of
// contacts. Bodies are summed from the tips of the limbs to their roots. With C and w the sums that a body carries:
//
//   H_ij += S_i^T C S_j  for j = i and its ancestors,   g_i -= S_i^T w
//
// The axes S of coordinates and the accelerations of bodies refer to one reference point for each tree.
//
// An instance is done if all its rows are on the same pieces at a + step: then a + step is the solution. alpha is 1
// unless the cost is higher at a + step; then a line search finds the least cost between a and a + step. Rows may
// change pieces by rounding alone, and cones may slide. In these cases the first step that moves no row is the last.
#pragma once
#include "core/limbs/row_slots.h"
#include "core/linear/limb_blocks.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// Arrays and tables of one robot that the iterations use.
template <class T> struct LimbProblem {
  LimbBlocks own, blocks;         // patterns of M and of H
  const int *parent, *first_dof;  // (nb + 1), (nb + 2)  of bodies
  const RowType* type;
  const RowSegment* segment;
  int nb, nv;

  ScratchArray<T> mass;            // (own.numbers)
  ScratchArray<T> H, R;            // (blocks.numbers)
  ScratchArray<T> axis;            // (6 nv)  S; unused for free limbs, where S is 1
  ScratchArray<T> a0, a, g, step;  // (nv)
  ScratchArray<T> acceleration;    // (6 (nb + 1))  of bodies
  ScratchArray<T> carried;         // (body_numbers limbs)  sums that limbs carry

  RowSlot* slot;
  ScratchArray<T> numbers;  // numbers of all slots
  const int* order;         // slots sorted by body, then slots with J sorted by type
  const int* first_slot;    // (nb + 2)  first entry in `order` of each body, then of the slots with J
  int slots;
};

// Counts of each instance: Newton iterations and line searches.
template <class T> struct NewtonCounts { T passes{0.0}, searches{0.0}; };

// Greatest number of iterations, and a tolerance: a step that changes all rows by less than this, relative to the
// greatest row, is the last one.
struct NewtonLimits {
  int passes;
  double tolerance;
};

// y = K x, with K the lower half of a symmetric 6 x 6 matrix
template <class T> FS_HD void symmetric_times(const T* K, const auto& x, T* y) {
  FS_UNROLL for (int i = 0; i < 6; i++) {
    T sum = K[lower_half(i, 0)] * x[0];
    FS_UNROLL for (int j = 1; j < 6; j++) sum = sum + K[symmetric(i, j)] * x[j];
    y[i] = sum;
  }
}
template <class T> FS_HD T dot_of_six(const T* x, const auto& y) {
  T sum = x[0] * y[0];
  FS_UNROLL for (int i = 1; i < 6; i++) sum = sum + x[i] * y[i];
  return sum;
}

// Computes the spatial accelerations of the bodies due to coordinate accelerations x, without velocity terms.
template <class T> FS_CALLED FS_HD void move_bodies(const LimbProblem<T>& p, const auto& x) {
  const auto A = p.acceleration;
  for (int l = 0; l < p.own.limbs; l++) {
    const Limb& limb = p.own.limb[l];
    for (int b = limb.first_body; b < limb.first_body + limb.bodies; b++) {
      T a[6];
      for (int i = 0; i < 6; i++) a[i] = p.parent[b] == 0 ? T(0.0) : T(A[6 * p.parent[b] + i]);
      for (int k = p.first_dof[b]; k < p.first_dof[b + 1]; k++)
        for (int i = 0; i < 6; i++) {
          if (limb.free) a[i] = i == k - limb.first ? T(x[k]) : a[i];
          else a[i] = a[i] + p.axis[6 * k + i] * x[k];
        }
      for (int i = 0; i < 6; i++) A[6 * b + i] = a[i];
    }
  }
}

// Computes J x of a slot, after move_bodies with x.
template <int d, class T>
FS_CALLED FS_HD void rows_of_slot(const LimbProblem<T>& p, const RowSlot& s, int geometry, const auto& x, T* v) {
  const auto J = p.numbers + (s.numbers + geometry);
  if (s.body > 0) return contact_rows_at<d>(J, p.acceleration + 6 * s.body, v);
  const RowType& type = p.type[s.type];
  FS_UNROLL for (int i = 0; i < d; i++) v[i] = T(0.0);
  int column = 0;
  for (int k = type.segment; k < type.segment + type.segments; k++) {
    const RowSegment& of = p.segment[k];
    const auto y = x + (p.own.limb[of.limb].first + of.first);
    for (int j = 0; j < of.count; j++, column++)
      FS_UNROLL for (int i = 0; i < d; i++) v[i] = v[i] + J[i * type.columns + column] * y[j];
  }
}

// Adds J^T W J to H and J^T f to -g, for a slot that has a Jacobian J.
template <RowKind kind, int d, class T>
FS_CALLED FS_HD void add_rows_to_blocks(const LimbProblem<T>& p, const RowSlot& s, const RowChange<d, T>& c) {
  const RowType& type = p.type[s.type];
  const auto J = p.numbers + (s.numbers + SlotLayout<kind, d>::geometry);
  const int n = type.columns;
  int column = 0;
  for (int k = type.segment; k < type.segment + type.segments; k++) {
    const RowSegment& of = p.segment[k];
    for (int i = of.first; i < of.first + of.count; i++, column++) {
      T weighed[d], force(0.0);
      FS_UNROLL for (int r = 0; r < d; r++) {
        T sum = c.W[symmetric(r, 0)] * J[column];
        FS_UNROLL for (int q = 1; q < d; q++) if (bend_together<kind>(r, q)) sum =
            sum + c.W[symmetric(r, q)] * J[q * n + column];
        weighed[r] = sum, force = force + c.f[r] * J[r * n + column];
      }
      T& g = p.g[p.own.limb[of.limb].first + i];
      g = g - force;
      int other = 0;
      for (int l = type.segment; l <= k; l++) {
        const RowSegment& with = p.segment[l];
        const int count = l < k ? with.count : i - of.first + 1;
        const auto row = p.H + (p.blocks.at(of.limb, with.limb) + i * p.own.limb[with.limb].count + with.first);
        for (int j = 0; j < count; j++) {
          T sum = row[j];
          FS_UNROLL for (int r = 0; r < d; r++) sum = sum + weighed[r] * J[r * n + other + j];
          row[j] = sum;
        }
        other += with.count;
      }
    }
  }
}

// Instances that are not done: one bit for each, and 1 or 0 in each lane.
template <class T> struct OpenInstances {
  unsigned bits;
  T one;
};

// Computes the values of a slot at the present a: J a - aref in the first iteration, r + alpha rate later. Returns true
// if pieces have changed; c then holds the change of forces and curvatures.
template <bool first, RowKind kind, int d, class T>
FS_HD bool advance_slot(const LimbProblem<T>& p, RowSlot& s, const T& alpha, unsigned open, RowChange<d, T>& c) {
  using At = SlotLayout<kind, d>;
  const auto x = p.numbers + s.numbers, value = x + At::value;
  if constexpr (first) {
    T v[d];
    rows_of_slot<d>(p, s, At::geometry, p.a, v);
    FS_UNROLL for (int k = 0; k < d; k++) v[k] = v[k] - x[At::aref + k];
    values_of_rows<kind, d, T>(v, x + At::friction, value);
  } else {
    FS_UNROLL for (int k = 0; k < At::values; k++) value[k] = value[k] + alpha * x[At::rate + k];
    if ((s.moved & open) == 0) return false;
  }
  return change_pieces<kind, d, T>(s, x, alpha, open, c);
}

// Adds S^T C S to H and -S^T w to g, for the coordinates of a body in limb l that carries the sums C and w.
template <class T> FS_CALLED FS_HD void add_carried(const LimbProblem<T>& p, int l, int body, const T* C) {
  const Limb& limb = p.own.limb[l];
  for (int k = p.first_dof[body]; k < p.first_dof[body + 1]; k++) {
    const auto S = p.axis + 6 * k;
    T F[6];
    symmetric_times(C, S, F);
    p.g[k] = p.g[k] - dot_of_six(C + body_wrench, S);
    for (int m = l; m >= 0; m = p.own.limb[m].parent) {
      const Limb& to = p.own.limb[m];
      const auto row = p.H + (p.blocks.at(l, m) + (k - limb.first) * to.count);
      if (to.free) {
        for (int j = 0; j < 6; j++) row[j] = row[j] + F[j];
        continue;
      }
      const int count = m == l ? k - limb.first + 1 : to.count;
      for (int j = 0; j < count; j++) row[j] = row[j] + dot_of_six(F, p.axis + 6 * (to.first + j));
    }
  }
}

// Adds contacts with the world to H and g, limb by limb from the tips.
template <bool first, class T>
FS_HD void collect_bodies(const LimbProblem<T>& p, const T& alpha, const OpenInstances<T>& open) {
  auto begun = scratch<char>(p.own.limbs);
  for (int l = 0; l < p.own.limbs; l++) begun[l] = 0;
  for (int l = p.own.limbs - 1; l >= 0; l--) {
    const Limb& limb = p.own.limb[l];
    const auto carried = p.carried + body_numbers * l;
    T C[body_numbers];
    bool any = begun[l] != 0;
    for (int i = 0; i < body_numbers; i++) C[i] = any ? T(carried[i]) : T(0.0);
    for (int b = limb.first_body + limb.bodies - 1; b >= limb.first_body; b--) {
      for (int i = p.first_slot[b]; i < p.first_slot[b + 1]; i++) {
        RowSlot& s = p.slot[p.order[i]];
        if ((s.there & open.bits) == 0) continue;
        with_rows_of(s.kind, s.rows, [&](auto kind, auto rows) {
          RowChange<rows, T> c;
          if (!advance_slot<first, kind, rows, T>(p, s, alpha, open.bits, c)) return;
          add_contact_to_body<kind, rows, T>(p.numbers + (s.numbers + SlotLayout<kind, rows>::geometry), c, C);
          any = true;
        });
      }
      if (any && !limb.free) add_carried(p, l, b, C);
    }
    if (!any) continue;
    if (limb.free) {
      const auto block = p.H + p.blocks.at(l, l);
      for (int i = 0; i < 6; i++) {
        for (int j = 0; j <= i; j++) block[6 * i + j] = block[6 * i + j] + C[lower_half(i, j)];
        p.g[limb.first + i] = p.g[limb.first + i] - C[body_wrench + i];
      }
    }
    if (limb.parent < 0) continue;
    const auto to = p.carried + body_numbers * limb.parent;
    const bool again = begun[limb.parent] != 0;
    for (int i = 0; i < body_numbers; i++) to[i] = again ? T(to[i] + C[i]) : C[i];
    begun[limb.parent] = 1;
  }
}

// Advances r of all rows by alpha rate, and adds the changes of rows that have changed pieces to H and g.
template <bool first, class T>
FS_HD void collect(const LimbProblem<T>& p, const T& alpha, const OpenInstances<T>& open) {
  if (p.first_slot[p.nb + 1] > 0) collect_bodies<first>(p, alpha, open);
  for (int i = p.first_slot[p.nb + 1]; i < p.slots; i++) {
    RowSlot& s = p.slot[p.order[i]];
    if ((s.there & open.bits) == 0) continue;
    with_rows_of(s.kind, s.rows, [&](auto kind, auto rows) {
      RowChange<rows, T> c;
      if (advance_slot<first, kind, rows, T>(p, s, alpha, open.bits, c)) add_rows_to_blocks<kind, rows, T>(p, s, c);
    });
  }
}

// Calls visit(slot, numbers, kind, rows) for each slot in use by an open instance, or only for those with rows that the
// step moves to another piece.
template <bool moved = false, class T>
FS_HD void for_each_slot(const LimbProblem<T>& p, unsigned open, auto&& visit) {
  for (int i = 0; i < p.slots; i++) {
    RowSlot& s = p.slot[p.order[i]];
    if (((moved ? s.moved : s.there) & open) != 0)
      with_rows_of(s.kind, s.rows, [&](auto kind, auto rows) { visit(s, p.numbers + s.numbers, kind, rows); });
  }
}

// Computes the rates of all rows along the step, and the change of the cost at its end due to rows that change pieces.
//
// out  moved  instances that have such rows
template <class T>
FS_HD LineChange<T> look_ahead(const LimbProblem<T>& p, const OpenInstances<T>& open, unsigned& moved) {
  if (p.first_slot[p.nb + 1] > 0) move_bodies(p, p.step);
  LineChange<T> change;
  moved = 0;
  for_each_slot(p, open.bits, [&](RowSlot& s, auto x, auto kind, auto rows) {
    using At = SlotLayout<kind, rows>;
    T v[rows];
    rows_of_slot<rows>(p, s, At::geometry, p.step, v);
    values_of_rows<kind, rows, T>(v, x + At::friction, x + At::rate);
    change.changed = 0;
    add_line_change<kind, rows, T>(s, x, T(1.0), open.bits, change);
    moved |= change.changed, s.moved = kind == RowKind::Cone ? s.there : change.changed;
  });
  return change;
}

// Line search: returns the alpha of least cost between a and a + step, for instances whose cost is higher at a + step.
//
//   slope(alpha) = -h (1 - alpha) + slopes added by rows on other pieces,   h = g^T H^-1 g
//
// Newton's method starts from the secant of the slopes at both ends. It is kept in a bracket between an end where the
// cost falls and an end where it rises, until the slope is a tenth of the first one. A gentle slope may have risen over
// a long distance. Then alpha is accepted only if the cost lost beyond the lower end is less than the cost gained up to
// it. Values of rows are linear in alpha, so rows on the same piece at a and a + step are on it between, too. Only the
// others are looked at, and cones, whose regions are not all convex.
//
// in   risen         instances whose cost has risen
// in   slope_at_end  slope at the end of the step
template <class T>
FS_HD T search_step(const LimbProblem<T>& p, const OpenInstances<T>& risen, const T& h, const T& slope_at_end) {
  constexpr int most_looks = 30;
  const T zero(0.0), one(1.0), small = T(0.1) * h;
  T low(0.0), falls = h, high(1.0), climbs = max(slope_at_end, T(1e-30)), alpha = h * rcp(max(h + climbs, T(1e-30)));
  T open = risen.one;
  unsigned bits = risen.bits;
  for (int i = 0; i < most_looks && bits != 0; i++) {
    LineChange<T> change;
    for_each_slot<true>(p, bits, [&](const RowSlot& s, auto x, auto kind, auto rows) {
      add_line_change<kind, rows, T>(s, x, alpha, bits, change);
    });
    const T slope = change.slope - h * (one - alpha), bend = h + change.bend, size = abs(slope);
    const auto wins = slope * (alpha - low) <= falls * low;
    const auto ends = wins && size <= small;
    const auto rises = zero <= slope;
    const auto nearer = size <= T(0.5) * select(rises, climbs, falls);
    open = select(ends, zero, open);
    const auto goes_on = zero < open;
    const auto at_low = goes_on && slope < zero, at_high = goes_on && rises;
    low = select(at_low, alpha, low), falls = select(at_low, size, falls);
    high = select(at_high, alpha, high), climbs = select(at_high, size, climbs);
    const T next = alpha - slope * rcp(max(bend, T(1e-30)));
    const auto inside = low < next && next < high && nearer;
    alpha = select(goes_on, select(inside, next, T(T(0.5) * (low + high))), alpha);
    bits = instances_above_zero(open);
  }
  return select(zero < open, select(zero < low, low, alpha), alpha);
}

// Returns 1 in instances whose step moves every row by less than tolerance times the greatest row. The rows at a0 count
// for the greatest row too.
template <class T>
FS_HD T is_still(const LimbProblem<T>& p, const OpenInstances<T>& open, double tolerance) {
  T moved(0.0), greatest(0.0);
  if (p.first_slot[p.nb + 1] > 0) move_bodies(p, p.a0);
  for_each_slot(p, open.bits, [&](const RowSlot& s, auto x, auto kind, auto rows) {
    using At = SlotLayout<kind, rows>;
    T v[rows], at_start[At::values];
    rows_of_slot<rows>(p, s, At::geometry, p.a0, v);
    for (int k = 0; k < rows; k++) v[k] = v[k] - x[At::aref + k];
    values_of_rows<kind, rows, T>(v, x + At::friction, at_start);
    for (int k = 0; k < At::values; k++) {
      const T value = x[At::value + k], rate = x[At::rate + k];
      moved = max(moved, keep(s.there, T(abs(rate))));
      greatest = max(greatest, keep(s.there, max(abs(at_start[k]), abs(T(value + rate)))));
    }
  });
  return select(moved <= T(tolerance) * greatest, T(1.0), T(0.0));
}

// Sets H = M in the blocks of H.
template <class T> FS_HD void begin_curvature(const LimbProblem<T>& p) {
  if (p.blocks.numbers != p.own.numbers)
    for (int i = 0; i < p.blocks.numbers; i++) p.H[i] = T(0.0);
  const auto copy = [&](int m, int n) {
    const int from = p.own.at(m, n), to = p.blocks.at(m, n), count = p.own.limb[m].count * p.own.limb[n].count;
    for (int i = 0; i < count; i++) p.H[to + i] = p.mass[from + i];
  };
  for (int m = 0; m < p.own.limbs; m++) {
    copy(m, m);
    for_each_in(p.own.words, p.own.row_of(m), [&](int n) { copy(m, n); });
  }
}

// Iterates from a until every instance is done.
//
// in-out  p   a: initial guess, then solution
template <class T>
FS_HD NewtonCounts<T> newton_passes(const LimbProblem<T>& p, unsigned instances, const NewtonLimits& limits) {
  constexpr int first_look = 6;  // in earlier iterations, rounding does not make pieces alternate
  const T zero(0.0), one(1.0);
  const auto z = p.step;
  for (int k = 0; k < p.nv; k++) z[k] = p.a[k] - p.a0[k];
  limbs_times(p.own, p.mass, z, p.g);
  begin_curvature(p);
  bool slides = false;
  for (int i = 0; i < p.slots; i++) slides = slides || p.slot[p.order[i]].kind == RowKind::Cone;
  if (p.first_slot[p.nb + 1] > 0) move_bodies(p, p.a);
  OpenInstances<T> open{instances, keep(instances, one)};
  NewtonCounts<T> counts;
  T alpha(0.0);
  for (int i = 0; i < limits.passes && open.bits != 0; i++) {
    if (i == 0) collect<true>(p, alpha, open);
    else collect<false>(p, alpha, open);
    factor_limbs(p.blocks, p.H, p.R);
    for (int k = 0; k < p.nv; k++) p.step[k] = -p.g[k];
    const T h = solve_limbs(p.blocks, p.R, p.step);
    unsigned moved;
    const LineChange<T> change = look_ahead(p, open, moved);
    counts.passes = counts.passes + open.one;
    T next = keep(moved, open.one);
    if ((slides || i >= first_look) && some(next))
      next = select(zero < is_still(p, open, limits.tolerance), zero, next);
    const T rises = select(h < change.cost, next, zero);
    alpha = open.one;
    if (const OpenInstances<T> risen{instances_above_zero(rises), rises}; risen.bits != 0) {
      alpha = select(zero < rises, search_step(p, risen, h, change.slope), alpha);
      counts.searches = counts.searches + rises;
    }
    for (int k = 0; k < p.nv; k++) p.a[k] = p.a[k] + alpha * p.step[k], p.g[k] = (one - alpha) * p.g[k];
    open = {instances_above_zero(next), next};
  }
  return counts;
}

}  // namespace featherstorm
