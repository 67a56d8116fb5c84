// A generalised inverse of a small symmetric positive semidefinite matrix, damped if wanted.
//
//   A + damping 1 = L D L^T,   A^- = L^-T D^- L^-1
//
// A pivot that is at most `tolerance` times the diagonal entry it started from counts as zero: its row depends on the rows
// before it. D^- is zero there and the row and column of A^- too, so A A^- A = A and A^- A A^- = A^-. No branch on a scalar.
#pragma once
#include "core/scalar.h"

namespace featherstorm {

// in out  A (n n)  row-major; replaced by A^-
template <int n, class T> FS_HD void psd_inverse(T (&A)[n][n], const T& damping, const T& tolerance) {
  T d[n], L[n][n];
  for (int k = 0; k < n; k++) {
    const T a = A[k][k] + damping;
    T pivot = a;
    for (int j = 0; j < k; j++) pivot = pivot - L[k][j] * L[k][j] * d[j];
    const auto zero = pivot <= a * tolerance;
    const T inverse = select(zero, T(0.0), rcp(select(zero, T(1.0), pivot)));
    d[k] = select(zero, T(0.0), pivot);
    for (int i = k + 1; i < n; i++) {
      T l = A[i][k];
      for (int j = 0; j < k; j++) l = l - L[i][j] * L[k][j] * d[j];
      L[i][k] = l * inverse;
    }
    A[k][k] = inverse;  // from here on the diagonal holds D^-
  }
  for (int k = 0; k < n; k++) d[k] = A[k][k];
  // column c of A^-: L^-T D^- L^-1 e_c
  for (int c = 0; c < n; c++) {
    T x[n];
    for (int i = 0; i < n; i++) {
      x[i] = T(i == c ? 1.0 : 0.0);
      for (int j = c; j < i; j++) x[i] = x[i] - L[i][j] * x[j];
    }
    for (int i = 0; i < n; i++) x[i] = x[i] * d[i];
    for (int i = n - 1; i >= 0; i--)
      for (int j = i + 1; j < n; j++) x[i] = x[i] - L[j][i] * x[j];
    for (int i = 0; i < n; i++) A[i][c] = x[i];
  }
}

}  // namespace featherstorm
