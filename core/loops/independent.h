// Closed loops in chosen independent coordinates: method 3 of RBDA section 8.5 for a batch.
//
//   K (G y + g) = k for every y,   y = the coordinates of q marked independent (8.8: "his own choice of variables")
//   G = [-K_d^+ K_y; 1],  g = [K_d^+ k; 0],   K = [K_d K_y]
//
// Independent coordinates are marked by numbers, not by branches: G has a column for every coordinate, in its place,
// and the columns of dependent ones are zero. Products with G skip zero columns (semidefinite.h).
//
// K_d^+ comes from the normal equations with one step of refinement, so that dependent rows of K do no harm and there
// is no pivoting. K_d must have full column rank; the returned rank tells this for each instance. If it does not,
// another choice of y or fd_loops.h is needed: the mechanism is at a dead centre with respect to y.
#pragma once
#include "core/linear/reduced.h"
#include "core/loops/fd_loops.h"

namespace featherstorm {

// in   nc, K (nc nv) by rows, k (nc)   of loop_constraints.h
// in   independent (nv)  1 for the coordinates y, 0 for those that follow from them
// in   tolerance  of the rank, as in semidefinite.h
// out  G (nv nv) by rows, columns of dependent coordinates zero
// out  g (nv)
// out  rank (1)  of K_d; the number of dependent coordinates where y determines the rest
// Cost O(nv^2 (nc + nv)).
FS_HD void independent_map(const auto& m, auto nc, const auto& K, const auto& k, const auto& independent,
                           const auto& tolerance, auto G, auto g, auto rank) {
  using T = ScalarOf<decltype(K)>;
  const int n = m.nv;
  const T zero(0.0), one(1.0), half(0.5);
  auto D = scratch<T>(product(m.nv, m.nv));
  auto Kd = scratch<T>(product(nc, m.nv));
  auto x = scratch<T>(m.nv);
  auto dx = scratch<T>(m.nv);
  for (int c = 0; c < nc; c++)
    for (int j = 0; j < n; j++) Kd[c * n + j] = select(half < T(independent[j]), zero, K[c * n + j]);
  // D = K_d^T K_d
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      T s(0.0);
      for (int c = 0; c < nc; c++) s = s + Kd[c * n + i] * Kd[c * n + j];
      D[i * n + j] = s;
    }
  rank[0] = factor_semidefinite(n, D.data(), tolerance);
  // x = K_d^+ b, zero at independent coordinates: twice dx = D^-1 K_d^T (b - K_d x)
  const auto solve_dependent = [&](auto b) {
    for (int i = 0; i < n; i++) x[i] = zero;
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < n; i++) dx[i] = zero;
      for (int c = 0; c < nc; c++) {
        T r = b(c);
        for (int i = 0; i < n; i++) r = r - Kd[c * n + i] * x[i];
        for (int i = 0; i < n; i++) dx[i] = dx[i] + Kd[c * n + i] * r;
      }
      solve_semidefinite(n, D.data(), dx.data());
      for (int i = 0; i < n; i++) x[i] = x[i] + dx[i];
    }
  };
  solve_dependent([&](int c) { return T(k[c]); });
  for (int j = 0; j < n; j++) g[j] = x[j];
  for (int j = 0; j < n; j++) {
    solve_dependent([&](int c) { return -K[c * n + j]; });
    for (int i = 0; i < n; i++) G[i * n + j] = select(half < T(independent[j]), i == j ? one : x[i], zero);
  }
}

// Forward dynamics; the map of fd_loops. Arguments as there and above.
// out  qdd (nv), rank (1)
template <class M, class L, class Marks, class Q, class V, class Tau, class F, class Rate, class Tolerance, class Out,
          class OutR>
FS_HD void fd_independent(const M& m, const L& loops, const Marks& independent, const Q& q, const V& qd, const Tau& tau,
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
  solve_reduced(m, H.data(), b.data(), G.data(), g.data(), m.nv, ydd.data());
  expand_reduced(m, G.data(), g.data(), m.nv, ydd.data(), qdd);
}

}  // namespace featherstorm
