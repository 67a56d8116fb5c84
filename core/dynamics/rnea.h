// Recursive Newton-Euler algorithm, spatial form, body coordinates. RBDA Table 5.1.
//
//   tau = ID(model, q, qd, qdd, f_ext) = H(q) qdd + C(q, qd, f_ext)
//
// newton_euler.h has the same map in classical accelerations with fewer operations; both are tested against each other.
#pragma once
#include "core/dynamics/external_force.h"
#include "core/model/joints.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// The two sweeps, for a moving base.
//
// in   v_0, a_0  motion of the base, its axes; a_0 is its acceleration less that of gravity
// out  x (nx)  joint numbers
// out  f (nb + 1)  force on each body through its joint, body axes; f[0] the force that the base must exert
// The others are as below.
template <class T>
FS_HD void rnea_on_base(const auto& m, const Motion<T>& v_0, const Motion<T>& a_0, const auto& q, const auto& qd,
                        const auto& qdd, const auto& f_ext, auto& x, auto& f, auto tau) {
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto a = scratch<Motion<T>>(m.nb + 1);
  auto external = external_force<T>(m, f_ext);
  v[0] = v_0;
  a[0] = a_0;
  f[0] = zero_force<T>();
  remark<T>("inverse dynamics, outward: velocities, accelerations, forces on bodies");
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    update_joint(m, i, q, qd, x);
    with_joint(m, i, x, [&](const auto& J) {
      const auto vJ = J.velocity(slice(qd, b.v));
      // v_i = X v_parent + S qd
      v[i] = apply(J, v[b.parent]) + vJ;
      // a_i = X a_parent + S qdd + c_J + v_i x S qd
      a[i] = apply(J, a[b.parent]) + J.velocity(slice(qdd, b.v)) + J.bias(slice(qd, b.v)) + cross(v[i], vJ);
      // f_i = I a_i + v_i x* I v_i - X* f_ext
      f[i] = b.I * a[i] + cross_dual(v[i], b.I * v[i]) - external.on_body(i, b.parent, J);
    });
  }
  remark<T>("inverse dynamics, inward: joint forces");
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      // tau_i = S^T f_i
      for (int k = 0; k < J.nv; k++) tau[b.v + k] = J.project(k, f[i]) + m.armature[b.v + k] * T(qdd[b.v + k]);
      // f_parent += X^T f_i
      f[b.parent] += apply_transpose(J, f[i]);
    });
  }
}

// in   q (nq), qd (nv), qdd (nv)  joint position, velocity, acceleration; Zeros<T>{} where absent
// in   f_ext (6 nb)  [N m, N]  force on each body: moment about its origin and force, world axes; Zeros<T>{} for none
// out  tau (nv)  [N m | N]
// Cost O(nb).
FS_HD void rnea(const auto& m, const auto& q, const auto& qd, const auto& qdd, const auto& f_ext, auto tau) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto f = scratch<Force<T>>(m.nb + 1);
  // v_0 = 0, a_0 = -a_g
  const Motion<T> v_0 = zero_motion<T>(), a_0 = {zero3<T>(), -cast<T>(m.gravity)};
  rnea_on_base(m, v_0, a_0, q, qd, qdd, f_ext, x, f, tau);
}

}  // namespace featherstorm
