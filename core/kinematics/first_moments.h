// Mass and first moment of every subtree, for gravity and the centre of mass.
//
//   m_i = sum over the subtree of i,   h_parent += R h_i + m_i r
#pragma once
#include "core/model/joints.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// in   x  joint numbers that update_joint has set for all bodies
// out  mass (nb + 1) [kg]
// out  h (nb + 1) [kg m]  mass times centre of mass from the body's origin, body axes; h[0] of the whole model, world
FS_HD void first_moments(const auto& m, const auto& x, auto& mass, auto& h) {
  using T = ScalarOf<decltype(x)>;
  mass[0] = T(0.0);
  h[0] = zero3<T>();
  for (int i = 1; i <= m.nb; i++) mass[i] = T(m.body[i].I.m), h[i] = cast<T>(m.body[i].I.h);
  for (int i = m.nb; i >= 1; i--) {
    const int p = m.body[i].parent;
    with_joint(m, i, x, [&](const auto& J) {
      h[p] = h[p] + (J.rotate(h[i]) + J.origin() * mass[i]);
      mass[p] = mass[p] + mass[i];
    });
  }
}

}  // namespace featherstorm
