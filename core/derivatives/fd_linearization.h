// Linearised forward dynamics: x' = f(x, tau) about a state, x = (q, qd), with the deviation of q on the tangent space.
//
//   d/dt [dq; dqd] = A [dq; dqd] + B dtau,   A = [G 1; dqdd/dq dqdd/dqd],   B = [0; H^-1]
//
// dq is the step that leads from the state's q to the other one, q (+) dq. G = 0 where velocities are derivatives of
// coordinates; for the rotations of ball and free joints, dq' = dw - w × dq. Garofalo et al. section I.
#pragma once
#include "core/derivatives/fd_derivatives.h"

namespace featherstorm {

// Part of a row-major matrix of n columns from (row, column) on, as a row-major matrix with the number of columns that
// its algorithm writes.
template <class Array> struct Block {
  Array matrix;
  int n, row, column, width;
  FS_HD decltype(auto) operator[](int i) const { return matrix[(row + i / width) * n + column + i % width]; }
};

// in   q (nq), qd (nv), tau (nv)
// in   f_ext (6 nb)  as in fd_derivatives; Zeros<T>{} for none
// out  qdd (nv)
// out  A (2nv 2nv), B (2nv nv)  row-major; user-defined joints must have velocities that are derivatives of coordinates
// Cost O(n d^2 + n^2 d).
template <class OutA, class OutB>
FS_HD void fd_linearization(const auto& m, const auto& q, const auto& qd, const auto& tau, const auto& f_ext, auto qdd,
                            OutA A, OutB B) {
  using T = ScalarOf<decltype(q)>;
  const int n = m.nv;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      A[i * 2 * n + j] = T(0.0), A[i * 2 * n + n + j] = T(i == j ? 1.0 : 0.0);
      B[i * n + j] = T(0.0);
    }
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    const int r = joint_traits(b.type).rotation;
    if (r < 0) continue;
    // -w ×
    for (int k = 0; k < 3; k++) {
      const int x = b.v + r + k, y = b.v + r + (k + 1) % 3, z = b.v + r + (k + 2) % 3;
      A[y * 2 * n + z] = T(qd[x]);
      A[z * 2 * n + y] = -T(qd[x]);
    }
  }
  fd_derivatives(m, q, qd, tau, f_ext, qdd, Block<OutA>{A, 2 * n, n, 0, n}, Block<OutA>{A, 2 * n, n, n, n},
                 Block<OutB>{B, n, n, 0, n});
}

}  // namespace featherstorm
