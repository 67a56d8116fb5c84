// Dampers of coordinates [qfrc_damper of joints]: tau = -v p(|v|), and their slopes for implicit steps.
#pragma once
#include "core/scalar/scalar.h"
#include "core/world/polynomial.h"

namespace featherstorm {

// in   v (nv)
// out  force (nv)  [N m | N], all entries
FS_HD void joint_dampers(const auto& m, const auto& w, const auto& v, auto force) {
  using T = ScalarOf<decltype(v)>;
  for (int k = 0; k < m.nv; k++) force[k] = T(0.0);
  for (int k = 0; k < static_cast<int>(w.damping.size()); k++) force[k] = -(v[k] * value_of(w.damping[k], abs(v[k])));
}

// in   v (nv)
// out  slope (nv)  -d force / dv [N m s | N s/m], all entries
FS_HD void damper_slopes(const auto& m, const auto& w, const auto& v, auto slope) {
  using T = ScalarOf<decltype(v)>;
  for (int k = 0; k < m.nv; k++) slope[k] = T(0.0);
  for (int k = 0; k < static_cast<int>(w.damping.size()); k++) slope[k] = T(slope_of(w.damping[k], abs(v[k])));
}

}  // namespace featherstorm
