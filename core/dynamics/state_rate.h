// The equation of motion in state-space form. RBDA section 3.1, (3.8), (3.9).
#pragma once
#include "core/dynamics/articulated_bodies.h"
#include "core/kinematics/position_rate.h"

namespace featherstorm {

// d/dt (q; v) = FD_x(q, v, tau, f_ext): the right-hand side for integrators of plain vectors. RBDA (3.8), (3.9)
// Quaternions drift off the unit sphere under such integrators and must be normalised; integrate.h avoids this.
//
// in   q (nq), v (nv), tau (nv), f_ext (6 nb) or Zeros<T>{}
// out  rate (nq + nv)
FS_HD void state_rate(const auto& m, const auto& q, const auto& v, const auto& tau, const auto& f_ext, auto rate) {
  position_rate(m, q, v, rate);
  articulated_bodies(m, q, v, tau, f_ext, slice(rate, m.nq));
}

}  // namespace featherstorm
