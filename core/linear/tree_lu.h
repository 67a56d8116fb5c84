// Factors of matrices that are not symmetric but have the zeros of the inertia matrix, and solutions with them.
//
//   A = U L,   U unit upper triangular,  L lower triangular
//
// Entries are packed as in crba.h: lower (i, j) is A_ij, upper (i, j) is A_ji, for the ancestors j of i; the diagonal
// is in lower. Elimination from the tips keeps zeros, as in ltdl.h.
#pragma once
#include "core/model/model.h"

namespace featherstorm {

// Replaces lower by L with 1 / L_ii on its diagonal, upper by U.
// Cost n reciprocals, D1 multiplications, 2 D2 multiply-adds (ltdl.h).
FS_HD void tree_lu(const auto& m, auto lower, auto upper) {
  using T = ScalarOf<decltype(lower)>;
  for (int k = m.nv - 1; k >= 0; k--) {
    const T d = rcp(lower[m.at(k, k)]);
    for (int i = m.dof_parent[k]; i >= 0; i = m.dof_parent[i]) {
      // A_ij -= A_ik / A_kk A_kj for the ancestors j of k
      const T a = upper[m.at(k, i)] * d;
      for (int j = m.dof_parent[k]; j >= 0; j = m.dof_parent[j]) {
        const T part = a * lower[m.at(k, j)];
        if (j <= i) lower[m.at(i, j)] = lower[m.at(i, j)] - part;
        else upper[m.at(j, i)] = upper[m.at(j, i)] - part;
      }
      upper[m.at(k, i)] = a;
    }
    lower[m.at(k, k)] = d;
  }
}

// x = A^-1 x with the factors of tree_lu. Cost 2 D1 multiply-adds and n multiplications.
FS_HD void solve_tree_lu(const auto& m, const auto& lower, const auto& upper, auto x) {
  for (int k = m.nv - 1; k >= 0; k--)
    for (int i = m.dof_parent[k]; i >= 0; i = m.dof_parent[i]) x[i] = x[i] - upper[m.at(k, i)] * x[k];
  for (int k = 0; k < m.nv; k++) {
    for (int j = m.dof_parent[k]; j >= 0; j = m.dof_parent[j]) x[k] = x[k] - lower[m.at(k, j)] * x[j];
    x[k] = x[k] * lower[m.at(k, k)];
  }
}

}  // namespace featherstorm
