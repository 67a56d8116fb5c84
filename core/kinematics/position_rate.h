// Derivatives of positions for joints whose velocities are not derivatives: qd = Q(q) v. RBDA section 3.1, (3.5)-(3.7);
// for quaternions (4.13), p' = p (0, w) / 2.
//
// qdfn of every joint, also of user-defined ones, is the derivative of its own `integrate`, computed with dual numbers:
//
//   qd = d/de (q (+) e v) at e = 0
#pragma once
#include "core/kinematics/integrate.h"
#include "core/scalar/dual.h"

namespace featherstorm {

// in   q (nq), v (nv)
// out  qd (nq)  dq/dt; v itself where a joint's coordinates are plain. Linear in v. Cost O(nb).
FS_HD void position_rate(const auto& m, const auto& q, const auto& v, auto qd) {
  using T = ScalarOf<decltype(q)>;
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    const int n = (i < m.nb ? m.body[i + 1].q : int(m.nq)) - b.q;
    Dual<T> next[7];
    integrate_joint<Dual<T>>(m, b, dual_array(slice(q, b.q), Zeros<T>{}), dual_array(Zeros<T>{}, slice(v, b.v)), next);
    for (int k = 0; k < n; k++) qd[b.q + k] = next[k].d;
  }
}

}  // namespace featherstorm
