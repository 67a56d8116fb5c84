// Second rates along a motion q(t): each is the algorithm of the first rate on dual numbers whose derivatives are those
// of the motion. Garofalo et al., section V: each further rate needs one more derivative of q.
//
//   d^2 H/dt^2, d^2 g/dt^2 from qd, qdd;   d^2 C/dt^2 from qd, qdd, qddd;   d^2 J/dt^2 is jacobian_second_rate
//   (rates.h) d tau/dt = H qddd + (Hd + C) qdd + Cd qd + gd  and  d^2 tau/dt^2  of inverse dynamics, without any of the
//   matrices
#pragma once
#include "core/dynamics/rnea.h"
#include "core/rates/crba_rate.h"
#include "core/rates/rates.h"

namespace featherstorm {

// in   q (nq), qd (nv), qdd (nv)
// out  Hdd (nh)  packed as that of crba
FS_HD void crba_second_rate(const auto& m, const auto& q, const auto& qd, const auto& qdd, auto Hdd) {
  auto qe = scratch<Dual<ScalarOf<decltype(q)>>>(m.nq);
  along(m, q, qd, qe);
  crba_rate(m, qe.data(), dual_array(qd, qdd), derivatives_in(Hdd));
}

// in   q (nq), qd (nv), qdd (nv)
// out  gdd (nv)
FS_HD void gravity_torques_second_rate(const auto& m, const auto& q, const auto& qd, const auto& qdd, auto gdd) {
  auto qe = scratch<Dual<ScalarOf<decltype(q)>>>(m.nq);
  along(m, q, qd, qe);
  gravity_torques_rate(m, qe.data(), dual_array(qd, qdd), derivatives_in(gdd));
}

// in   q (nq), qd (nv), qdd (nv), qddd (nv)
// out  Cdd (nv nv)  by rows, Coriolis matrix of that form
template <Coriolis form = Coriolis::Christoffel>
FS_HD void coriolis_matrix_second_rate(const auto& m, const auto& q, const auto& qd, const auto& qdd, const auto& qddd,
                                       auto Cdd) {
  auto qe = scratch<Dual<ScalarOf<decltype(q)>>>(m.nq);
  along(m, q, qd, qe);
  coriolis_matrix_rate<form>(m, qe.data(), dual_array(qd, qdd), dual_array(qd, qdd), dual_array(qdd, qddd),
                             derivatives_in(Cdd));
}

// in   q (nq), qd (nv), qdd (nv), qddd (nv)
// out  tau (nv)  [N m | N], taud (nv)  [N m/s | N/s]  inverse dynamics and its rate, without external forces
// Cost O(nb).
FS_HD void rnea_rate(const auto& m, const auto& q, const auto& qd, const auto& qdd, const auto& qddd, auto tau,
                     auto taud) {
  using T = ScalarOf<decltype(q)>;
  auto qe = scratch<Dual<T>>(m.nq);
  auto t = scratch<Dual<T>>(m.nv);
  along(m, q, qd, qe);
  rnea(m, qe.data(), dual_array(qd, qdd), dual_array(qdd, qddd), Zeros<Dual<T>>{}, t.data());
  for (int k = 0; k < m.nv; k++) tau[k] = t[k].x, taud[k] = t[k].d;
}

// in   q (nq), qd (nv), qdd (nv), qddd (nv), qdddd (nv)
// out  tau (nv), taud (nv), taudd (nv)  also the second rate [N m/s^2 | N/s^2]
FS_HD void rnea_second_rate(const auto& m, const auto& q, const auto& qd, const auto& qdd, const auto& qddd,
                            const auto& qdddd, auto tau, auto taud, auto taudd) {
  using T = ScalarOf<decltype(q)>;
  auto qe = scratch<Dual<T>>(m.nq);
  auto t = scratch<Dual<T>>(m.nv);
  auto td = scratch<Dual<T>>(m.nv);
  along(m, q, qd, qe);
  rnea_rate(m, qe.data(), dual_array(qd, qdd), dual_array(qdd, qddd), dual_array(qddd, qdddd), t.data(), td.data());
  for (int k = 0; k < m.nv; k++) tau[k] = t[k].x, taud[k] = td[k].x, taudd[k] = td[k].d;
}

}  // namespace featherstorm
