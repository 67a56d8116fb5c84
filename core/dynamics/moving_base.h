// Inverse dynamics of a robot on a base with a known motion: a vehicle, a ship, the last link of another robot.
// Lynch and Park (9.49)-(9.57) with V0 and Vd0; RBDA Table 5.1 with v_0 and a_0 that are not zero.
//
//   v_0 = v_base,   a_0 = a_base - a_g,   then as rnea.h;   f_base = sum of X^T f_i over the bodies on the base
//
// The model's world stands for the base's frame; its gravity is not used, because it turns with the base.
// floating_base.h has a base with unknown motion; a free joint with prescribed motion (hybrid_aba.h) gives the same as
// this.
#pragma once
#include "core/dynamics/rnea.h"

namespace featherstorm {

// in   v_base (6)  [rad/s, m/s]  angular velocity of the base and velocity of its origin, base axes
// in   a_base (6)  [rad/s^2, m/s^2]  rates of the components of v_base: the true acceleration of the origin is
//      linear part + w × v
// in   gravity (3) [m/s^2]  base axes
// in   q (nq), qd (nv), qdd (nv)  relative to the base
// out  tau (nv)  [N m | N]
// out  f_base (6)  [N m, N]  that the base exerts on the robot: moment about the base's origin and force, base axes
// Cost O(nb).
FS_HD void rnea_moving_base(const auto& m, const auto& v_base, const auto& a_base, const auto& gravity, const auto& q,
                            const auto& qd, const auto& qdd, auto tau, auto f_base) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto f = scratch<Force<T>>(m.nb + 1);
  const Motion<T> v_0{{T(v_base[0]), T(v_base[1]), T(v_base[2])}, {T(v_base[3]), T(v_base[4]), T(v_base[5])}};
  const Motion<T> a_0{{T(a_base[0]), T(a_base[1]), T(a_base[2])},
                      {a_base[3] - gravity[0], a_base[4] - gravity[1], a_base[5] - gravity[2]}};
  rnea_on_base(m, v_0, a_0, q, qd, qdd, Zeros<T>{}, x, f, tau);
  for (int k = 0; k < 6; k++) f_base[k] = component(f[0], k);
}

}  // namespace featherstorm
