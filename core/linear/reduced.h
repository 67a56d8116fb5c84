// Equations of motion in fewer coordinates y: qd = G yd, qdd = G ydd + g. RBDA (8.42)-(8.46), (9.26).
//
//   G^T H G ydd = G^T (tau - C - H g)
//
// Forces that do no work on the admitted motions, K^T lambda with K G = 0, drop out. Closed loops with chosen
// independent coordinates (independent.h) and loop-closure functions (loop_closure.h) use these equations. Gears, whose
// G is constant and sparse, have the same equation in coupled_dynamics.h.
#pragma once
#include "core/linear/ltdl.h"
#include "core/linear/semidefinite.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// in   H (nh)     packed, of crba.h
// in   b (nv)     tau - C
// in   G (nv ny)  by rows, of full column rank      g (nv)  Zeros<T>{} for none
// out  ydd (ny)
// Cost O(ny (nh + ny nv)).
FS_HD void solve_reduced(const auto& m, const auto& H, const auto& b, const auto& G, const auto& g, auto ny, auto ydd) {
  using T = ScalarOf<decltype(H)>;
  auto A = scratch<T>(product(ny, ny));
  auto column = scratch<T>(m.nv);
  auto h = scratch<T>(m.nv);
  // right-hand side
  for (int k = 0; k < m.nv; k++) column[k] = g[k];
  mul_h(m, H, column, h.data());
  for (int i = 0; i < ny; i++) {
    T s(0.0);
    for (int k = 0; k < m.nv; k++) s = s + G[k * ny + i] * (b[k] - h[k]);
    ydd[i] = s;
  }
  // A = G^T H G, column by column
  for (int j = 0; j < ny; j++) {
    for (int k = 0; k < m.nv; k++) column[k] = G[k * ny + j];
    mul_h(m, H, column, h.data());
    for (int i = j; i < ny; i++) {
      T s(0.0);
      for (int k = 0; k < m.nv; k++) s = s + G[k * ny + i] * h[k];
      A[i * ny + j] = s;
    }
  }
  factor_semidefinite(ny, A.data(), 0.0);
  solve_semidefinite(ny, A.data(), ydd);
}

// qdd = G ydd + g, which is g where nothing can move (ny = 0).
FS_HD void expand_reduced(const auto& m, const auto& G, const auto& g, int ny, const auto& ydd, auto qdd) {
  using T = ScalarOf<decltype(ydd)>;
  for (int k = 0; k < m.nv; k++) {
    T s(0.0);  // the whole sum for a structure, ny = 0
    for (int j = 0; j < ny; j++) s = s + G[k * ny + j] * ydd[j];
    qdd[k] = s + g[k];
  }
}

}  // namespace featherstorm
