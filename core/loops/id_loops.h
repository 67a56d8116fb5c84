// Inverse dynamics of closed loops: the motor forces for a motion. RBDA sections 8.12, 8.13, (8.61)-(8.63); Kim section
// 3.1, (56)-(66).
//
//   G^T tau = G^T tau_ID,   tau_ID = H qdd + C of the spanning tree; tau_p given at joints without motors
//
// has one solution tau_a, many (redundant actuation; then the shortest is chosen: Kim's minimum active torque), or none
// (too few motors, or motors without effect on the motion; then |G^T (tau - tau_ID)| is least and `missing` is the
// rest).
#pragma once
#include "core/dynamics/newton_euler.h"
#include "core/linear/semidefinite.h"
#include "core/loops/independent.h"
#include "core/loops/loop_constraints.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// in   ny, G (nv ny) by rows   admitted motions, K G = 0 (independent.h, null_space.h); columns of zeros do no harm
// in   actuated (nv)  1 for coordinates with motors, else 0
// in   tau_id (nv)  [N m | N]  inverse dynamics of the tree at an admitted motion
// in   tau (nv)  read where there is no motor: springs, dampers, 0
// in   tolerance  of the rank, as in semidefinite.h
// out  tau_out (nv)  may be tau
// out  rank (1)  of the rows of G with motors: ny where every motion can be driven
// out  missing (ny)  G^T (tau_id - tau_out), generalised forces of y; 0 where the motion can be driven
template <class M, class Count, class Columns, class Mask, class TauId, class Tau, class Tolerance, class Out,
          class OutR, class OutM>
FS_HD void actuation(const M& m, Count ny, const Columns& G, const Mask& actuated, const TauId& tau_id, const Tau& tau,
                     const Tolerance& tolerance, Out tau_out, OutR rank, OutM missing) {
  using T = ScalarOf<Columns>;
  auto B = scratch<T>(product(ny, ny));
  auto z = scratch<T>(ny);
  auto Ga = scratch<T>(product(m.nv, ny));
  const T zero(0.0), half(0.5);
  const auto driven = [&](int k, const T& x, const T& y) { return select(half < T(actuated[k]), x, y); };
  for (int k = 0; k < m.nv; k++)
    for (int i = 0; i < ny; i++) Ga[k * ny + i] = driven(k, T(G[k * ny + i]), zero);
  // tau_a = G_a z,  G_a^T G_a z = G^T tau_id - G_p^T tau_p
  for (int i = 0; i < ny; i++) {
    T w(0.0);
    for (int k = 0; k < m.nv; k++) w = w + G[k * ny + i] * (tau_id[k] - driven(k, zero, T(tau[k])));
    missing[i] = z[i] = w;
    for (int j = 0; j <= i; j++) {
      T s(0.0);
      for (int k = 0; k < m.nv; k++) s = s + Ga[k * ny + i] * Ga[k * ny + j];
      B[i * ny + j] = s;
    }
  }
  rank[0] = factor_semidefinite(ny, B.data(), tolerance);
  solve_semidefinite(ny, B.data(), z.data());
  for (int k = 0; k < m.nv; k++) {
    T s(0.0);
    for (int i = 0; i < ny; i++) s = s + Ga[k * ny + i] * z[i];
    for (int i = 0; i < ny; i++) missing[i] = missing[i] - Ga[k * ny + i] * s;
    const T f = driven(k, s, T(tau[k]));
    tau_out[k] = f;
  }
}

// The solution with the shortest constraint forces instead. Kim (59)-(61).
//
//   tau = tau_ID - K^T lambda,   K_p^T lambda = (tau_ID - tau)_p,   lambda = K_p (K_p^T K_p)^+ (tau_ID - tau)_p
//
// in   K (nc nv) by rows; the rest as above
// out  tau_out (nv)  may be tau; lambda (nc)  [N m | N]
FS_HD void actuation_least_constraint(const auto& m, auto nc, const auto& K, const auto& actuated, const auto& tau_id,
                                      const auto& tau, const auto& tolerance, auto tau_out, auto lambda) {
  using T = ScalarOf<decltype(K)>;
  auto B = scratch<T>(product(m.nv, m.nv));
  auto z = scratch<T>(m.nv);
  auto Kp = scratch<T>(product(nc, m.nv));
  const T zero(0.0), half(0.5);
  const auto driven = [&](int k, const T& x, const T& y) { return select(half < T(actuated[k]), x, y); };
  for (int c = 0; c < nc; c++)
    for (int k = 0; k < m.nv; k++) Kp[c * m.nv + k] = driven(k, zero, T(K[c * m.nv + k]));
  for (int i = 0; i < m.nv; i++) {
    z[i] = driven(i, zero, tau_id[i] - T(tau[i]));
    for (int j = 0; j <= i; j++) {
      T s(0.0);
      for (int c = 0; c < nc; c++) s = s + Kp[c * m.nv + i] * Kp[c * m.nv + j];
      B[i * m.nv + j] = s;
    }
  }
  factor_semidefinite(m.nv, B.data(), tolerance);
  solve_semidefinite(m.nv, B.data(), z.data());
  for (int c = 0; c < nc; c++) {
    T s(0.0);
    for (int i = 0; i < m.nv; i++) s = s + Kp[c * m.nv + i] * z[i];
    lambda[c] = s;
  }
  for (int k = 0; k < m.nv; k++) {
    T s = tau_id[k];
    for (int c = 0; c < nc; c++) s = s - K[c * m.nv + k] * lambda[c];
    const T f = driven(k, s, T(tau[k]));
    tau_out[k] = f;
  }
}

// Both from the state: the motor forces for a motion that the loops admit.
// in   independent (nv)  1 for coordinates that may serve as y, else 0 (independent.h)
// in   actuated (nv)     1 for coordinates with motors, else 0
// in   q (nq), qd (nv), qdd (nv)  a motion with K qd = 0, K qdd = k
// in   tau (nv)          taken where there is no motor [N m | N]
// in   f_ext (6 nb)      as in rnea.h; Zeros<T>{} for none
// in   tolerance         of the ranks, as in semidefinite.h
// out  tau_out (nv)      [N m | N]
// out  rank (1)          the number of independent coordinates where every motion can be driven
// out  missing (nv)      as in actuation, at the independent coordinates; 0 at the others
// Cost O(nv^2 (nc + nv)).
template <class M, class L, class Marks, class Motors, class Q, class V, class A, class Tau, class F, class Tolerance,
          class Out, class OutR, class OutM>
FS_HD void id_loops(const M& m, const L& loops, const Marks& independent, const Motors& actuated, const Q& q,
                    const V& qd, const A& qdd, const Tau& tau, const F& f_ext, const Tolerance& tolerance, Out tau_out,
                    OutR rank, OutM missing) {
  using T = ScalarOf<Q>;
  auto K = scratch<T>(product(loops.nc, m.nv));
  auto k = scratch<T>(loops.nc);
  auto delta = scratch<T>(loops.nc);
  auto G = scratch<T>(product(m.nv, m.nv));
  auto g = scratch<T>(m.nv);
  auto tau_id = scratch<T>(m.nv);
  newton_euler(m, q, qd, qdd, f_ext, tau_id.data());
  loop_constraints(m, loops, q, qd, 0.0, K.data(), k.data(), delta.data());
  independent_map(m, loops.nc, K.data(), k.data(), independent, tolerance, G.data(), g.data(), rank);
  actuation(m, m.nv, G.data(), actuated, tau_id.data(), tau, tolerance, tau_out, rank, missing);
}

// The one with the shortest constraint forces; arguments as above and in actuation_least_constraint.
template <class M, class L, class Motors, class Q, class V, class A, class Tau, class F, class Tolerance, class Out,
          class OutL>
FS_HD void id_loops_least_constraint(const M& m, const L& loops, const Motors& actuated, const Q& q, const V& qd,
                                     const A& qdd, const Tau& tau, const F& f_ext, const Tolerance& tolerance,
                                     Out tau_out, OutL lambda) {
  using T = ScalarOf<Q>;
  auto K = scratch<T>(product(loops.nc, m.nv));
  auto k = scratch<T>(loops.nc);
  auto delta = scratch<T>(loops.nc);
  auto tau_id = scratch<T>(m.nv);
  newton_euler(m, q, qd, qdd, f_ext, tau_id.data());
  loop_constraints(m, loops, q, qd, 0.0, K.data(), k.data(), delta.data());
  actuation_least_constraint(m, loops.nc, K.data(), actuated, tau_id.data(), tau, tolerance, tau_out, lambda);
}

}  // namespace featherstorm
