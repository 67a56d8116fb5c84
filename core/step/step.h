// One step in time: semi-implicit Euler, with all damping at the end of the step.
//
//   (H + dt D) qdd = tau - C(q, v) - D v,   v_next = v + dt qdd,   q_next = q (+) v_next dt
//
// that is H qdd + C = tau - D v_next, with tau and D of joint_forces.h. Dampers of any strength are stable. Springs
// (kp, limit_stiffness) are evaluated at the beginning of the step and need dt < 2 / omega of the stiffest. First order
// in dt; the energy of an undamped robot oscillates and does not drift.
//
//   step       H by the composite-rigid-body algorithm, factorised: O(n d^2)
//   step_aba   by articulated bodies: O(n), for larger robots
#pragma once
#include "core/dynamics/forward_dynamics.h"
#include "core/kinematics/integrate.h"
#include "core/step/joint_forces.h"

namespace featherstorm {

// b = tau - C - D v
template <class S, class Out>
FS_HD void step_forces(const auto& m, const auto& q, const auto& v, const auto& drive, const auto& f_ext,
                       const StepParameters<S>& s, Out b, Out D) {
  using T = ScalarOf<decltype(q)>;
  auto tau = scratch<T>(m.nv);
  joint_forces(m, q, v, drive, s, tau.data(), D);
  newton_euler(m, q, v, Zeros<T>{}, f_ext, b);
  for (int k = 0; k < m.nv; k++) b[k] = tau[k] - b[k] - D[k] * v[k];
}
// The same and H + dt D, for steps with constraints: (H + dt D) qdd = b + forces of constraints.
// out  b (nv)  [N m | N];  H (nh)  packed, of crba.h
template <class S>
FS_HD void step_equations(const auto& m, const auto& q, const auto& v, const auto& drive, const auto& f_ext,
                          const StepParameters<S>& s, auto b, auto H) {
  using T = ScalarOf<decltype(q)>;
  auto D = scratch<T>(m.nv);
  step_forces(m, q, v, drive, f_ext, s, b, D.data());
  crba(m, q, H);
  for (int k = 0; k < m.nv; k++) H[m.at(k, k)] = H[m.at(k, k)] + T(s.dt) * D[k];
}
// v_next = v + dt qdd, q_next = q (+) v_next dt
FS_HD void advance(const auto& m, const auto& q, const auto& v, const auto& qdd, const auto& dt, auto q_next,
                   auto v_next) {
  for (int k = 0; k < m.nv; k++) v_next[k] = v[k] + dt * qdd[k];
  integrate(m, q, v_next, dt, q_next);
}

// in   q (nq), v (nv), drive
// in   f_ext (6 nb)  as in rnea.h, constant during the step; Zeros<T>{} for none
// in   s  dt and the numbers common to all joints
// out  q_next (nq), v_next (nv)  may be q, v
template <class S>
FS_HD void step(const auto& m, const auto& q, const auto& v, const auto& drive, const auto& f_ext,
                const StepParameters<S>& s, auto q_next, auto v_next) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nv);
  auto D = scratch<T>(m.nv);
  auto H = scratch<T>(m.nh);
  step_forces(m, q, v, drive, f_ext, s, x.data(), D.data());
  // (H + dt D) qdd = b, free joints in the axes of their bodies
  to_body_axes(m, q, x.data());
  crba<BodyAxes>(m, q, H.data());
  for (int k = 0; k < m.nv; k++) D[k] = T(s.dt) * D[k];
  add_diagonal_in_body_axes(m, q, D.data(), H.data());
  ltdl(m, H.data());
  solve<Factor::LTDL>(m, H.data(), x.data());
  from_body_axes(m, q, x.data());
  advance(m, q, v, x.data(), T(s.dt), q_next, v_next);
}

// The map of step; arguments as there.
template <class S>
FS_HD void step_aba(const auto& m, const auto& q, const auto& v, const auto& drive, const auto& f_ext,
                    const StepParameters<S>& s, auto q_next, auto v_next) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nv);
  auto D = scratch<T>(m.nv);
  auto numbers = scratch<T>(m.nx);
  auto p = scratch<Force<T>>(m.nb + 1);
  joint_forces(m, q, v, drive, s, x.data(), D.data());
  // (H + dt D) qdd = tau - D v - C
  for (int k = 0; k < m.nv; k++) x[k] = x[k] - D[k] * v[k], D[k] = T(s.dt) * D[k];
  forces_on_bodies(m, q, v, Zeros<T>{}, f_ext, numbers, p);
  solve_articulated_bodies(m, numbers, D.data(), x.data(), p, x.data());
  advance(m, q, v, x.data(), T(s.dt), q_next, v_next);
}

}  // namespace featherstorm
