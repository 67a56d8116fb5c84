// Springs and dampers along tendons. The joint forces are J^T times these forces, J = d length / d q along v.
//
//   spring = -x p(x),   x = distance of the length outside the spring's slack range
//   damper = -v p(|v|)
#pragma once
#include "core/scalar/scalar.h"
#include "core/world/polynomial.h"

namespace featherstorm {

// Returns x: 0 within the slack range, negative below it.
template <class T> FS_HD T tendon_stretch(const auto& tendon, const T& length) {
  return length - max(T(tendon.slack_lower), min(length, T(tendon.slack_upper)));
}

// in   length [m | rad], velocity (n_tendons)
// out  spring, damper (n_tendons)  [N | N m]
// out  slope (n_tendons)  -d damper / d velocity; Ignored<T>{} if unused
FS_HD void tendon_forces(const auto& w, const auto& length, const auto& velocity, auto spring, auto damper,
                         auto slope) {
  using T = ScalarOf<decltype(length)>;
  for (int t = 0; t < w.n_tendons(); t++) {
    const auto& tendon = w.tendon[t];
    T x(0.0), v(0.0), p(0.0), d(0.0), s(0.0);
    if (tendon.elastic) {
      x = tendon_stretch<T>(tendon, length[t]);
      p = value_of(tendon.stiffness, x);
    }
    if (tendon.damped) {
      v = velocity[t];
      d = value_of(tendon.damping, abs(v));
      s = slope_of(tendon.damping, abs(v));
    }
    spring[t] = -(x * p);
    damper[t] = -(v * d);
    slope[t] = s;
  }
}

// Energy of these springs [J].
template <class T> FS_HD T tendon_spring_energy(const auto& w, const auto& length) {
  T energy(0.0);
  for (int t = 0; t < w.n_tendons(); t++)
    if (w.tendon[t].elastic)
      energy = energy + potential_of(w.tendon[t].stiffness, tendon_stretch<T>(w.tendon[t], length[t]));
  return energy;
}

}  // namespace featherstorm
