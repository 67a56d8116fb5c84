// Derivatives of hybrid dynamics by the implicit form; announced for Kim's section 4, Carpentier and Mansard 2018 for
// ID.
//
//   y = [qdd1; tau2] solves ID(q, qd, [qdd1; qdd2]) = [tau1; tau2],  x = [tau1; qdd2] is given (hybrid_crba.h), so
//
//   H11 dqdd1 = dtau1 - dID1 - H12 dqdd2,   dtau2 = dID2 + H21 dqdd1 + H22 dqdd2
//
// with dID at that qdd (rnea_derivatives.h), on the tangent space. With no joint prescribed these are the derivatives
// of forward dynamics (fd_derivatives.h), with all of them those of inverse dynamics and dy/dx = H.
//
// The prescribed joints are given as a number of each coordinate as in hybrid_select.h, or as an array of joints as in
// hybrid_aba.h.
#pragma once
#include "core/derivatives/fd_derivatives.h"
#include "core/dynamics/crba.h"
#include "core/hybrid/hybrid_crba.h"

namespace featherstorm {

// Prescribed joints (nb + 1) as numbers of their coordinates.
template <class T, class M, class Joints> struct MarksOfJoints {
  const M& m;
  const Joints& prescribed;
  FS_HD T operator[](int k) const { return T(prescribed[m.dof_body[k]] ? 1.0 : 0.0); }
};

// in   prescribed (nv)  1 where the acceleration of the coordinate is given, 0 where the force is
// in   q (nq), qd (nv)
// in   qdd (nv)  taken at prescribed coordinates    tau (nv)  taken at the others
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  qdd_out (nv), tau_out (nv)  as hybrid_select
// out  y_q, y_qd, y_x (nv nv)  row i: derivatives of tau_i where i is prescribed, else of qdd_i; columns of y_x by qdd_k
//      where k is prescribed, else by tau_k
// Cost O(n d^2 + n^2 d).
template <class M, class Marks, class Q, class V, class A, class Tau, class F, class OutA, class OutTau, class OutQ,
          class OutV, class OutX>
FS_HD void hybrid_derivatives_select(const M& m, const Marks& prescribed, const Q& q, const V& qd, const A& qdd,
                                     const Tau& tau, const F& f_ext, OutA qdd_out, OutTau tau_out, OutQ y_q, OutV y_qd,
                                     OutX y_x) {
  using T = ScalarOf<Q>;
  const int n = m.nv;
  const T zero(0.0), one(1.0), half(0.5);
  auto H = scratch<T>(m.nh);
  auto H11 = scratch<T>(m.nh);
  auto z = scratch<T>(m.nv);
  auto h = scratch<T>(m.nv);
  auto a = scratch<T>(m.nv);
  auto g = scratch<T>(m.nv);
  const auto given = [&](int k) { return half < T(prescribed[k]); };
  // [H11 0; 0 1]
  crba(m, q, H.data());
  for (int i = 0; i < n; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j])
      H11[m.at(i, j)] = select(half < T(prescribed[i]) + T(prescribed[j]), i == j ? one : zero, H[m.at(i, j)]);
  ltdl(m, H11.data());
  // z = [H11^-1 z1; 0],  h = H z
  const auto solve_free = [&] {
    for (int k = 0; k < n; k++) z[k] = select(given(k), zero, z[k]);
    solve<Factor::LTDL>(m, H11.data(), z.data());
    mul_h(m, H.data(), z, h.data());
  };
  // qdd1 = H11^-1 (tau1 - C'1),  tau2 = C'2 + H21 qdd1
  for (int k = 0; k < n; k++) a[k] = select(given(k), T(qdd[k]), zero);
  newton_euler(m, q, qd, a.data(), f_ext, g.data());
  for (int k = 0; k < n; k++) z[k] = T(tau[k]) - g[k];
  solve_free();
  for (int k = 0; k < n; k++) {
    a[k] = select(given(k), a[k], z[k]), g[k] = select(given(k), g[k] + h[k], T(tau[k]));
    qdd_out[k] = a[k], tau_out[k] = g[k];
  }
  rnea_derivatives(m, q, qd, a.data(), f_ext, y_q, y_qd);
  const auto eliminate = [&](auto matrix, int k) {
    const Column<decltype(matrix)> c{matrix, n, k};
    for (int i = 0; i < n; i++) z[i] = -c[i];
    solve_free();
    for (int i = 0; i < n; i++) c[i] = select(given(i), c[i] + h[i], z[i]);
  };
  for (int k = 0; k < n; k++) {
    eliminate(y_q, k), eliminate(y_qd, k);
    // by x_k: g = H e_k where it is an acceleration
    mul_h(m, H.data(), UnitArray<T>{k}, g.data());
    for (int i = 0; i < n; i++) {
      g[i] = select(given(k), g[i], zero);
      z[i] = (i == k ? one : zero) - g[i];
    }
    solve_free();
    for (int i = 0; i < n; i++) y_x[i * n + k] = select(given(i), g[i] + h[i], z[i]);
  }
}

// in   prescribed (nb + 1)  as in hybrid_aba.h; the others as above
template <class M, class Joints, class Q, class V, class A, class Tau, class F, class OutA, class OutTau, class OutQ,
          class OutV, class OutX>
FS_HD void hybrid_derivatives(const M& m, const Joints& prescribed, const Q& q, const V& qd, const A& qdd,
                              const Tau& tau, const F& f_ext, OutA qdd_out, OutTau tau_out, OutQ y_q, OutV y_qd,
                              OutX y_x) {
  const MarksOfJoints<ScalarOf<Q>, M, Joints> marks{m, prescribed};
  hybrid_derivatives_select(m, marks, q, qd, qdd, tau, f_ext, qdd_out, tau_out, y_q, y_qd, y_x);
}

}  // namespace featherstorm
