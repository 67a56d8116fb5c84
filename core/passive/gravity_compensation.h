// Gravity compensation: forces that carry a fraction c of the weight of each link [qfrc_gravcomp].
//
//   tau_i = S^T f_i,   f_i = -sum over the links carried by joint i of c m (r x g; g)
//
// Masses and first moments are summed inward as in gravity_torques, here weighted by c. No spatial vectors are
// transformed.
#pragma once
#include "core/model/joints.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// in   x (nx), X (nb + 1)  joint numbers and placements of the bodies
// out  force (nv)  [N m | N], all entries
// Cost O(links + nb).
FS_HD void gravity_compensation(const auto& m, const auto& w, const auto& x, const auto& X, auto force) {
  using T = ScalarOf<decltype(x)>;
  auto mass = scratch<T>(m.nb + 1);
  auto h = scratch<Vec3<T>>(m.nb + 1);
  const Vec3<T> gravity = cast<T>(m.gravity);
  for (int i = 0; i <= m.nb; i++) mass[i] = T(0.0), h[i] = zero3<T>();
  for (const auto& link : w.link) {
    const T lifted = T(link.mass) * T(link.gravity_compensation);
    const int i = link.inertial.body;
    mass[i] = mass[i] + lifted;
    h[i] = h[i] + cast<T>(link.inertial.X.r) * lifted;
  }
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      const Vec3<T> g = transpose_times(X[i].R, gravity);
      const Force<T> f{cross(g, h[i]), -(g * mass[i])};
      for (int k = 0; k < J.nv; k++) force[b.v + k] = J.project(k, f);
      if (b.parent == 0) return;
      h[b.parent] = h[b.parent] + (J.rotate(h[i]) + J.origin() * mass[i]);
      mass[b.parent] = mass[b.parent] + mass[i];
    });
  }
}

}  // namespace featherstorm
