// Forces after the last Newton iteration (limb_newton.h), and the residual of
//
//   M (a - a0) = J^T f(J a - aref)
#pragma once
#include "core/limbs/limb_newton.h"

namespace featherstorm {

// Computes the forces of a slot at r = J a - aref, after move_bodies with a.
template <RowKind kind, int d, class T> FS_CALLED FS_HD void forces_of_slot(const LimbProblem<T>& p, const RowSlot& s,
                                                                            T* f) {
  using At = SlotLayout<kind, d>;
  const auto x = p.numbers + s.numbers;
  T r[d], W[d * (d + 1) / 2];
  rows_of_slot<d>(p, s, At::geometry, p.a, r);
  FS_UNROLL for (int k = 0; k < d; k++) r[k] = r[k] - x[At::aref + k];
  block_state<T>(RowBlock{kind, 0, d}, r, x + At::D, x + At::friction, f, W);
}

// Computes the negative gradient -g = J^T f - M (a - a0), with the forces at a.
//
// out  step
template <class T> FS_CALLED FS_HD void balance(const LimbProblem<T>& p, unsigned instances) {
  auto z = scratch<T>(p.nv);
  for (int k = 0; k < p.nv; k++) z[k] = p.a[k] - p.a0[k];
  limbs_times(p.own, p.mass, z.data(), p.step);
  for (int k = 0; k < p.nv; k++) p.step[k] = -p.step[k];
  const int with_body = p.first_slot[p.nb + 1];
  if (with_body > 0) move_bodies(p, p.a);
  // wrenches on bodies, summed from the tips
  auto wrench = scratch<T>(with_body > 0 ? 6 * (p.nb + 1) : 0);
  if (with_body > 0)
    for (int i = 0; i < 6 * (p.nb + 1); i++) wrench[i] = T(0.0);
  for_each_slot(p, instances, [&](const RowSlot& s, auto x, auto kind, auto rows) {
    constexpr int geometry = SlotLayout<kind, rows>::geometry;
    T f[rows];
    forces_of_slot<kind, rows, T>(p, s, f);
    if (s.body > 0) return add_contact_wrench<rows, T>(x + geometry, f, wrench.data() + 6 * s.body);
    const RowType& type = p.type[s.type];
    int column = 0;
    for (int k = type.segment; k < type.segment + type.segments; k++) {
      const RowSegment& of = p.segment[k];
      const auto y = p.step + (p.own.limb[of.limb].first + of.first);
      for (int j = 0; j < of.count; j++, column++)
        for (int i = 0; i < rows; i++) y[j] = y[j] + x[geometry + i * type.columns + column] * f[i];
    }
  });
  for (int l = p.own.limbs - 1; l >= 0 && with_body > 0; l--) {
    const Limb& limb = p.own.limb[l];
    for (int b = limb.first_body + limb.bodies - 1; b >= limb.first_body; b--) {
      const auto w = wrench.data() + 6 * b;
      for (int k = p.first_dof[b]; k < p.first_dof[b + 1]; k++) {
        T sum = p.step[k];
        for (int i = 0; i < 6; i++)
          if (!limb.free) sum = sum + p.axis[6 * k + i] * w[i];
          else if (i == k - limb.first) sum = sum + w[i];
        p.step[k] = sum;
      }
      const auto to = wrench.data() + 6 * p.parent[b];
      for (int i = 0; i < 6; i++) to[i] = to[i] + w[i];
    }
  }
}

// Refines a by one more step: the gradient is recomputed, the last factor is reused. float needs this, and so do rows
// whose D differ by ten orders of magnitude.
template <class T> FS_HD void refine(const LimbProblem<T>& p, unsigned instances) {
  balance(p, instances);
  solve_limbs(p.blocks, p.R, p.step);
  for (int k = 0; k < p.nv; k++) p.a[k] = p.a[k] + p.step[k];
}

// Residual of M (a - a0) = J^T f relative to its greatest term. Each coordinate is divided by the root of its inertia.
// Returns 0 if the forces are no larger than rounding errors.
template <class T> FS_HD T unbalanced(const LimbProblem<T>& p, unsigned instances) {
  constexpr double rounding = sizeof(T) / lanes<T> == sizeof(float) ? 6e-8 : 1.1e-16;
  balance(p, instances);
  auto z = scratch<T>(p.nv), moves = scratch<T>(p.nv);
  for (int k = 0; k < p.nv; k++) z[k] = p.a[k] - p.a0[k];
  limbs_times(p.own, p.mass, z.data(), moves.data());
  T left(0.0), most(1e-30), smooth(0.0);
  for (int l = 0; l < p.own.limbs; l++) {
    const Limb& limb = p.own.limb[l];
    for (int i = 0; i < limb.count; i++) {
      const int k = limb.first + i;
      const T root = sqrt(T(p.mass[p.own.at(l, l) + i * limb.count + i])), scale = rcp(root);
      left = max(left, scale * abs(T(p.step[k])));
      most = max(most, scale * max(abs(T(moves[k])), abs(T(moves[k] + p.step[k]))));
      smooth = max(smooth, root * abs(T(p.a0[k])));
    }
  }
  return select(most <= T(64 * rounding) * smooth, T(0.0), T(left * rcp(most)));
}

}  // namespace featherstorm
