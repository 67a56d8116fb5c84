// Outward sweeps: spatial velocities and accelerations of all bodies, each in its own axes. RBDA (5.7), (5.8).
//
//   v_i = X v_parent + S qd,   a_i = X a_parent + S qdd + c_J + v_i x S qd
//
// visit is called as soon as v_i and a_i are known. Work in the same loop holds fewer values at once than a loop of its
// own (go2: energy 43 instead of 105, floating_bias 127 instead of 184).
#pragma once
#include "core/model/joints.h"

namespace featherstorm {

// in   q (nq), qd (nv)
// in   visit(i)
// out  x (nx)  joint numbers of update_joint at rest
// out  v (nb + 1)
FS_HD void spatial_velocities(const auto& m, const auto& q, const auto& qd, auto& x, auto& v, const auto& visit) {
  using T = ScalarOf<decltype(x)>;
  v[0] = zero_motion<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    update_joint(m, i, q, Zeros<T>{}, x);
    with_joint(m, i, x, [&](const auto& J) { v[i] = apply(J, v[b.parent]) + J.velocity(slice(qd, b.v)); });
    visit(i);
  }
}

// in   q (nq), qd (nv), qdd (nv)  Zeros<T>{} for an absent qdd
// in   v, a of the bodies before `first`; v_0 = 0, and a_0 = -a_g to include gravity
// in   visit(i, J)  with the joint of body i
// out  x (nx)  joint numbers of update_joint
// out  v, a (nb + 1)
FS_HD void spatial_motions(const auto& m, const auto& q, const auto& qd, const auto& qdd, auto& x, auto& v, auto& a,
                           int first, const auto& visit) {
  for (int i = first; i <= m.nb; i++) {
    const auto& b = m.body[i];
    update_joint(m, i, q, qd, x);
    with_joint(m, i, x, [&](const auto& J) {
      const auto vJ = J.velocity(slice(qd, b.v));
      v[i] = apply(J, v[b.parent]) + vJ;
      a[i] = apply(J, a[b.parent]) + J.velocity(slice(qdd, b.v)) + J.bias(slice(qd, b.v)) + cross(v[i], vJ);
      visit(i, J);
    });
  }
}

}  // namespace featherstorm
