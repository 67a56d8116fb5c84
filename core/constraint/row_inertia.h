// Inverse inertia A = J M^-1 J^T along a row at the present position, for worlds that do not use the value at qpos0.
//
//   exact     |Y|^2,  Y = J L^-1 D^-1/2,  M = L^T D L                             [diagexact]
//   discrete  A (sum_k J_k^2 / M^_kk) / (sum_k J_k^2 / M_kk),  M^ = M + h D + h^2 K  (core/mujoco/discrete_step.h)
//
// All rows of a contact share the A of its first row: the normal, or the first edge of a pyramid.
#pragma once
#include "core/constraint/delassus.h"
#include "core/constraint/impedance.h"

namespace featherstorm {

// Returns how many numbers row_weights writes.
FS_HD int weights_of(const auto& m, const auto& w) {
  return w.constraints.exact_inertia ? static_cast<int>(m.nh) : w.is_discrete() ? 2 * static_cast<int>(m.nv) : 0;
}
// Computes the weights that the inverse inertia of rows needs.
//
// in   mass, diagonal (nh)  M; M^ without the off-diagonal terms of forces along lengths, or M
// out  weights (weights_of)  factor of `diagonal` by half_factor, or 1 / M^_kk, then 1 / M_kk
FS_HD void row_weights(const auto& m, const auto& w, const auto& mass, const auto& diagonal, auto weights) {
  if (w.constraints.exact_inertia) return half_factor(m, diagonal, weights);
  for (int k = 0; k < m.nv && w.is_discrete(); k++) {
    weights[k] = rcp(diagonal[m.at(k, k)]);
    weights[m.nv + k] = rcp(mass[m.at(k, k)]);
  }
}

// in   row (n)  numbers of J;  at(k)  the coordinate of number k
// in   inverse (2 nv)  1 / M^_kk, then 1 / M_kk
template <class T> FS_HD T discrete_share(int n, int nv, const auto& row, const auto& at, const auto& inverse) {
  T above(0.0), below(0.0);
  for (int k = 0; k < n; k++) {
    const T square = row[k] * row[k];
    above = above + square * inverse[at(k)], below = below + square * inverse[nv + at(k)];
  }
  const auto given = T(least_denominator) < below;
  return select(given, above * rcp(select(given, below, T(1.0))), T(1.0));
}

// in   factor (nh)  by half_factor
// in   row (nv)  of J
template <class T> FS_HD T exact_inertia(const auto& m, const auto& factor, const auto& row) {
  auto y = scratch<T>(m.nv);
  for (int k = 0; k < m.nv; k++) y[k] = row[k];
  solve_from_tips(m, factor, y.data());
  T sum(0.0);
  for (int k = 0; k < m.nv; k++) sum = sum + y[k] * y[k];
  return max(sum, T(least_denominator));
}

// Rescales D of constraint rows that were written with the inverse inertia at qpos0.
//
// in-out  J (rows nv), D (rows)
FS_HD void weigh_rows(const auto& m, const auto& w, int rows, const auto& J, const auto& weights, auto D) {
  using T = ScalarOf<decltype(D)>;
  const bool exact = w.constraints.exact_inertia;
  for (int i = 0; i < rows && (exact || w.is_discrete()); i++) {
    const auto row = slice(J, i * m.nv);
    const auto itself = [](int k) { return k; };
    D[i] = D[i] * rcp(exact ? exact_inertia<T>(m, weights, row) : discrete_share<T>(m.nv, m.nv, row, itself, weights));
  }
}

// Returns entry k of a contact's first row or edge, J (dimension n) packed.
template <class T> FS_HD T first_edge(const auto& pair, bool cone, const auto& J, int n, int k) {
  const T normal = J[k];
  return pair.dimension == 1 || cone ? normal : normal + T(pair.friction[0]) * J[n + k];
}

}  // namespace featherstorm
