// Derivatives of inverse and forward dynamics of robots with time-dependent joints (joint/timed.h): by the state at
// fixed time, on the tangent space, and by time at a fixed state.
//
//   dtau/dq, dtau/dqd, dtau/dt   of tau = ID(q, qd, qdd, t):   rnea.h on dual numbers, once for each column
//   dqdd/dx = -H^-1 dID/dx,  dqdd/dtau = H^-1,  x in {q, qd, t}   of qdd = FD(q, qd, tau, t), at that qdd
//
// Along a motion dtau = dtau/dq qd + dtau/dqd qdd + dtau/dt + H qddd. The recursion of rnea_derivatives.h has no drift
// and refuses such robots; for all others it gives the same at O(n depth) instead of O(n nb).
#pragma once
#include "core/derivatives/fd_derivatives.h"
#include "core/dynamics/rnea.h"
#include "core/rates/rates.h"

namespace featherstorm {

// Directional derivative of tau along (u, a, 1 where by_time) in (q, qd, t).
template <class F>
FS_HD void rnea_timed_along(const auto& m, const auto& q, const auto& qd, const auto& qdd, const auto& t,
                            const F& f_ext, const auto& u, const auto& a, bool by_time, auto taud) {
  using T = ScalarOf<decltype(q)>;
  auto qe = scratch<Dual<T>>(m.nq);
  auto tau = scratch<Dual<T>>(m.nv);
  const Dual<T> now(T(t), T(by_time ? 1.0 : 0.0));
  along(m, q, u, qe);
  const auto call = [&](const auto& f) {
    rnea(m, at_time(qe.data(), now), drifting(m, qe.data(), dual_array(qd, a), now), dual_array(qdd, Zeros<T>{}), f,
         tau.data());
  };
  if constexpr (is_given<F>) call(dual_array(f_ext, Zeros<T>{}));
  else call(Zeros<Dual<T>>{});
  for (int k = 0; k < m.nv; k++) taud[k] = tau[k].d;
}

// in   q (nq), qd (nv), qdd (nv), t [s]
// in   f_ext (6 nb)  as in rnea.h, kept as they are while q changes; Zeros<T>{} for none
// out  dtau_dq, dtau_dqd (nv nv)  row i: derivatives of tau_i;  dtau_dt (nv)  [N m/s | N/s]
// Cost O(n nb).
template <class OutQ, class OutV>
FS_HD void rnea_timed_derivatives(const auto& m, const auto& q, const auto& qd, const auto& qdd, const auto& t,
                                  const auto& f_ext, OutQ dtau_dq, OutV dtau_dqd, auto dtau_dt) {
  using T = ScalarOf<decltype(q)>;
  const Zeros<T> none;
  for (int k = 0; k < m.nv; k++) {
    const UnitArray<T> e{k};
    rnea_timed_along(m, q, qd, qdd, t, f_ext, e, none, false, Column<OutQ>{dtau_dq, m.nv, k});
    rnea_timed_along(m, q, qd, qdd, t, f_ext, none, e, false, Column<OutV>{dtau_dqd, m.nv, k});
  }
  rnea_timed_along(m, q, qd, qdd, t, f_ext, none, none, true, dtau_dt);
}

// in   q (nq), qd (nv), tau (nv), t [s], f_ext  as above
// out  qdd (nv)  forward dynamics
// out  dqdd_dq, dqdd_dqd, dqdd_dtau (nv nv)  row i: derivatives of qdd_i;  dqdd_dt (nv)
// Cost O(n nb + n^2 d).
template <class OutQ, class OutV>
FS_HD void fd_timed_derivatives(const auto& m, const auto& q, const auto& qd, const auto& tau, const auto& t,
                                const auto& f_ext, auto qdd, OutQ dqdd_dq, OutV dqdd_dqd, auto dqdd_dtau,
                                auto dqdd_dt) {
  using T = ScalarOf<decltype(q)>;
  auto L = scratch<T>(m.nh);
  auto x = scratch<T>(m.nv);
  newton_euler(m, at_time(q, T(t)), drifting(m, q, qd, T(t)), Zeros<T>{}, f_ext, x.data());
  for (int k = 0; k < m.nv; k++) x[k] = tau[k] - x[k];
  crba(m, at_time(q, T(t)), L.data());
  ltdl(m, L.data());
  solve<Factor::LTDL>(m, L.data(), x.data());
  for (int k = 0; k < m.nv; k++) qdd[k] = x[k];
  auto a = scratch<T>(m.nv);
  for (int k = 0; k < m.nv; k++) a[k] = x[k];
  rnea_timed_derivatives(m, q, qd, a.data(), t, f_ext, dqdd_dq, dqdd_dqd, dqdd_dt);
  const auto eliminate = [&](const auto& c) {
    for (int i = 0; i < m.nv; i++) x[i] = -c[i];
    solve<Factor::LTDL>(m, L.data(), x.data());
    for (int i = 0; i < m.nv; i++) c[i] = x[i];
  };
  eliminate(dqdd_dt);
  for (int k = 0; k < m.nv; k++) {
    eliminate(Column<OutQ>{dqdd_dq, m.nv, k}), eliminate(Column<OutV>{dqdd_dqd, m.nv, k});
    for (int i = 0; i < m.nv; i++) x[i] = T(i == k ? 1.0 : 0.0);
    solve<Factor::LTDL>(m, L.data(), x.data());
    for (int i = 0; i < m.nv; i++) dqdd_dtau[i * m.nv + k] = x[i];
  }
}

}  // namespace featherstorm
