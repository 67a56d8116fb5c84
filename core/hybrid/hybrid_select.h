// Hybrid dynamics with prescribed coordinates given by numbers, not by branches: they may differ within a batch and be
// an input of a traced program. RBDA section 9.1, (9.1)-(9.3); the map of hybrid_crba.h, at the cost of all of H.
//
//   [H11 0; 0 1] [qdd1; 0] = [tau1 - C'1; 0],   C' = ID(q, qd, [0; qdd2]),   tau2 = C'2 + (H [qdd1; 0])_2
#pragma once
#include "core/dynamics/crba.h"
#include "core/dynamics/id_delta.h"
#include "core/dynamics/newton_euler.h"
#include "core/linear/ltdl.h"

namespace featherstorm {

// in   prescribed (nv)  1 where the acceleration of the coordinate is given, 0 where the force is
// in   q (nq), qd (nv)
// in   qdd (nv)  taken at prescribed coordinates    tau (nv)  taken at the others
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  qdd_out (nv)  [rad/s^2 | m/s^2], tau_out (nv)  [N m | N]  all coordinates; may be qdd and tau
// Cost O(n d^2).
FS_HD void hybrid_select(const auto& m, const auto& prescribed, const auto& q, const auto& qd, const auto& qdd,
                         const auto& tau, const auto& f_ext, auto qdd_out, auto tau_out) {
  using T = ScalarOf<decltype(q)>;
  auto H = scratch<T>(m.nh);
  auto C = scratch<T>(m.nv);
  auto a1 = scratch<T>(m.nv);
  const T zero(0.0), one(1.0), half(0.5);
  for (int k = 0; k < m.nv; k++) a1[k] = select(half < T(prescribed[k]), T(qdd[k]), zero);
  newton_euler(m, q, qd, a1.data(), f_ext, C.data());
  crba(m, q, H.data());
  for (int i = 0; i < m.nv; i++)
    for (int j = i; j >= 0; j = m.dof_parent[j]) {
      T& h = H[m.at(i, j)];
      h = select(half < T(prescribed[i]) + T(prescribed[j]), i == j ? one : zero, h);
    }
  for (int k = 0; k < m.nv; k++) a1[k] = select(half < T(prescribed[k]), zero, T(tau[k]) - C[k]);
  ltdl(m, H.data());
  solve<Factor::LTDL>(m, H.data(), a1.data());
  // y = H [qdd1; 0]
  auto y = scratch<T>(m.nv);
  id_delta(m, q, a1.data(), y.data());
  for (int k = 0; k < m.nv; k++) {
    const auto given = half < T(prescribed[k]);
    const T a = select(given, T(qdd[k]), a1[k]), t = select(given, C[k] + y[k], T(tau[k]));
    qdd_out[k] = a;
    tau_out[k] = t;
  }
}

}  // namespace featherstorm
