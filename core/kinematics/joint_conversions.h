// Velocities and forces of single joints from and to those of bodies, O(nb). Liu and Jain (62)-(66), (68)-(71).
//
//   S qd = v_i - X v_p,   qd = (S^T S)^-1 S^T (v_i - X v_p)              velocities, (66)
//   F_i = W_i - sum over children W_j,   Q = S^T W,   W = S (S^T S)^-1 Q  forces, (68), (69), (71)
//
// W_i is the force that joint i exerts on body i, and -W_i on its parent. Liu and Jain treat rotations, where W is a
// torque; here it is a wrench about the body's origin (that of the joint's child link), which is the same for them
// since then S = [S_w; 0], and holds for all joints. Their torques are in the parent's axes; all arrays here are in
// world axes.
#pragma once
#include "core/kinematics/maximal.h"
#include "core/linear/semidefinite.h"

namespace featherstorm {

// y = (S^T S)^-1 y for the columns of one joint; at a singularity of its coordinates one of the many solutions.
template <class T>
FS_HD void solve_columns(const Motion<T>* S, int n, T* y) {
  T A[36];
  for (int k = 0; k < n; k++)
    for (int l = 0; l <= k; l++) A[k * n + l] = dot(S[k].w, S[l].w) + dot(S[k].v, S[l].v);
  factor_semidefinite(n, A, T(1e-12));
  solve_semidefinite(n, A, y);
}
// S of joint i in the axes of its body. Returns the number of freedoms.
template <class T>
FS_HD int columns(const auto& m, int i, const auto& x, Motion<T>* S) {
  int n = 0;
  with_joint(m, i, x, [&](const auto& J) {
    n = J.nv;
    for (int k = 0; k < J.nv; k++) S[k] = zero_motion<T>() + J.velocity(UnitArray<T>{k});
  });
  return n;
}

// in   q (nq), V (6 nb)  [rad/s, m/s]  as in maximal.h
// out  qd (nv)
// out  residual (6 nb)  [rad/s, m/s]  part of v_i - X v_p that joint i does not admit: angular, and of the body's
//      origin;
//      world axes. If it is zero, qd is that of generalised_velocity
FS_HD void joint_velocities(const auto& m, const auto& q, const auto& V, auto qd, auto residual) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto X = scratch<Placement<T>>(m.nb + 1);
  auto v = scratch<Motion<T>>(m.nb + 1);
  update_joints(m, q, Zeros<T>{}, x);
  body_placements(m, x, X);
  v[0] = zero_motion<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    // v_i at the body's origin, body axes
    const Vec3<T> w = transpose_times(X[i].R, vector_from<T>(V, 6 * (i - 1)));
    const Vec3<T> u = transpose_times(X[i].R, vector_from<T>(V, 6 * (i - 1) + 3));
    v[i] = {w, u - cross(w, mass_centre<T>(b.I).c)};
    Motion<T> S[6], d = v[i];
    T y[6];
    const int n = columns(m, i, x, S);
    with_joint(m, i, x, [&](const auto& J) { d = d - apply(J, v[b.parent]); });
    for (int k = 0; k < n; k++) y[k] = dot(S[k].w, d.w) + dot(S[k].v, d.v);
    solve_columns(S, n, y);
    for (int k = 0; k < n; k++) qd[b.v + k] = y[k], d = d - S[k] * y[k];
    store_vector(residual, 6 * (i - 1), X[i].R * d.w);
    store_vector(residual, 6 * (i - 1) + 3, X[i].R * d.v);
  }
}

// in   q (nq), W (6 nb)  [N m, N]  on each body from its joint: moment about the body's origin and force, world axes
// out  F (6 nb)  [N m, N]  on each body from all its joints, as in maximal.h
// out  Q (nv)  [N m | N]  S^T W, which is also J^T F
FS_HD void forces_of_joints(const auto& m, const auto& q, const auto& W, auto F, auto Q) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto X = scratch<Placement<T>>(m.nb + 1);
  update_joints(m, q, Zeros<T>{}, x);
  body_placements(m, x, X);
  const auto centre = [&](int i) { return X[i].r + X[i].R * mass_centre<T>(m.body[i].I).c; };
  for (int k = 0; k < 6 * m.nb; k++) F[k] = T(0.0);
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    const Vec3<T> n = vector_from<T>(W, 6 * (i - 1)), f = vector_from<T>(W, 6 * (i - 1) + 3);
    const Force<T> here{transpose_times(X[i].R, n), transpose_times(X[i].R, f)};
    with_joint(m, i, x, [&](const auto& J) {
      for (int k = 0; k < J.nv; k++) Q[b.v + k] = J.project(k, here);
    });
    // on the body, and the opposite on its parent
    const auto add = [&](int j, const T& sign) {
      const int at = 6 * (j - 1);
      const Vec3<T> moment = n + cross(X[i].r - centre(j), f);
      store_vector(F, at, vector_from<T>(F, at) + moment * sign);
      store_vector(F, at + 3, vector_from<T>(F, at + 3) + f * sign);
    };
    add(i, T(1.0));
    if (b.parent > 0) add(b.parent, T(-1.0));
  }
}

// in   q (nq), Q (nv)  [N m | N]
// out  W (6 nb)  [N m, N]  the shortest with S^T W = Q at every joint, as in forces_of_joints
FS_HD void joint_wrenches_of(const auto& m, const auto& q, const auto& Q, auto W) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto X = scratch<Placement<T>>(m.nb + 1);
  update_joints(m, q, Zeros<T>{}, x);
  body_placements(m, x, X);
  for (int i = 1; i <= m.nb; i++) {
    Motion<T> S[6], d = zero_motion<T>();
    T y[6];
    const int n = columns(m, i, x, S);
    for (int k = 0; k < n; k++) y[k] = Q[m.body[i].v + k];
    solve_columns(S, n, y);
    for (int k = 0; k < n; k++) d = d + S[k] * y[k];
    store_vector(W, 6 * (i - 1), X[i].R * d.w);
    store_vector(W, 6 * (i - 1) + 3, X[i].R * d.v);
  }
}

}  // namespace featherstorm
