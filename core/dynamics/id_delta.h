// Products with the joint-space inertia matrix without forming it: inverse dynamics of a robot at rest, without gravity
// and forces. RBDA Table 6.1.
//
//   y = ID_delta(model, q, x) = H(q) x
#pragma once
#include "core/model/joints.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// in   q (nq), x (nv)
// out  y (nv)  may be x
// Cost O(nb).
FS_HD void id_delta(const auto& m, const auto& q, const auto& x, auto y) {
  using T = ScalarOf<decltype(q)>;
  auto numbers = scratch<T>(m.nx);
  auto a = scratch<Motion<T>>(m.nb + 1);
  auto f = scratch<Force<T>>(m.nb + 1);
  a[0] = zero_motion<T>();
  f[0] = zero_force<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    update_joint(m, i, q, Zeros<T>{}, numbers);
    // a = X a_parent + S x,  f = I a
    with_joint(m, i, numbers, [&](const auto& J) { a[i] = apply(J, a[b.parent]) + J.velocity(slice(x, b.v)); });
    f[i] = b.I * a[i];
  }
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    with_joint(m, i, numbers, [&](const auto& J) {
      // y = S^T f,  f_parent += X^T f
      for (int k = 0; k < J.nv; k++) y[b.v + k] = J.project(k, f[i]) + m.armature[b.v + k] * T(x[b.v + k]);
      if (b.parent > 0) f[b.parent] = f[b.parent] + apply_transpose(J, f[i]);
    });
  }
}

}  // namespace featherstorm
