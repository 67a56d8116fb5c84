// Inverse dynamics of closed loops: which motor forces give a motion. RBDA sections 8.12, 8.13, (8.61)-(8.63); Kim section
// 3.1, (56)-(66).
//
//   G^T tau = G^T tau_ID,   tau_ID = H qdd + C of the spanning tree; tau_p given at joints without motors
//
// has one solution tau_a, many (redundant actuation; then the shortest is taken: Kim's minimum active torque), or none
// (too few motors, or motors that do not reach the motion; then |G^T (tau - tau_ID)| is least and `missing` says how much).
#pragma once
#include "core/semidefinite.h"
#include "core/scratch.h"

namespace featherstorm {

// in   ny, G (nv ny) by rows   admitted motions, K G = 0 (independent.h, null_space.h)
// in   actuated (nv)  marks coordinates with motors; the same for all of a batch
// in   tau_id (nv)  [N m | N]  inverse dynamics of the tree at an admitted motion
// in   tau (nv)  read where there is no motor: springs, dampers, 0
// in   tolerance  of the rank, as in semidefinite.h
// out  tau_out (nv)  may be tau
// out  rank (1)  of the rows of G with motors: ny where every motion can be driven
// out  missing (ny)  G^T (tau_id - tau_out), generalised forces of y; 0 where the motion can be driven
template <class M, class Count, class Columns, class Mask, class TauId, class Tau, class Tolerance, class Out, class OutR,
          class OutM>
FS_HD void actuation(const M& m, Count ny, const Columns& G, const Mask& actuated, const TauId& tau_id, const Tau& tau,
                     const Tolerance& tolerance, Out tau_out, OutR rank, OutM missing) {
  using T = ScalarOf<Columns>;
  auto B = scratch<T>(product(ny, ny));
  auto z = scratch<T>(ny);
  // tau_a = G_a z,  G_a^T G_a z = G^T tau_id - G_p^T tau_p
  for (int i = 0; i < ny; i++) {
    T w(0.0);
    for (int k = 0; k < m.nv; k++) w = w + G[k * ny + i] * (actuated[k] ? T(tau_id[k]) : tau_id[k] - tau[k]);
    missing[i] = z[i] = w;
    for (int j = 0; j <= i; j++) {
      T s(0.0);
      for (int k = 0; k < m.nv; k++)
        if (actuated[k]) s = s + G[k * ny + i] * G[k * ny + j];
      B[i * ny + j] = s;
    }
  }
  rank[0] = factor_semidefinite(ny, B.data(), tolerance);
  solve_semidefinite(ny, B.data(), z.data());
  for (int k = 0; k < m.nv; k++) {
    if (!actuated[k]) {
      tau_out[k] = tau[k];
      continue;
    }
    T s(0.0);
    for (int i = 0; i < ny; i++) s = s + G[k * ny + i] * z[i];
    tau_out[k] = s;
    for (int i = 0; i < ny; i++) missing[i] = missing[i] - G[k * ny + i] * s;
  }
}

// The solution with the shortest constraint forces instead. Kim (59)-(61).
//
//   tau = tau_ID - K^T lambda,   K_p^T lambda = (tau_ID - tau)_p,   lambda = K_p (K_p^T K_p)^+ (tau_ID - tau)_p
//
// in   K (nc nv) by rows; the rest as above
// out  tau_out (nv)  may be tau; lambda (nc)  [N m | N]
template <class M, class Count, class Constraints, class Mask, class TauId, class Tau, class Tolerance, class Out,
          class OutL>
FS_HD void actuation_least_constraint(const M& m, Count nc, const Constraints& K, const Mask& actuated,
                                      const TauId& tau_id, const Tau& tau, const Tolerance& tolerance, Out tau_out,
                                      OutL lambda) {
  using T = ScalarOf<Constraints>;
  auto B = scratch<T>(product(m.nv, m.nv));
  auto z = scratch<T>(m.nv);
  auto passive = scratch<int>(m.nv);
  int np = 0;
  for (int k = 0; k < m.nv; k++)
    if (!actuated[k]) passive[np++] = k;
  for (int i = 0; i < np; i++) {
    z[i] = tau_id[passive[i]] - tau[passive[i]];
    for (int j = 0; j <= i; j++) {
      T s(0.0);
      for (int c = 0; c < nc; c++) s = s + K[c * m.nv + passive[i]] * K[c * m.nv + passive[j]];
      B[i * np + j] = s;
    }
  }
  factor_semidefinite(np, B.data(), tolerance);
  solve_semidefinite(np, B.data(), z.data());
  for (int c = 0; c < nc; c++) {
    T s(0.0);
    for (int i = 0; i < np; i++) s = s + K[c * m.nv + passive[i]] * z[i];
    lambda[c] = s;
  }
  for (int k = 0; k < m.nv; k++) {
    T s = tau_id[k];
    for (int c = 0; c < nc; c++) s = s - K[c * m.nv + k] * lambda[c];
    tau_out[k] = actuated[k] ? s : T(tau[k]);
  }
}

}  // namespace featherstorm
