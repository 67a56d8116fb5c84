// Second rates along a motion q(t): each is the text of the first rate on dual numbers whose derivatives are those of
// the motion. Garofalo et al., section V: each further one needs one more derivative of q.
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
template <class M, class Q, class V, class A, class Out>
FS_HD void crba_second_rate(const M& m, const Q& q, const V& qd, const A& qdd, Out Hdd) {
  auto qe = scratch<Dual<ScalarOf<Q>>>(m.nq);
  along(m, q, qd, qe);
  crba_rate(m, qe.data(), dual_array(qd, qdd), derivatives_in(Hdd));
}

// in   q (nq), qd (nv), qdd (nv)
// out  gdd (nv)
template <class M, class Q, class V, class A, class Out>
FS_HD void gravity_torques_second_rate(const M& m, const Q& q, const V& qd, const A& qdd, Out gdd) {
  auto qe = scratch<Dual<ScalarOf<Q>>>(m.nq);
  along(m, q, qd, qe);
  gravity_torques_rate(m, qe.data(), dual_array(qd, qdd), derivatives_in(gdd));
}

// in   q (nq), qd (nv), qdd (nv), qddd (nv)
// out  Cdd (nv nv)  by rows, Coriolis matrix of that form
template <Coriolis form = Coriolis::Christoffel, class M, class Q, class V, class A, class B, class Out>
FS_HD void coriolis_matrix_second_rate(const M& m, const Q& q, const V& qd, const A& qdd, const B& qddd, Out Cdd) {
  auto qe = scratch<Dual<ScalarOf<Q>>>(m.nq);
  along(m, q, qd, qe);
  coriolis_matrix_rate<form>(m, qe.data(), dual_array(qd, qdd), dual_array(qd, qdd), dual_array(qdd, qddd),
                             derivatives_in(Cdd));
}

// in   q (nq), qd (nv), qdd (nv), qddd (nv)
// out  tau (nv)  [N m | N], taud (nv)  [N m/s | N/s]  inverse dynamics and its rate, without external forces
// Cost O(nb).
template <class M, class Q, class V, class A, class B, class Out, class OutD>
FS_HD void rnea_rate(const M& m, const Q& q, const V& qd, const A& qdd, const B& qddd, Out tau, OutD taud) {
  using T = ScalarOf<Q>;
  auto qe = scratch<Dual<T>>(m.nq);
  auto t = scratch<Dual<T>>(m.nv);
  along(m, q, qd, qe);
  rnea(m, qe.data(), dual_array(qd, qdd), dual_array(qdd, qddd), Zeros<Dual<T>>{}, t.data());
  for (int k = 0; k < m.nv; k++) tau[k] = t[k].x, taud[k] = t[k].d;
}

// in   q (nq), qd (nv), qdd (nv), qddd (nv), qdddd (nv)
// out  tau (nv), taud (nv), taudd (nv)  with the second rate [N m/s^2 | N/s^2] besides
template <class M, class Q, class V, class A, class B, class D, class Out, class OutD, class OutDD>
FS_HD void rnea_second_rate(const M& m, const Q& q, const V& qd, const A& qdd, const B& qddd, const D& qdddd, Out tau,
                            OutD taud, OutDD taudd) {
  using T = ScalarOf<Q>;
  auto qe = scratch<Dual<T>>(m.nq);
  auto t = scratch<Dual<T>>(m.nv);
  auto td = scratch<Dual<T>>(m.nv);
  along(m, q, qd, qe);
  rnea_rate(m, qe.data(), dual_array(qd, qdd), dual_array(qdd, qddd), dual_array(qddd, qdddd), t.data(), td.data());
  for (int k = 0; k < m.nv; k++) tau[k] = t[k].x, taud[k] = td[k].x, taudd[k] = td[k].d;
}

}  // namespace featherstorm
