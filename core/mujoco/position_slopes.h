// Slopes of smooth forces with respect to position, for a step whose forces are taken at its end:
//
//   (M + h D + h^2 K) a = b - h K v,   K = -d tau / dq >= 0, of springs of joints and tendons and of position gains of
//                                      actuators
//
// tau(q + h v_next) = tau(q) - h K v_next. The slope of a spring is p(x), the mean slope from the slack position to the
// present one. It is the exact slope if the stiffness is linear. Actuators have no slope while a limit holds. Only
// entries that exist in M are kept.
#pragma once
#include "core/mujoco/velocity_slopes.h"

namespace featherstorm {

// Computes the slopes of actuators with respect to length.
//
// in   act (na), ctrl (nu); length, force (n_outputs)  of actuators
// out  slope (n_outputs)  -d force / d length, or 0; all are written
FS_HD void actuator_stiffness(const auto& w, const auto& act, const auto& ctrl, const auto& force, auto slope) {
  using T = ScalarOf<decltype(slope)>;
  const T zero(0.0);
  for (int k = 0; k < w.n_outputs; k++) slope[k] = zero;
  for (const auto& a : w.actuator) {
    if (a.disabled || a.outputs != 1) continue;
    T s(0.0);
    if (a.bias == Bias::Affine) s = -T(a.biases[1]);
    if (a.gain == Gain::Affine) {
      const T u = a.activation == Activation::None ? T(ctrl[a.control]) : T(act[a.act + a.acts - 1]);
      s = s - u * T(a.gains[1]);
    }
    s = max(s, zero);
    if (a.force_limited) s = select(T(a.force_lower) < force[a.output] && force[a.output] < T(a.force_upper), s, zero);
    slope[a.output] = s;
  }
}

// Adds all position slopes to K.
//
// in      q (nq), act (na), ctrl (nu), s  from smooth_forces
// in-out  K (nh)  packed as M; added to
template <class T>
FS_HD void position_slopes(const auto& m, const auto& w, const auto& q, const auto& act, const auto& ctrl,
                           const Smooth<T>& s, auto K) {
  const T zero(0.0);
  for (const auto& spring : w.spring)
    with_stretches<T>(m, spring, q, [&](int v, int n, const T* u) {
      const T p = max(T(value_of(spring.stiffness, stretch_of(n, u))), zero);
      for (int k = v; k < v + n; k++) K[m.at(k, k)] = K[m.at(k, k)] + p;
    });
  const auto add = [&](const auto& J, int row, const T& slope) {
    for (int i = 0; i < m.nv; i++)
      for (int j = i; j >= 0; j = m.dof_parent[j])
        K[m.at(i, j)] = K[m.at(i, j)] + slope * J[row * m.nv + i] * J[row * m.nv + j];
  };
  for (int t = 0; t < w.n_tendons(); t++) {
    if (!w.tendon[t].elastic) continue;
    const T x = tendon_stretch<T>(w.tendon[t], s.ten_length[t]);
    const T p = max(T(value_of(w.tendon[t].stiffness, x)), zero);
    add(s.ten_J, t, T(select(zero < abs(x), p, zero)));
  }
  auto slope = scratch<T>(w.n_outputs);
  actuator_stiffness(w, act, ctrl, s.actuator_force, slope.data());
  clear_saturated_slopes(m, w, s.actuator_force, s.qfrc_actuator, slope.data());
  for (int o = 0; o < w.n_outputs; o++) add(s.moment, o, T(slope[o]));
}

}  // namespace featherstorm
