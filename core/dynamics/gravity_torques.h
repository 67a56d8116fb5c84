// Inverse dynamics of a robot at rest: the joint forces that hold its weight. RBDA (5.12), (5.13).
//
//   f_i = -sum over the subtree I_j a_g = -(h × g; m g),   tau_i = S^T f_i
//
// with mass m and first moment h of the subtree about the origin of body i, g in its axes. No spatial vector is
// transformed.
#pragma once
#include "core/kinematics/first_moments.h"

namespace featherstorm {

// in   q (nq)
// out  tau (nv)  [N m | N]  ID(q, 0, 0) = dV/dq
// Cost O(nb).
FS_HD void gravity_torques(const auto& m, const auto& q, auto tau) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto mass = scratch<T>(m.nb + 1);
  auto g = scratch<Vec3<T>>(m.nb + 1);
  auto h = scratch<Vec3<T>>(m.nb + 1);
  update_joints(m, q, Zeros<T>{}, x);
  first_moments(m, x, mass, h);
  g[0] = cast<T>(m.gravity);
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      g[i] = J.rotate_back(g[b.parent]);
      // tau = S^T f,  f = (g × h; -m g)
      const Force<T> f{cross(g[i], h[i]), -(g[i] * mass[i])};
      for (int k = 0; k < J.nv; k++) tau[b.v + k] = J.project(k, f);
    });
  }
}

}  // namespace featherstorm
