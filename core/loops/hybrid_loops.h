// Hybrid dynamics of closed loops: some joints of the spanning tree have prescribed accelerations, the others known
// forces. Announced as Kim's section 3.3; RBDA (9.1) with the constraints of (8.37)-(8.41).
//
//   H11 qdd1 = tau1 - C'1 + K1^T lambda,   K1 qdd1 = k - K2 qdd2,   tau2 = C'2 + H21 qdd1 - K2^T lambda
//
// 1: joints with known forces, 2: prescribed joints, C' = ID(q, qd, [0; qdd2]). With no joint prescribed it is
// fd_loops.h. If the remaining constraints K1 have dependent rows, some lambda have no effect on joints 1: K1^T mu =
// 0. They distribute the load among the prescribed joints, which are over-determined, and the shortest tau2 is chosen,
// as in id_loops.h; with all joints prescribed it is Kim's (65). The null vectors of A = K1 H11^-1 K1^T are the columns
// of L^-T whose pivot vanishes (semidefinite.h), so each instance has its own rank and there is no branch.
#pragma once
#include "core/dynamics/crba.h"
#include "core/dynamics/newton_euler.h"
#include "core/linear/ltdl.h"
#include "core/linear/semidefinite.h"
#include "core/loops/loop_constraints.h"

namespace featherstorm {

// in   prescribed (nv)  1 where the acceleration of the coordinate is given, 0 where the force is; may differ within a
//      batch
// in   q (nq), qd (nv)
// in   qdd (nv)  taken at prescribed joints     tau (nv)  taken at the others, with the forces of loop joints added
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// in   rate [1/s]    1 / T_stab, as in loop_constraints.h
// in   tolerance     of the ranks, as in semidefinite.h
// out  qdd_out (nv)  [rad/s^2 | m/s^2], tau_out (nv)  [N m | N]  all joints
// out  lambda (nc)   [N m | N]  constraint forces on successors, in the columns of T
// out  rank (1)      of K1: n1 - rank freedoms remain to the dynamics
// out  violation (nc)  K qdd - k [rad/s^2 | m/s^2]; not zero where the prescribed accelerations open a loop
// Cost O(nb) + O(nc (nh + nc nv)).
template <class M, class L, class Marks, class Q, class V, class A, class Tau, class F, class Rate, class Tolerance,
          class OutA, class OutTau, class OutL, class OutR, class OutE>
FS_HD void hybrid_loops(const M& m, const L& loops, const Marks& prescribed, const Q& q, const V& qd, const A& qdd,
                        const Tau& tau, const F& f_ext, const Rate& rate, const Tolerance& tolerance, OutA qdd_out,
                        OutTau tau_out, OutL lambda, OutR rank, OutE violation) {
  using T = ScalarOf<Q>;
  const int n = m.nv, nc = loops.nc;
  const T zero(0.0), one(1.0), half(0.5);
  auto H = scratch<T>(m.nh);
  auto H11 = scratch<T>(m.nh);
  auto C = scratch<T>(m.nv);
  auto w = scratch<T>(m.nv);
  auto h = scratch<T>(m.nv);
  auto K = scratch<T>(product(loops.nc, m.nv));
  auto Y = scratch<T>(product(loops.nc, m.nv));  // rows of K1, then of L^-T K1^T; then K2^T mu
  auto B = scratch<T>(product(loops.nc, loops.nc));
  auto mu = scratch<T>(product(loops.nc, loops.nc));
  auto s = scratch<T>(loops.nc);
  // x at the coordinates that are prescribed, y at the others
  const auto given = [&](int k, const T& x, const T& y) { return select(half < T(prescribed[k]), x, y); };
  for (int j = 0; j < n; j++) w[j] = given(j, T(qdd[j]), zero);
  newton_euler(m, q, qd, w.data(), f_ext, C.data());
  crba(m, q, H.data());
  for (int i = 0; i < n; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j])
      H11[m.at(i, j)] = select(half < T(prescribed[i]) + T(prescribed[j]), i == j ? one : zero, H[m.at(i, j)]);
  ltdl(m, H11.data());
  // violation holds k, s holds delta
  loop_constraints(m, loops, q, qd, rate, K.data(), violation, s.data());
  // w = L^-T (tau1 - C'1),  Y = L^-T K1^T
  for (int j = 0; j < n; j++) w[j] = given(j, zero, T(tau[j]) - C[j]);
  solve_lt<Factor::LTDL>(m, H11.data(), w.data());
  for (int c = 0; c < nc; c++) {
    lambda[c] = violation[c];
    for (int j = 0; j < n; j++) {
      Y[c * n + j] = given(j, zero, K[c * n + j]);
      lambda[c] = lambda[c] - given(j, K[c * n + j] * qdd[j], zero);
    }
    solve_lt<Factor::LTDL>(m, H11.data(), slice(Y.data(), c * n));
  }
  // A = Y^T D^-1 Y,  A lambda = k - K2 qdd2 - Y^T D^-1 w
  for (int c = 0; c < nc; c++)
    for (int j = 0; j < n; j++) {
      const T y = Y[c * n + j] * H11[m.at(j, j)];
      lambda[c] = lambda[c] - y * w[j];
      for (int d = 0; d <= c; d++) B[c * nc + d] = (j == 0 ? zero : B[c * nc + d]) + y * Y[d * n + j];
    }
  rank[0] = factor_semidefinite(nc, B.data(), tolerance);
  solve_semidefinite(nc, B.data(), lambda);
  // qdd1 = L^-1 D^-1 (w + Y lambda)
  for (int j = 0; j < n; j++) {
    for (int c = 0; c < nc; c++) w[j] = w[j] + Y[c * n + j] * lambda[c];
    w[j] = w[j] * H11[m.at(j, j)];
  }
  solve_l<Factor::LTDL>(m, H11.data(), w.data());
  for (int j = 0; j < n; j++) {
    const T a = given(j, T(qdd[j]), w[j]);
    w[j] = given(j, zero, w[j]);
    qdd_out[j] = a;
  }
  for (int c = 0; c < nc; c++) {
    violation[c] = -violation[c];
    for (int j = 0; j < n; j++) violation[c] = violation[c] + K[c * n + j] * qdd_out[j];
  }
  // tau2 = C'2 + H21 qdd1 - K2^T lambda
  mul_h(m, H.data(), w, h.data());
  for (int j = 0; j < n; j++) {
    h[j] = C[j] + h[j];
    for (int c = 0; c < nc; c++) h[j] = h[j] - K[c * n + j] * lambda[c];
    h[j] = given(j, h[j], zero);
  }
  // the null vectors mu_c = L^-T e_c of A at vanishing pivots, zero at others; Y = K2^T mu
  for (int c = 0; c < nc; c++) {
    const auto x = slice(mu.data(), c * nc);
    const T pivot = B[c * nc + c];
    for (int d = 0; d < nc; d++) x[d] = d == c ? select(abs(pivot) <= zero, one, zero) : zero;
    for (int d = c; d >= 0; d--)
      for (int e = 0; e < d; e++) x[e] = x[e] - B[d * nc + e] * x[d];
    // a vector without effect on joints 2 either consists of rounding errors there
    T size = zero, terms = zero;
    for (int j = 0; j < n; j++) {
      T y = zero;
      for (int d = 0; d < nc; d++) {
        const T t = given(j, K[d * n + j], zero) * x[d];
        y = y + t, terms = terms + t * t;
      }
      Y[c * n + j] = y, size = size + y * y;
    }
    const auto shows = terms * T(tolerance) < size;
    for (int j = 0; j < n; j++) Y[c * n + j] = select(shows, Y[c * n + j], zero);
  }
  // the shortest tau2 - Y s:  Y^T Y s = Y^T tau2
  for (int c = 0; c < nc; c++) {
    s[c] = zero;
    for (int j = 0; j < n; j++) s[c] = s[c] + Y[c * n + j] * h[j];
    for (int d = 0; d <= c; d++) {
      T y = zero;
      for (int j = 0; j < n; j++) y = y + Y[c * n + j] * Y[d * n + j];
      B[c * nc + d] = y;
    }
  }
  factor_semidefinite(nc, B.data(), tolerance);
  solve_semidefinite(nc, B.data(), s.data());
  for (int c = 0; c < nc; c++) {
    for (int j = 0; j < n; j++) h[j] = h[j] - Y[c * n + j] * s[c];
    for (int d = 0; d < nc; d++) lambda[d] = lambda[d] + mu[c * nc + d] * s[c];
  }
  for (int j = 0; j < n; j++) {
    const T f = given(j, h[j], T(tau[j]));
    tau_out[j] = f;
  }
}

}  // namespace featherstorm
