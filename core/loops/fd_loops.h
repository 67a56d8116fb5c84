// Forward dynamics of closed loops through the sparse factor of H: method 2 of RBDA section 8.5, (8.37)-(8.41).
//
//   H qdd = tau - C + K^T lambda,   K qdd = k
//   Y = L^-T K^T,  A = K H^-1 K^T = Y^T D^-1 Y,  b = k - K H^-1 (tau - C),   A lambda = b
//
// The rank of K is found per instance: dependent rows (planar loops in space always have some) are skipped and their
// lambda is zero. qdd does not depend on which rows are.
#pragma once
#include "core/dynamics/crba.h"
#include "core/dynamics/newton_euler.h"
#include "core/linear/ltdl.h"
#include "core/linear/semidefinite.h"
#include "core/loops/loop_constraints.h"

namespace featherstorm {

// The solution for given constraints, also for loops that are closed by other means (loop_step.h).
// in      L (nh)       factor of H, of ltdl
// in      nc           rows of K
// in out  b (nv)       tau - C; destroyed
// in out  K (nc nv)    by rows; replaced by Y^T
// in out  lambda (nc)  k; replaced by the constraint forces
// out     A (nc nc), qdd (nv)
// Returns the rank of K.
template <class B, class Rows>
FS_HD auto solve_loops(const auto& m, int nc, const auto& L, B b, Rows K, auto A, const auto& tolerance, auto qdd,
                       auto lambda) {
  using T = ScalarOf<decltype(L)>;
  const int n = m.nv;
  // w = L^-T (tau - C),  Y = L^-T K^T
  B w = b;
  Rows Y = K;
  solve_lt<Factor::LTDL>(m, L, w);
  for (int c = 0; c < nc; c++) solve_lt<Factor::LTDL>(m, L, slice(Y, c * n));
  // A = Y^T D^-1 Y,  b = k - Y^T D^-1 w
  for (int c = 0; c < nc; c++)
    for (int j = 0; j < n; j++) {
      const T y = Y[c * n + j] * L[m.at(j, j)];
      lambda[c] = lambda[c] - y * w[j];
      for (int d = 0; d <= c; d++) A[c * nc + d] = (j == 0 ? T(0.0) : A[c * nc + d]) + y * Y[d * n + j];
    }
  const T rank = factor_semidefinite(nc, A, tolerance);
  solve_semidefinite(nc, A, lambda);
  // qdd = L^-1 D^-1 (w + Y lambda)
  for (int j = 0; j < n; j++) {
    for (int c = 0; c < nc; c++) w[j] = w[j] + Y[c * n + j] * lambda[c];
    qdd[j] = w[j] * L[m.at(j, j)];
  }
  solve_l<Factor::LTDL>(m, L, qdd);
  return rank;
}

// in   q (nq), qd (nv), tau (nv)  with the forces of loop joints added to tau (loop_forces)
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// in   rate [1/s]    1 / T_stab, as in loop_constraints.h
// in   tolerance     of the rank, as in semidefinite.h
// out  qdd (nv)      [rad/s^2 | m/s^2]
// out  lambda (nc)   [N m | N]  constraint forces on successors, in the columns of T
// out  rank (1)      of K
// Cost O(nb) + O(nc (nh + nc nv)).
template <class M, class L, class Q, class V, class Tau, class F, class Rate, class Tolerance, class Out, class OutL,
          class OutR>
FS_HD void fd_loops(const M& m, const L& loops, const Q& q, const V& qd, const Tau& tau, const F& f_ext,
                    const Rate& rate, const Tolerance& tolerance, Out qdd, OutL lambda, OutR rank) {
  using T = ScalarOf<Q>;
  auto H = scratch<T>(m.nh);
  auto b = scratch<T>(m.nv);
  auto K = scratch<T>(product(loops.nc, m.nv));
  auto A = scratch<T>(product(loops.nc, loops.nc));
  auto delta = scratch<T>(loops.nc);
  newton_euler(m, q, qd, Zeros<T>{}, f_ext, b.data());
  for (int j = 0; j < m.nv; j++) b[j] = tau[j] - b[j];
  crba(m, q, H.data());
  loop_constraints(m, loops, q, qd, rate, K.data(), lambda, delta.data());
  ltdl(m, H.data());
  rank[0] = solve_loops(m, loops.nc, H.data(), b.data(), K.data(), A.data(), tolerance, qdd, lambda);
}

}  // namespace featherstorm
