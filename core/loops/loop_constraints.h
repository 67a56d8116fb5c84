// The constraint equation of closed loops, K qdd = k. RBDA sections 8.2, 8.3, 8.7, Tables 8.2-8.4.
//
//   K_lj = e_lj T^T S_j,   e_lj = +1 on the way from s to the common ancestor, -1 from p
//   k_l  = -T^T (a_s - a_p + v_s x v_p) - T'^T (v_s - v_p) - 2 alpha T^T (v_s - v_p) - beta^2 delta
//
// a are the velocity-product accelerations J' qd; k has the sign of (8.21), with k_stab already added. The book combines
// everything in base coordinates; here T is carried along the tree like a force and positions are relative to the common
// ancestor, so a loop far from the world's origin loses no digits (the rounding-error problem of section 8.7).
#pragma once
#include "core/kinematics/kinematics.h"
#include "core/kinematics/spatial_motions.h"
#include "core/loops/loop_joint.h"

namespace featherstorm {

// visit(i, side) for the tree joints on the path of a loop, towards the common ancestor: side +1 from s, -1 from p.
FS_HD void along_loop(const auto& m, const auto& loop, auto&& visit) {
  for (int i = loop.p, j = loop.s; i != j;)
    if (i > j) visit(i, -1), i = m.body[i].parent;
    else visit(j, 1), j = m.body[j].parent;
}

// in   x  joint numbers that update_joint has set
// The placement of the successor frame in the predecessor frame.
FS_HD auto loop_placement(const auto& m, const auto& loop, const auto& x) {
  using T = ScalarOf<decltype(x)>;
  Placement<T> P = cast<T>(loop.X_P), S = cast<T>(loop.X_S);
  along_loop(m, loop, [&](int i, int side) {
    with_joint(m, i, x, [&](const auto& J) {
      Placement<T>& X = side > 0 ? S : P;
      X = J.placement() * X;
    });
  });
  return inverse(P) * S;
}

// K of one loop applied to unit forces: row(k, c, +-S_j^T F_k) for each column c of K_l and each of `n` forces F.
// in   F (n)  forces on the successor, in the successor frame, reacted by the predecessor; X as loop_placement
template <class T>
FS_HD void loop_rows(const auto& m, const auto& loop, const auto& x, const Placement<T>& X, const Force<T>* F, int n,
                     auto row) {
  Force<T> on_s[6], on_p[6];
  for (int k = 0; k < n; k++) {
    on_s[k] = apply_transpose(loop.X_S, F[k]);
    on_p[k] = apply_transpose(loop.X_P, apply_transpose(X, -F[k]));
  }
  along_loop(m, loop, [&](int i, int side) {
    with_joint(m, i, x, [&](const auto& J) {
      for (int k = 0; k < n; k++) {
        Force<T>& f = side > 0 ? on_s[k] : on_p[k];
        for (int c = 0; c < J.nv; c++) row(k, m.body[i].v + c, J.project(c, f));
        f = apply_transpose(J, f);
      }
    });
  });
}

// in   q (nq), qd (nv)
// in   rate [1/s]  alpha = beta = 1 / T_stab of Baumgarte's stabilisation; 0 for none
// out  K (nc nv)  by rows [1 | m]
// out  k (nc)     [rad/s^2 | m/s^2]
// out  delta (nc) position error of each loop [rad | m]
// Cost O(nb) + O(nc depth).
FS_HD void loop_constraints(const auto& m, const auto& loops, const auto& q, const auto& qd, const auto& rate, auto K,
                            auto k, auto delta) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto a = scratch<Motion<T>>(m.nb + 1);
  v[0] = a[0] = zero_motion<T>();
  spatial_motions(m, q, qd, Zeros<T>{}, x, v, a, 1, [](int, const auto&) {});
  for (int i = 0; i < loops.nc * m.nv; i++) K[i] = T(0.0);
  const T alpha(rate);
  for (int l = 0; l < loops.nl; l++) {
    const auto& loop = loops.loop[l];
    // both bodies' motions in the successor frame
    const Placement<T> X = loop_placement(m, loop, x);
    const Motion<T> vs = apply(loop.X_S, v[loop.s]), vp = apply(X, apply(loop.X_P, v[loop.p]));
    const Motion<T> as = apply(loop.X_S, a[loop.s]), ap = apply(X, apply(loop.X_P, a[loop.p]));
    const Motion<T> vJ = vs - vp, aJ = as - ap + cross(vs, vp);
    const LoopJointAt<T> J = loop_joint(loop, X, vJ);
    for (int c = 0; c < J.n; c++) {
      k[loop.row + c] = -dot(aJ, J.T[c]) - J.rate[c] - (alpha + alpha) * dot(vJ, J.T[c]) - alpha * alpha * J.delta[c];
      delta[loop.row + c] = J.delta[c];
    }
    loop_rows(m, loop, x, X, J.T, J.n, [&](int c, int j, const T& value) { K[(loop.row + c) * m.nv + j] = value; });
  }
}

// Forces that loop joints themselves exert (springs, dampers, motors) as joint forces. RBDA (8.32), Table 8.3.
//
//   tau^a = sum J_L^T f^a
//
// in   q (nq)
// in   f (6 nl)  [N m, N]  force of each loop joint on its successor, in the successor frame; reacted by the predecessor
// out  tau_a (nv)  to be added to tau, or subtracted from C
FS_HD void loop_forces(const auto& m, const auto& loops, const auto& q, const auto& f, auto tau_a) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  update_joints(m, q, Zeros<T>{}, x);
  for (int j = 0; j < m.nv; j++) tau_a[j] = T(0.0);
  for (int l = 0; l < loops.nl; l++) {
    const auto f_l = slice(f, 6 * l);
    const Force<T> on_s{{f_l[0], f_l[1], f_l[2]}, {f_l[3], f_l[4], f_l[5]}};
    loop_rows(m, loops.loop[l], x, loop_placement(m, loops.loop[l], x), &on_s, 1,
              [&](int, int j, const T& value) { tau_a[j] = tau_a[j] + value; });
  }
}

// in   q (nq)
// out  X (12 nl)  placement of each loop's successor frame in its predecessor frame: origin (3) [m], rotation (9) by rows
FS_HD void loop_placements(const auto& m, const auto& loops, const auto& q, auto out) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  update_joints(m, q, Zeros<T>{}, x);
  for (int l = 0; l < loops.nl; l++) {
    const Placement<T> X = loop_placement(m, loops.loop[l], x);
    for (int i = 0; i < 3; i++) {
      out[12 * l + i] = X.r(i);
      for (int j = 0; j < 3; j++) out[12 * l + 3 + 3 * i + j] = X.R(i, j);
    }
  }
}

}  // namespace featherstorm
