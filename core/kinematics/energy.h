// Kinetic and potential energy.
//
//   T = sum 1/2 v_i . I_i v_i + 1/2 armature qd^2 = 1/2 qd^T H qd        RBDA (2.67)
//   V = -sum m_i g . c_i, with c_i from the world's origin               so that dV/dq = ID(q, 0, 0)
#pragma once
#include "core/kinematics/first_moments.h"
#include "core/kinematics/spatial_motions.h"

namespace featherstorm {

// in   q (nq), qd (nv)
// out  energy (2)  [J]  kinetic (rotors included), potential (zero at the world's origin)
// Cost O(nb).
FS_HD void energy(const auto& m, const auto& q, const auto& qd, auto energy) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto mass = scratch<T>(m.nb + 1);
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto h = scratch<Vec3<T>>(m.nb + 1);
  T kinetic(0.0);
  // 2 T += v . I v
  spatial_velocities(m, q, qd, x, v, [&](int i) { kinetic = kinetic + dot(v[i], m.body[i].I * v[i]); });
  for (int k = 0; k < m.nv; k++) kinetic = kinetic + m.armature[k] * (qd[k] * qd[k]);
  energy[0] = kinetic * T(0.5);
  // V = -g . m c
  first_moments(m, x, mass, h);
  energy[1] = -dot(cast<T>(m.gravity), h[0]);
}

}  // namespace featherstorm
