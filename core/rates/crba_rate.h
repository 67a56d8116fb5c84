// Rate of the joint-space inertia matrix. Garofalo et al. (25a), with RBDA (2.65) for the subtrees.
//
//   Hd(i, j) = S_i^T (dI^c/dt S_j + I^c Sd_j) + Sd_i^T I^c S_j   for every joint j on the path from i to the root
#pragma once
#include "core/rates/coriolis_matrix.h"

namespace featherstorm {

// in   q (nq), qd (nv)
// out  Hd (nh)  packed lower triangle as that of crba
// Cost O(n depth).
FS_HD void crba_rate(const auto& m, const auto& q, const auto& qd, auto Hd) {
  using T = ScalarOf<decltype(q)>;
  CommonMotion f(m, q, qd);
  const auto &S = f.frame.S, &Sd = f.Sd;
  auto& Ic = f.Ic;
  auto Id = scratch<RigidBodyInertia<T>>(m.nb + 1);
  for (int i = 0; i <= m.nb; i++) Id[i] = inertia_rate(Ic[i], f.v[i]);
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    for (int k = b.v; k < b.v + freedoms(m, i); k++) {
      const Force<T> P = Ic[i] * S[k], Pd = Id[i] * S[k] + Ic[i] * Sd[k];
      for (int l = k; l >= 0; l = m.dof_parent[l]) Hd[m.at(k, l)] = dot(S[l], Pd) + dot(Sd[l], P);
    }
    Ic[b.parent] += Ic[i], Id[b.parent] += Id[i];
  }
}

}  // namespace featherstorm
