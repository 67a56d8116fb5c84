// Second derivatives of forward dynamics, contracted with one direction, by the implicit form: along (u, a, w) in (q,
// qd, tau), with ' for d/de and b = qdd' = dqdd/dq u + dqdd/dqd a + H^-1 w,
//
//   (dqdd/dq)'  = -H^-1 ((dID/dq)'  + H' dqdd/dq)
//   (dqdd/dqd)' = -H^-1 ((dID/dqd)' + H' dqdd/dqd)
//   (H^-1)'     = -H^-1 H' H^-1
//
// from differentiating H dqdd/dx = -dID/dx once more. (dID/dx)' along (u, a, b) is rnea_second_derivatives.h, H' along
// u is crba_rate.h. One call with each unit vector for u, a or w gives a slice of the Hessian tensors.
#pragma once
#include "core/derivatives/fd_derivatives.h"
#include "core/derivatives/rnea_second_derivatives.h"
#include "core/rates/crba_rate.h"

namespace featherstorm {

// in   q (nq), qd (nv), tau (nv)
// in   f_ext (6 nb)  as in rnea_derivatives.h; Zeros<T>{} for none
// in   u, a, w (nv)  direction in q, qd and tau
// out  by_q, by_qd, by_tau (nv nv)  row i: derivatives of qdd_i by q, qd and tau, differentiated along the direction
// Cost O(n d^2 + n^2 d).
template <class M, class Q, class V, class Tau, class F, class Du, class Da, class Dw, class OutQ, class OutV,
          class OutTau>
FS_HD void fd_second_derivatives(const M& m, const Q& q, const V& qd, const Tau& tau, const F& f_ext, const Du& u,
                                 const Da& a, const Dw& w, OutQ by_q, OutV by_qd, OutTau by_tau) {
  using T = ScalarOf<Q>;
  const int n = m.nv;
  auto first_q = scratch<T>(product(m.nv, m.nv));
  auto first_qd = scratch<T>(product(m.nv, m.nv));
  auto Hinv = scratch<T>(product(m.nv, m.nv));
  auto qdd = scratch<T>(m.nv);
  auto b = scratch<T>(m.nv);
  auto H = scratch<T>(m.nh);
  auto Hd = scratch<T>(m.nh);
  auto x = scratch<T>(m.nv);
  auto y = scratch<T>(m.nv);
  fd_derivatives(m, q, qd, tau, f_ext, qdd.data(), first_q.data(), first_qd.data(), Hinv.data());
  for (int i = 0; i < n; i++) {
    b[i] = T(0.0);
    for (int k = 0; k < n; k++)
      b[i] = b[i] + first_q[i * n + k] * u[k] + first_qd[i * n + k] * a[k] + Hinv[i * n + k] * w[k];
  }
  rnea_second_derivatives(m, q, qd, qdd.data(), f_ext, u, a, b.data(), by_q, by_qd);
  crba_rate(m, q, u, Hd.data());
  crba(m, q, H.data());
  ltdl(m, H.data());
  // column k: -H^-1 (ID' + H' D e_k)
  const auto column = [&](auto second, const auto& first, int k, bool with_id) {
    const Column<decltype(second)> c{second, n, k};
    for (int i = 0; i < n; i++) x[i] = first[i * n + k];
    mul_h(m, Hd.data(), x, y.data());
    for (int i = 0; i < n; i++) y[i] = with_id ? -(y[i] + c[i]) : -y[i];
    solve<Factor::LTDL>(m, H.data(), y.data());
    for (int i = 0; i < n; i++) c[i] = y[i];
  };
  for (int k = 0; k < n; k++) {
    column(by_q, first_q, k, true);
    column(by_qd, first_qd, k, true);
    column(by_tau, Hinv, k, false);
  }
}

}  // namespace featherstorm
