// States within a completed integration step, by the integrator's interpolating polynomial. RBDA (11.45)-(11.51).
//
//   Euler        y(delta) = y0 + h delta k1
//   Heun (2/3)   k1 = f(y0, t0),  k2 = f(y0 + 2/3 h k1, t0 + 2/3 h)
//                y(delta) = y0 + h ((delta - 3/4 delta^2) k1 + 3/4 delta^2 k2)
//
// For a robot y = (q, v) and k = (v, qdd). Positions are advanced by `integrate`, so quaternions stay unit. Their order
// is 2 as well: the difference between the tangent spaces of k1 and k2 is of third order.
#pragma once
#include "core/kinematics/integrate.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// Weights of k1 and k2 at delta in [0, 1].
template <class T> struct HeunWeights { T k1, k2; };
template <class T> FS_HD HeunWeights<T> heun_weights(const T& delta) {
  const T k2 = delta * delta * T(0.75);
  return {delta - k2, k2};
}

// Computes the state at delta of a Heun step.
//
// in   q0 (nq), v0, a1, v2, a2 (nv)  state at the beginning, and its acceleration; velocity and acceleration of the
//      second evaluation
// in   h [s], delta  within 0 and 1
// out  q (nq), v (nv)
template <class A, class T>
FS_HD void heun_state(const auto& m, const auto& q0, const auto& v0, const A& a1, const A& v2, const A& a2, const T& h,
                      const T& delta, auto q, auto v) {
  const HeunWeights<T> w = heun_weights(delta);
  auto u = scratch<T>(m.nv);
  for (int k = 0; k < m.nv; k++) {
    u[k] = v0[k] * w.k1 + v2[k] * w.k2;
    v[k] = v0[k] + (a1[k] * w.k1 + a2[k] * w.k2) * h;
  }
  integrate(m, q0, u.data(), h, q);
}
// The same for a step of Euler's method.
template <class T>
FS_HD void euler_state(const auto& m, const auto& q0, const auto& v0, const auto& a1, const T& h, const T& delta,
                       auto q, auto v) {
  integrate(m, q0, v0, h * delta, q);
  for (int k = 0; k < m.nv; k++) v[k] = v0[k] + a1[k] * (h * delta);
}

}  // namespace featherstorm
