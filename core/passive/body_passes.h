// Sweeps over bodies whose joint numbers are known: velocities and accelerations outward, wrenches inward.
//
//   v_i = X v_parent + S qd
//   a_i = X a_parent + S qdd + c_J + v_i x S qd
//   tau_i = S^T f_i,   f_parent += X^T f_i
#pragma once
#include "core/model/joints.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// Computes the velocities of all bodies.
//
// in   x (nx)  joint numbers that update_joint has set for all bodies
// in   v (nv)
// out  V (nb + 1)  velocity of each body, its own axes
FS_HD void body_velocities(const auto& m, const auto& x, const auto& v, auto& V) {
  V[0] = zero_motion<ScalarOf<decltype(x)>>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) { V[i] = apply(J, V[b.parent]) + J.velocity(slice(v, b.v)); });
  }
}

// Computes accelerations including gravity.
//
// in   x (nx)  joint numbers at v
// in   v, a (nv), V (nb + 1)
// out  A (nb + 1)  spatial acceleration of each body, its own axes, A_0 = -g: zero in free fall
FS_HD void accelerations_with_gravity(const auto& m, const auto& x, const auto& v, const auto& a, const auto& V,
                                      auto& A) {
  using T = ScalarOf<decltype(x)>;
  A[0] = {zero3<T>(), -cast<T>(m.gravity)};
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      const auto vJ = J.velocity(slice(v, b.v));
      A[i] = apply(J, A[b.parent]) + J.velocity(slice(a, b.v)) + J.bias(slice(v, b.v)) + cross(V[i], vJ);
    });
  }
}

// Computes the joint forces that are equivalent to wrenches on bodies.
//
// in   x (nx)
// in   f (nb + 1)  moment about each body's origin and force, its axes; overwritten
// out  force (nv)
FS_HD void joint_forces_of_wrenches(const auto& m, const auto& x, auto& f, auto force) {
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      for (int k = 0; k < J.nv; k++) force[b.v + k] = J.project(k, f[i]);
      if (b.parent > 0) f[b.parent] += apply_transpose(J, f[i]);
    });
  }
}

}  // namespace featherstorm
