// The equation of motion of a frame: operational-space inertia, bias forces and the dynamically consistent inverse.
// RBDA (7.5)-(7.14); Lynch and Park (9.95)-(9.99) with b in place of J^-T b; Khatib 1987.
//
//   Phi = J H^-1 J^T,   Lambda = Phi^-1,   Jbar = H^-1 J^T Lambda
//   Lambda a + mu + p = Jbar^T tau,   mu = Lambda (J H^-1 C qd - Jd qd),   p = Lambda J H^-1 g
//
// with a the classical acceleration of the frame's origin (kinematics.h). Where J does not have rank 6, Lambda is the
// generalised inverse of psd_inverse.h: directions that depend on others have no part in the task, and forces tau - J^T
// Jbar^T tau still do not accelerate the frame. With damping > 0 it is (Phi + damping 1)^-1, bounded near singular
// postures, exact nowhere.
#pragma once
#include "core/dynamics/forward_dynamics.h"
#include "core/dynamics/gravity_torques.h"
#include "core/kinematics/common_frame.h"
#include "core/kinematics/jacobian.h"
#include "core/linear/psd_inverse.h"

namespace featherstorm {

// One of the six components of an array of motions, as an array.
template <class T> struct MotionComponent {
  Motion<T>* m;
  int c;
  FS_HD T& operator[](int i) const { return c < 3 ? m[i].w(c) : m[i].v(c - 3); }
};

// in   X, S  from world_axes;  frame  index of a named frame
// out  J (nv)  motion of the frame's origin by each coordinate, world axes: the columns of jacobian.h
FS_HD void frame_columns(const auto& m, const auto& X, const auto& S, int frame, auto& J) {
  using T = std::remove_cvref_t<decltype(X[0].r(0))>;
  const int body = m.frame[frame].body;
  const Vec3<T> r = X[body].r + X[body].R * m.frame[frame].X.r;
  for (int c = 0; c < m.nv; c++) J[c] = zero_motion<T>();
  for (int i = body; i > 0; i = m.body[i].parent)
    for (int c = m.body[i].v; c < m.body[i].v + freedoms(m, i); c++) J[c] = {S[c].w, S[c].v + cross(S[c].w, r)};
}

// in   q (nq), qd (nv), frame  index of a named frame
// in   damping    added to the diagonal of Phi, 0 for none
// in   tolerance  of psd_inverse.h; about 1e-10 in double, 1e-5 in float
// out  Phi, Lambda (36)  rows angular, linear; world axes, at the frame's origin
// out  mu, p (6)  [N m, N]  velocity and gravity forces
// out  Jbar (nv 6)  row-major
// Cost O(n d^2).
template <class D>
FS_HD void operational_space(const auto& m, const auto& q, const auto& qd, int frame, const D& damping,
                             const D& tolerance, auto Phi, auto Lambda, auto mu, auto p, auto Jbar) {
  using T = ScalarOf<decltype(q)>;
  const CommonFrame f(m, q);
  auto J = scratch<Motion<T>>(m.nv);
  auto Y = scratch<Motion<T>>(m.nv);  // H^-1 J^T
  auto H = scratch<T>(m.nh);
  auto C = scratch<T>(m.nv);
  auto g = scratch<T>(m.nv);
  frame_columns(m, f.X, f.S, frame, J);
  crba(m, q, H.data());
  ltdl(m, H.data());
  for (int k = 0; k < m.nv; k++) Y[k] = J[k];
  for (int c = 0; c < 6; c++) solve<Factor::LTDL>(m, H.data(), MotionComponent<T>{Y.data(), c});
  newton_euler(m, q, qd, Zeros<T>{}, Zeros<T>{}, C.data());
  gravity_torques(m, q, g.data());
  T A[6][6], velocity[6], gravity[6], Jd_qd[6];
  jdot_v(m, q, qd, frame, static_cast<T*>(Jd_qd));
  for (int i = 0; i < 6; i++) {
    velocity[i] = -Jd_qd[i], gravity[i] = T(0.0);
    for (int j = 0; j < 6; j++) A[i][j] = T(0.0);
    for (int k = 0; k < m.nv; k++) {
      velocity[i] = velocity[i] + component(Y[k], i) * (C[k] - g[k]);
      gravity[i] = gravity[i] + component(Y[k], i) * g[k];
      for (int j = 0; j <= i; j++) A[i][j] = A[i][j] + component(J[k], i) * component(Y[k], j);
    }
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) A[i][j] = i < j ? A[j][i] : A[i][j], Phi[6 * i + j] = A[i][j];
  psd_inverse(A, T(damping), T(tolerance));
  for (int i = 0; i < 6; i++) {
    T mu_i(0.0), p_i(0.0);
    for (int j = 0; j < 6; j++) {
      Lambda[6 * i + j] = A[i][j];
      mu_i = mu_i + A[i][j] * velocity[j], p_i = p_i + A[i][j] * gravity[j];
    }
    mu[i] = mu_i, p[i] = p_i;
    for (int k = 0; k < m.nv; k++) {
      T s(0.0);
      for (int j = 0; j < 6; j++) s = s + component(Y[k], j) * A[j][i];
      Jbar[6 * k + i] = s;
    }
  }
}

}  // namespace featherstorm
