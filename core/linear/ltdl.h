// Branch-sparse factorisations of the packed joint-space inertia matrix, in place, and products and solves with them.
// RBDA Tables 6.3 and 6.5, section 6.5. Only entries (i, ancestors of i) exist; there is no fill-in.
//
// D1 = sum (d_k - 1), D2 = sum d_k (d_k - 1) / 2 over the expanded tree; the costs of Table 6.6 are counted in tests.
#pragma once
#include "core/model/model.h"
#include "core/scalar/scratch.h"
#include "core/trace/remark.h"

namespace featherstorm {

// H = L^T D L, L unit lower triangular. Replaces H by L below the diagonal and 1/D on it.
// Cost n reciprocals, D1 multiplications, D2 multiply-adds.
FS_HD void ltdl(const auto& m, auto H) {
  using T = ScalarOf<decltype(H)>;
  remark<T>("factors of the inertia matrix, H = L^T D L");
  for (int k = m.nv - 1; k >= 0; k--) {
    const T d = rcp(H[m.at(k, k)]);
    for (int i = m.dof_parent[k]; i >= 0; i = m.dof_parent[i]) {
      const T a = H[m.at(k, i)] * d;
      // H_ij -= a H_kj for the ancestors j of i, i among them
      const int row_i = m.row_start[i], row_k = m.row_start[k];
      for (int c = 0; c <= m.depth[i]; c++) H[row_i + c] = H[row_i + c] - a * H[row_k + c];
      H[m.at(k, i)] = a;
    }
    H[m.at(k, k)] = d;
  }
}

// H = L^T L. Replaces H by L.
FS_HD void ltl(const auto& m, auto H) {
  using T = ScalarOf<decltype(H)>;
  for (int k = m.nv - 1; k >= 0; k--) {
    const T h = sqrt(H[m.at(k, k)]), d = rcp(h);
    H[m.at(k, k)] = h;
    const int row_k = m.row_start[k];
    for (int c = 0; c < m.depth[k]; c++) H[row_k + c] = H[row_k + c] * d;
    for (int i = m.dof_parent[k]; i >= 0; i = m.dof_parent[i]) {
      const T a = H[m.at(k, i)];
      for (int c = 0; c <= m.depth[i]; c++) H[m.row_start[i] + c] = H[m.row_start[i] + c] - a * H[row_k + c];
    }
  }
}

// Storage of the diagonal of a factor: by ltdl (L has ones, the entry is 1/D) or by ltl (the entry is L's).
enum class Factor { LTDL, LTL };

// y = H x with the packed matrix itself. x and y must differ.
FS_HD void mul_h(const auto& m, const auto& H, const auto& x, auto y) {
  for (int i = 0; i < m.nv; i++) y[i] = H[m.at(i, i)] * x[i];
  for (int i = m.nv - 1; i >= 0; i--)
    for (int j = m.dof_parent[i]; j >= 0; j = m.dof_parent[j]) {
      y[i] = y[i] + H[m.at(i, j)] * x[j];
      y[j] = y[j] + H[m.at(i, j)] * x[i];
    }
}
// x = L x
template <Factor factor> FS_HD void mul_l(const auto& m, const auto& L, auto x) {
  for (int i = m.nv - 1; i >= 0; i--) {
    if constexpr (factor == Factor::LTL) x[i] = x[i] * L[m.at(i, i)];
    for (int j = m.dof_parent[i]; j >= 0; j = m.dof_parent[j]) x[i] = x[i] + L[m.at(i, j)] * x[j];
  }
}
// y = L^T x. x and y must differ.
template <Factor factor>
FS_HD void mul_lt(const auto& m, const auto& L, const auto& x, auto y) {
  for (int i = 0; i < m.nv; i++) {
    if constexpr (factor == Factor::LTL) y[i] = L[m.at(i, i)] * x[i];
    else y[i] = x[i];
    for (int j = m.dof_parent[i]; j >= 0; j = m.dof_parent[j]) y[j] = y[j] + L[m.at(i, j)] * x[i];
  }
}
// x = L^-1 x
template <Factor factor> FS_HD void solve_l(const auto& m, const auto& L, auto x) {
  for (int i = 0; i < m.nv; i++) {
    for (int j = m.dof_parent[i]; j >= 0; j = m.dof_parent[j]) x[i] = x[i] - L[m.at(i, j)] * x[j];
    if constexpr (factor == Factor::LTL) x[i] = x[i] * rcp(L[m.at(i, i)]);
  }
}
// x = L^-T x
template <Factor factor> FS_HD void solve_lt(const auto& m, const auto& L, auto x) {
  for (int i = m.nv - 1; i >= 0; i--) {
    if constexpr (factor == Factor::LTL) x[i] = x[i] * rcp(L[m.at(i, i)]);
    for (int j = m.dof_parent[i]; j >= 0; j = m.dof_parent[j]) x[j] = x[j] - L[m.at(i, j)] * x[i];
  }
}
// L^-1 in place of the factor L of ltdl, with the same entries; the diagonal keeps 1/D. H^-1 = L^-1 D^-1 L^-T is then
// applied by products (mul_lt, mul_l) instead of solves, where zeros of the right-hand side save more: x_i depends only
// on the common ancestors of i and of the nonzero entries. Cost D2 - D1 multiply-adds.
FS_HD void invert_l(const auto& m, auto L) {
  for (int i = 0; i < m.nv; i++)
    for (int c = 0; c < m.depth[i]; c++) {
      // -(L^-1)_ij = L_ij + sum over the ancestors l of i beyond j of L_il (L^-1)_lj, from the root on
      auto sum = L[m.row_start[i] + c];
      for (int l = m.dof_parent[i]; m.depth[l] > c; l = m.dof_parent[l])
        sum = sum + L[m.at(i, l)] * L[m.row_start[l] + c];
      L[m.row_start[i] + c] = -sum;
    }
}
// Hinv = H^-1, (nv nv), from the result of invert_l: the sum over common ancestors j of (L^-1)_ij (L^-1)_kj / D_j.
FS_HD void inverse_of_h(const auto& m, const auto& W, auto Hinv) {
  using T = ScalarOf<decltype(W)>;
  auto V = scratch<T>(m.nh);  // L^-1 D^-1
  for (int i = 0; i < m.nv; i++) {
    for (int j = m.dof_parent[i]; j >= 0; j = m.dof_parent[j]) V[m.at(i, j)] = W[m.at(i, j)] * W[m.at(j, j)];
    V[m.at(i, i)] = W[m.at(i, i)];
  }
  for (int i = 0; i < m.nv; i++)
    for (int k = 0; k <= i; k++) {
      int j = i, other = k;  // the last common ancestor
      while (j != other) (j > other ? j : other) = m.dof_parent[j > other ? j : other];
      T sum(0.0);
      for (; j >= 0; j = m.dof_parent[j]) sum = sum + (j == k ? V[m.at(i, j)] : V[m.at(i, j)] * W[m.at(k, j)]);
      Hinv[i * m.nv + k] = Hinv[k * m.nv + i] = sum;
    }
}
// x = H^-1 x with the factor of ltdl or ltl: L^-1 D^-1 L^-T x. Cost 2 D1 multiply-adds and n multiplications.
template <Factor factor> FS_HD void solve(const auto& m, const auto& L, auto x) {
  remark<ScalarOf<decltype(x)>>("solution by the factors: L^-1 D^-1 L^-T");
  solve_lt<factor>(m, L, x);
  if constexpr (factor == Factor::LTDL)
    for (int i = 0; i < m.nv; i++) x[i] = x[i] * L[m.at(i, i)];
  solve_l<factor>(m, L, x);
}

}  // namespace featherstorm
