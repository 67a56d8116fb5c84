// Wrench transmitted by each joint: the force that the parent exerts on the body through the joint. RBDA (5.20), Table
// 5.1.
//
//   f_i = I_i a_i + v_i x* I_i v_i - f_ext_i + sum over children X^T f_j,   a_0 = -a_g
//
// It includes the weight of the bodies beyond the joint, as a sensor there measures it. Its part along the joint's axes
// is the drive's force, tau = S^T f + armature qdd; the bearing carries the rest. A motor's rotor is assumed to react
// only along the axis.
#pragma once
#include "core/dynamics/external_force.h"
#include "core/kinematics/kinematics.h"
#include "core/kinematics/spatial_motions.h"

namespace featherstorm {

// in   q (nq), qd (nv), qdd (nv)  qdd true accelerations
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  wrench (6 nb)  [N m, N]  on each body from its parent, as f_ext: moment about the body's origin and force, world
//      axes. The origin is that of the joint's child link
// Cost O(nb).
FS_HD void joint_wrenches(const auto& m, const auto& q, const auto& qd, const auto& qdd, const auto& f_ext,
                          auto wrench) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto a = scratch<Motion<T>>(m.nb + 1);
  auto f = scratch<Force<T>>(m.nb + 1);
  auto X = scratch<Placement<T>>(m.nb + 1);
  auto external = external_force<T>(m, f_ext);
  // v_0 = 0, a_0 = -a_g
  v[0] = zero_motion<T>();
  a[0] = {zero3<T>(), -cast<T>(m.gravity)};
  f[0] = zero_force<T>();
  spatial_motions(m, q, qd, qdd, x, v, a, 1, [&](int i, const auto& J) {
    // f_i = I a_i + v_i x* I v_i - X* f_ext
    f[i] = m.body[i].I * a[i] + cross_dual(v[i], m.body[i].I * v[i]) - external.on_body(i, m.body[i].parent, J);
  });
  body_placements(m, x, X);
  for (int i = m.nb; i >= 1; i--) {
    const int p = m.body[i].parent;
    // f_parent += X^T f_i
    with_joint(m, i, x, [&](const auto& J) { f[p] += apply_transpose(J, f[i]); });
    // written while f_i is in a register: a separate loop reads it once more, 5 to 9 % of the total time
    const Vec3<T> n = X[i].R * f[i].n, g = X[i].R * f[i].f;
    for (int k = 0; k < 3; k++) wrench[6 * (i - 1) + k] = n(k), wrench[6 * (i - 1) + 3 + k] = g(k);
  }
}

}  // namespace featherstorm
