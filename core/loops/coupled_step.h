// One step in time of robots with gears or other coupled joints: step.h in the independent velocities of coupling.h.
//
//   G^T (H + dt D) G ud = G^T (tau - C(q, G u) - D G u),   u_next = u + dt ud,   q_next = q (+) G u_next dt
//
// Coupled positions are those of their drivers after every step, so nothing drifts apart.
#pragma once
#include "core/loops/coupled_dynamics.h"
#include "core/step/step.h"

namespace featherstorm {

// in   q (nq)  coupled positions as coupled_position gives them; u (nu)
// in   drive, f_ext, s  as in step.h: torques, targets and limits of all nv coordinates, coupled ones included
// out  q_next (nq), u_next (nu)  may be q, u
template <class S>
FS_HD void coupled_step(const auto& m, const auto& c, const auto& q, const auto& u, const auto& drive,
                        const auto& f_ext, const StepParameters<S>& s, auto q_next, auto u_next) {
  using T = ScalarOf<decltype(q)>;
  auto qd = scratch<T>(m.nv);
  auto b = scratch<T>(m.nv);
  auto H = scratch<T>(m.nh);
  auto A = scratch<T>(product(m.nv, m.nv));
  auto ud = scratch<T>(m.nv);
  coupled_velocity(m, c, u, qd.data());
  step_equations(m, q, qd.data(), drive, f_ext, s, b.data(), H.data());
  coupled_force(m, c, b.data(), ud.data());
  coupled_inertia(m, c, H.data(), A.data());
  factor_semidefinite(c.nu, A.data(), 0.0);
  solve_semidefinite(c.nu, A.data(), ud.data());
  for (int j = 0; j < c.nu; j++) u_next[j] = u[j] + T(s.dt) * ud[j];
  coupled_velocity(m, c, u_next, qd.data());
  integrate(m, q, qd.data(), T(s.dt), q_next);
  coupled_position(m, c, q_next);
}

}  // namespace featherstorm
