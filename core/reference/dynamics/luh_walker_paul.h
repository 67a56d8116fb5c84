// Original recursive Newton-Euler equations of Luh, Walker and Paul, in 3-vectors. RBDA section 5.4, Table 5.2.
//
//   w_i = E w + z qd_i                    F_i = m (v'_i + w'_i × c + w_i × (w_i × c))
//   w'_i = E w' + z qdd_i + (E w) × z qd_i    N_i = I_C w'_i + w_i × I_C w_i
//   v'_i = E (v' + w' × r + w × (w × r))  f_i = F_i + sum E^T f_j,  n_i = N_i + c × F_i + sum (E^T n_j + r_j × E^T f_j)
//   tau_i = z^T n_i
//
// for trees of revolute joints. v'_i is the classical acceleration of the origin of body i; linear velocities are never
// needed. Gravity enters as v'_0 = -g. Kernels run newton_euler.h, the form for all joints. This file follows the book
// line by line and serves as its oracle.
#pragma once
#include "core/model/joints.h"
#include "core/scalar/scratch.h"
#include "core/spatial/mass_centre.h"

namespace featherstorm {

// Returns true if luh_walker_paul supports this model.
bool all_revolute(const auto& m) {
  for (int i = 1; i <= m.nb; i++)
    if (m.body[i].shape != JointShape::Revolute && m.body[i].shape != JointShape::RevoluteTilted) return false;
  return true;
}

// in   q (nq), qd (nv), qdd (nv)     all joints must be revolute (all_revolute)
// out  tau (nv)  [N m]
// Cost O(nb). Armatures as in rnea.h.
FS_HD void luh_walker_paul(const auto& m, const auto& q, const auto& qd, const auto& qdd, auto tau) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto w = scratch<Vec3<T>>(m.nb + 1), wd = scratch<Vec3<T>>(m.nb + 1), vd = scratch<Vec3<T>>(m.nb + 1);
  auto f = scratch<Vec3<T>>(m.nb + 1), n = scratch<Vec3<T>>(m.nb + 1);
  w[0] = wd[0] = f[0] = n[0] = zero3<T>();
  vd[0] = -cast<T>(m.gravity);
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    update_joint(m, i, q, qd, x);
    with_joint(m, i, x, [&](const auto& J) {
      const Vec3<T>&W = w[b.parent], &Wd = wd[b.parent];
      const Vec3<T> EW = J.rotate_back(W), zqd{T(0.0), T(0.0), T(qd[b.v])}, zqdd{T(0.0), T(0.0), T(qdd[b.v])};
      w[i] = EW + zqd;
      wd[i] = J.rotate_back(Wd) + zqdd + cross(EW, zqd);
      vd[i] = J.rotate_back(vd[b.parent] + cross(Wd, J.origin()) + cross(W, cross(W, J.origin())));
    });
    const auto [c, I_C] = mass_centre<T>(b.I);
    const Vec3<T> F = (vd[i] + cross(wd[i], c) + cross(w[i], cross(w[i], c))) * b.I.m;
    const Vec3<T> N = I_C * wd[i] + cross(w[i], I_C * w[i]);
    f[i] = F;
    n[i] = N + cross(c, F);
  }
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    tau[b.v] = n[i].z() + m.armature[b.v] * T(qdd[b.v]);
    with_joint(m, i, x, [&](const auto& J) {
      const Vec3<T> g = J.rotate(f[i]);
      f[b.parent] = f[b.parent] + g;
      n[b.parent] = n[b.parent] + J.rotate(n[i]) + cross(J.origin(), g);
    });
  }
}

}  // namespace featherstorm
