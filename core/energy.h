// Kinetic and potential energy.
//
//   T = sum 1/2 v_i . I_i v_i + 1/2 armature qd^2 = 1/2 qd^T H qd        RBDA (2.67)
//   V = -sum m_i g . c_i, with c_i from the world's origin               so that dV/dq = ID(q, 0, 0)
#pragma once
#include "core/kinematics.h"

namespace featherstorm {

// in   q (nq), qd (nv)
// out  energy (2)  [J]  kinetic (rotors included), potential (zero at the world's origin)
// Cost O(nb).
template <class M, class Q, class V, class Out> FS_HD void energy(const M& m, const Q& q, const V& qd, Out energy) {
  using T = ScalarOf<Q>;
  auto x = scratch<T>(m.nx);
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto X = scratch<Placement<T>>(m.nb + 1);
  T kinetic(0.0), potential(0.0);
  for (int i = 1; i <= m.nb; i++) update_joint(m, i, q, Zeros<T>{}, x);
  body_placements(m, x, X);
  v[0] = zero_motion<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) { v[i] = apply(J, v[b.parent]) + J.velocity(slice(qd, b.v)); });
    // 2 T += v . I v,  V -= g . m c,  m c = m r + R h
    kinetic = kinetic + dot(v[i], b.I * v[i]);
    potential = potential - dot(m.gravity, X[i].r * b.I.m + X[i].R * b.I.h);
  }
  for (int k = 0; k < m.nv; k++) kinetic = kinetic + m.armature[k] * (qd[k] * qd[k]);
  energy[0] = kinetic * T(0.5);
  energy[1] = potential;
}

}  // namespace featherstorm
