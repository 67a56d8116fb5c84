// Motion of a robot in world axes.
//
//   body i         its angular velocity and the velocity of its origin
//   coordinate k   the motion of its body when this coordinate has velocity 1 and all others 0
#pragma once
#include "core/kinematics/kinematics.h"

namespace featherstorm {

template <class T> FS_HD Motion<T> in_world(const Placement<T>& X, const Motion<T>& V) {
  return {X.R * V.w, X.R * V.v};
}

// in   x (nx), X (nb + 1)  joint numbers at (q, v) and placements of the bodies
// in   v (nv)
// out  twist (nb + 1), axis (nv)
FS_HD void world_motion(const auto& m, const auto& x, const auto& X, const auto& v, auto twist, auto axis) {
  using T = ScalarOf<decltype(v)>;
  auto V = scratch<Motion<T>>(m.nb + 1);
  body_velocities(m, x, v, V);
  twist[0] = zero_motion<T>();
  for (int i = 1; i <= m.nb; i++) {
    twist[i] = in_world(X[i], V[i]);
    with_joint(m, i, x, [&](const auto& J) {
      T one[6];
      for (int k = 0; k < J.nv; k++) {
        for (int l = 0; l < J.nv; l++) one[l] = T(l == k ? 1.0 : 0.0);
        axis[m.body[i].v + k] = in_world(X[i], zero_motion<T>() + J.velocity(one));
      }
    });
  }
}

}  // namespace featherstorm
