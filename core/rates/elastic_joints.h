// Feedforward of robots with elastic joints: the motor positions and torques for a motion of the links. Garofalo et al.
// name this use first for the rates of M, C and g (section I).
//
//   links   ID(q, qd, qdd) = tau = K (theta - q)        motors   B thetadd + tau = tau_m
//   theta = q + tau / K,   thetad = qd + taud / K,   tau_m = B (qdd + taudd / K) + tau
//
// Rotors turn about their own axes only. The model's armature belongs to the links: it is 0 where the rotor is
// behind the spring.
#pragma once
#include "core/rates/higher_rates.h"

namespace featherstorm {

// in   q (nq), qd, qdd, qddd, qdddd (nv)  a motion with its derivatives
// in   stiffness (nv)  K > 0 [N m/rad | N/m],  inertia (nv)  B [kg m^2 | kg]
// out  deflection (nv)  theta - q [rad | m],  thetad (nv) [rad/s | m/s]
// out  tau_m (nv)  [N m | N]
// Cost O(nb).
template <class M, class Q, class V, class A, class D3, class D4, class K, class B, class OutD, class OutV, class Out>
FS_HD void elastic_feedforward(const M& m, const Q& q, const V& qd, const A& qdd, const D3& qddd, const D4& qdddd,
                               const K& stiffness, const B& inertia, OutD deflection, OutV thetad, Out tau_m) {
  using T = ScalarOf<Q>;
  auto tau = scratch<T>(m.nv);
  auto taud = scratch<T>(m.nv);
  auto taudd = scratch<T>(m.nv);
  rnea_second_rate(m, q, qd, qdd, qddd, qdddd, tau.data(), taud.data(), taudd.data());
  for (int k = 0; k < m.nv; k++) {
    const T compliance = rcp(T(stiffness[k]));
    deflection[k] = tau[k] * compliance;
    thetad[k] = qd[k] + taud[k] * compliance;
    tau_m[k] = (qdd[k] + taudd[k] * compliance) * inertia[k] + tau[k];
  }
}

}  // namespace featherstorm
