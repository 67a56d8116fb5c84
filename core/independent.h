// Closed loops in chosen independent coordinates: method 3 of RBDA section 8.5 for a batch.
//
//   K (G y + g) = k for every y,   y = the coordinates of q marked independent (8.8: "his own choice of variables")
//   G = [-K_d^+ K_y; 1],  g = [K_d^+ k; 0],   K = [K_d K_y]
//
// K_d^+ comes from the normal equations with one step of refinement, so that dependent rows of K do no harm and there is no
// pivoting. K_d must have full column rank; the returned rank says per instance whether it has. If it has not, another
// choice of y or fd_loops.h is needed: the mechanism is at a dead centre with respect to y.
#pragma once
#include "core/fd_loops.h"
#include "core/reduced.h"

namespace featherstorm {

// How many coordinates are marked.
template <class Mask> FS_HD int count_marked(int nv, const Mask& independent) {
  int n = 0;
  for (int j = 0; j < nv; j++) n += independent[j] ? 1 : 0;
  return n;
}

// in   K (nc nv) by rows, k (nc)   of loop_constraints.h
// in   independent (nv)  marks y, ny of them; the same for all of a batch
// in   tolerance  of the rank, as in semidefinite.h
// out  G (nv ny) by rows, g (nv)
// out  rank (1)  of K_d; nv - ny where y determines the rest
// Cost O(nv^2 (nc + nv)).
template <class M, class Constraints, class Rhs, class Mask, class Tolerance, class OutG, class Outg, class OutR>
FS_HD void independent_map(const M& m, int nc, const Constraints& K, const Rhs& k, const Mask& independent,
                           const Tolerance& tolerance, OutG G, Outg g, OutR rank) {
  using T = ScalarOf<Constraints>;
  auto D = scratch<T>(product(m.nv, m.nv));
  auto x = scratch<T>(m.nv);
  auto dx = scratch<T>(m.nv);
  auto dependent = scratch<int>(m.nv);
  const int ny = count_marked(m.nv, independent);
  int nd = 0;
  for (int j = 0; j < m.nv; j++)
    if (!independent[j]) dependent[nd++] = j;
  const auto at = [&](int c, int j) { return K[c * m.nv + j]; };
  // D = K_d^T K_d
  for (int i = 0; i < nd; i++)
    for (int j = 0; j <= i; j++) {
      T s(0.0);
      for (int c = 0; c < nc; c++) s = s + at(c, dependent[i]) * at(c, dependent[j]);
      D[i * nd + j] = s;
    }
  rank[0] = factor_semidefinite(nd, D.data(), tolerance);
  // x = K_d^+ b: twice dx = D^-1 K_d^T (b - K_d x)
  const auto solve_dependent = [&](auto b) {
    for (int i = 0; i < nd; i++) x[i] = T(0.0);
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < nd; i++) dx[i] = T(0.0);
      for (int c = 0; c < nc; c++) {
        T r = b(c);
        for (int i = 0; i < nd; i++) r = r - at(c, dependent[i]) * x[i];
        for (int i = 0; i < nd; i++) dx[i] = dx[i] + at(c, dependent[i]) * r;
      }
      solve_semidefinite(nd, D.data(), dx.data());
      for (int i = 0; i < nd; i++) x[i] = x[i] + dx[i];
    }
  };
  solve_dependent([&](int c) { return T(k[c]); });
  for (int j = 0; j < m.nv; j++) g[j] = T(0.0);
  for (int i = 0; i < nd; i++) g[dependent[i]] = x[i];
  int y = 0;
  for (int j = 0; j < m.nv; j++) {
    if (!independent[j]) continue;
    solve_dependent([&](int c) { return -at(c, j); });
    for (int i = 0; i < m.nv; i++) G[i * ny + y] = T(i == j ? 1.0 : 0.0);
    for (int i = 0; i < nd; i++) G[dependent[i] * ny + y] = x[i];
    y++;
  }
}

// Forward dynamics; the map of fd_loops. Arguments as there and above.
// out  qdd (nv), rank (1)
template <class M, class L, class Mask, class Q, class V, class Tau, class F, class Rate, class Tolerance, class Out,
          class OutR>
FS_HD void fd_independent(const M& m, const L& loops, const Mask& independent, const Q& q, const V& qd, const Tau& tau,
                          const F& f_ext, const Rate& rate, const Tolerance& tolerance, Out qdd, OutR rank) {
  using T = ScalarOf<Q>;
  auto H = scratch<T>(m.nh);
  auto b = scratch<T>(m.nv);
  auto K = scratch<T>(product(loops.nc, m.nv));
  auto k = scratch<T>(loops.nc);
  auto delta = scratch<T>(loops.nc);
  auto G = scratch<T>(product(m.nv, m.nv));
  auto g = scratch<T>(m.nv);
  auto ydd = scratch<T>(m.nv);
  newton_euler(m, q, qd, Zeros<T>{}, f_ext, b.data());
  for (int j = 0; j < m.nv; j++) b[j] = tau[j] - b[j];
  crba(m, q, H.data());
  loop_constraints(m, loops, q, qd, rate, K.data(), k.data(), delta.data());
  independent_map(m, loops.nc, K.data(), k.data(), independent, tolerance, G.data(), g.data(), rank);
  const auto ny = with_value(m.nv, count_marked(m.nv, independent));
  solve_reduced(m, H.data(), b.data(), G.data(), g.data(), ny, ydd.data());
  expand_reduced(m, G.data(), g.data(), ny, ydd.data(), qdd);
}

}  // namespace featherstorm
