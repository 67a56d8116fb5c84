// Forward dynamics in two steps: the bias force C by inverse dynamics, then the solution of H qdd = tau - C with H by
// the composite-rigid-body algorithm, factorised. O(n d^2), the fewest operations for small robots. RBDA section 6.1.
//
// articulated_bodies.h gives the same in O(n). aba_solve is its second step alone, for other right-hand sides.
#pragma once
#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/crba.h"
#include "core/dynamics/newton_euler.h"
#include "core/linear/ltdl.h"

namespace featherstorm {

// in   q (nq), qd (nv), tau (nv)
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  qdd (nv)  [rad/s^2 | m/s^2]  H^-1 (tau - C)
FS_HD void fd_crba(const auto& m, const auto& q, const auto& qd, const auto& tau, const auto& f_ext, auto qdd) {
  using T = ScalarOf<decltype(q)>;
  auto b = scratch<T>(m.nv);
  auto H = scratch<T>(m.nh);
  // b = tau - C
  newton_euler(m, q, qd, Zeros<T>{}, f_ext, b.data());
  for (int k = 0; k < m.nv; k++) b[k] = tau[k] - b[k];
  // H qdd = b, free joints in the axes of their bodies
  to_body_axes(m, q, b.data());
  crba<BodyAxes>(m, q, H.data());
  ltdl(m, H.data());
  solve<Factor::LTDL>(m, H.data(), b.data());
  from_body_axes(m, q, b.data());
  for (int k = 0; k < m.nv; k++) qdd[k] = b[k];
}

// x = (H + diag(d))^-1 x by articulated bodies at rest.
//
// in      q (nq)
// in      d (nv)  [kg m^2 | kg]; Zeros<T>{} for none
// in out  x (nv)
// Cost O(nb). With BodyAxes x and d of free joints without armature are along the axes of their bodies (joints.h).
template <class Axes = PredecessorAxes>
FS_HD void aba_solve(const auto& m, const auto& q, const auto& d, auto x) {
  using T = ScalarOf<decltype(q)>;
  auto numbers = scratch<T>(m.nx);
  auto p = scratch<Force<T>>(m.nb + 1);
  for (int i = 1; i <= m.nb; i++) {
    update_position<Axes>(m, i, q, numbers);
    p[i] = zero_force<T>();
  }
  solve_articulated_bodies(m, numbers, d, x, p, x);
}

}  // namespace featherstorm
