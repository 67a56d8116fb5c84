// Rates of the coordinates of a moving robot: dq/dt = Gamma(q) v, where velocities are not the derivatives of
// coordinates (quaternions, rotation vectors) but leave S constant. Garofalo et al., Remark 7, (33).
//
//   Gamma(q) v = d/de (q (+) e v)   at e = 0
//
// The chain rule takes derivatives by coordinates to those along v: Df = df/dq Gamma. For quaternions it is 1/2 p (0;
// w).
#pragma once
#include "core/rates/rates.h"

namespace featherstorm {

// in   q (nq), v (nv)
// out  qdot (nq)
// Cost O(nb).
FS_HD void coordinate_rates(const auto& m, const auto& q, const auto& v, auto qdot) {
  auto qe = scratch<Dual<ScalarOf<decltype(q)>>>(m.nq);
  along(m, q, v, qe);
  for (int k = 0; k < m.nq; k++) qdot[k] = qe[k].d;
}

// in   q (nq)
// out  Gamma (nq nv)  by rows
FS_HD void coordinate_map(const auto& m, const auto& q, auto Gamma) {
  using T = ScalarOf<decltype(q)>;
  auto column = scratch<T>(m.nq);
  for (int k = 0; k < m.nv; k++) {
    coordinate_rates(m, q, UnitArray<T>{k}, column.data());
    for (int i = 0; i < m.nq; i++) Gamma[i * m.nv + k] = column[i];
  }
}

}  // namespace featherstorm
