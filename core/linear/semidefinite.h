// Small dense systems A x = b, A symmetric positive semidefinite of unknown rank, with the same operations for every
// instance of a batch.
//
//   A = L D L^T without pivoting. If a pivot vanishes to rounding, its row depends on earlier rows (its whole
//   remaining column is zero, because A is semidefinite). Then 1/D = 0: the row is skipped and its x is zero.
//   If the system is consistent, the resulting x solves it.
#pragma once
#include "core/scalar/scalar.h"

namespace featherstorm {

// in      tolerance  a pivot counts as zero below this part of its diagonal element: 1e-11 in double, 1e-5 in float
// in out  A (n n)  by rows, lower triangle: L below the diagonal, 1/D or 0 on it
// Returns the rank.
FS_HD auto factor_semidefinite(int n, auto A, const auto& tolerance) {
  using T = ScalarOf<decltype(A)>;
  const T zero(0.0), one(1.0);
  T rank(0.0);
  for (int k = 0; k < n; k++) {
    // A_kj holds L_kj d_j until row k is reached
    T d = A[k * n + k];
    const T small = d * T(tolerance);
    for (int j = 0; j < k; j++) {
      const T l = A[k * n + j] * A[j * n + j];
      d = d - l * A[k * n + j];
      for (int i = k + 1; i < n; i++) A[i * n + k] = A[i * n + k] - A[i * n + j] * l;
      A[k * n + j] = l;
    }
    const auto vanishes = d <= small;
    A[k * n + k] = select(vanishes, zero, rcp(select(vanishes, one, d)));
    rank = rank + select(vanishes, zero, one);
  }
  return rank;
}

// x = A^+ x with the factor: a solution, zero where rows were skipped.
FS_HD void solve_semidefinite(int n, const auto& A, auto x) {
  for (int k = 0; k < n; k++)
    for (int j = 0; j < k; j++) x[k] = x[k] - A[k * n + j] * x[j];
  for (int k = 0; k < n; k++) x[k] = x[k] * A[k * n + k];
  for (int k = n - 1; k >= 0; k--)
    for (int j = 0; j < k; j++) x[j] = x[j] - A[k * n + j] * x[k];
}

}  // namespace featherstorm
