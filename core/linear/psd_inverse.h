// A generalised inverse of a small symmetric positive semidefinite matrix, optionally damped.
//
// Pivoted Cholesky as Gram-Schmidt: unit vectors w_i = e_i are made orthogonal in the inner product of A. Each step
// takes the vector with the largest remaining share s_i / A_ii of its square s_i = w_i^T A w_i; A^- = sum w w^T / s
// over the vectors taken. A vector with a share of at most `tolerance` depends on the earlier ones and is left out: its
// row and column of A^- are zero. Therefore A A^- A = A and A^- A A^- = A^-, for any units of the rows. The choice of a
// row is a weight 0 or 1, not a branch.
#pragma once
#include "core/scalar/scalar.h"

namespace featherstorm {

// in      damping    added to the diagonal of A; where it is positive A^- = (A + damping 1)^-1
// in      tolerance  share below which a row counts as dependent; about 1e-10 in double, 1e-5 in float
// in out  A (n n)    replaced by A^-
template <int n, class T> FS_HD void psd_inverse(T (&A)[n][n], const T& damping, const T& tolerance) {
  const T zero(0.0), one(1.0);
  T W[n][n], S[n][n], k[n];  // rows w_i, inner products w_i^T A w_j, 1 / A_ii
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) S[i][j] = A[i][j], W[i][j] = i == j ? one : zero, A[i][j] = zero;
    S[i][i] = S[i][i] + damping;
    k[i] = select(zero < S[i][i], rcp(select(zero < S[i][i], S[i][i], one)), zero);
  }
  for (int step = 0; step < n; step++) {
    T best = zero, left = one, s = zero, e[n], w[n], c[n];
    for (int i = 0; i < n; i++) best = max(best, S[i][i] * k[i]);
    // e_i = 1 for the first row with the largest share
    for (int i = 0; i < n; i++) {
      e[i] = select(best <= S[i][i] * k[i], left, zero);
      left = left - e[i];
      s = s + e[i] * S[i][i];
      k[i] = k[i] * (one - e[i]);
    }
    const auto taken = tolerance < best;
    const T inverse = select(taken, rcp(select(taken, s, one)), zero);
    for (int j = 0; j < n; j++) {
      w[j] = c[j] = zero;
      for (int i = 0; i < n; i++) w[j] = w[j] + e[i] * W[i][j], c[j] = c[j] + e[i] * S[i][j];
    }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        A[i][j] = A[i][j] + w[i] * (w[j] * inverse);
        W[i][j] = W[i][j] - (c[i] * inverse) * w[j];
        S[i][j] = S[i][j] - (c[i] * inverse) * c[j];
      }
  }
}

}  // namespace featherstorm
