// Floating-base systems: the joints' equations of motion with the base's six freedoms apart. RBDA sections 9.3-9.5.
//
//   [I0^c F; F^T H] [a0; qdd] + [p0^c; C] = [0; tau]      (9.13), base coordinates
//
// The base is body 1 behind a free joint, an ancestor of all other bodies; n = nv - 6 joint coordinates follow it.
// An armature A of the free joint is S A S^T in I0^c, and -S A S^T c_J in p0^c, as a0 = S qdd0 + c_J with S^-1 = S^T.
// Spatial quantities are in the base's frame. a0 is the base's true spatial acceleration: gravity is part of p0^c and
// C, through a0^vp = -a_g, and comes back in a0. H is the block of crba.h behind the base's, unchanged.
// Forward dynamics with the base's 6x6 solved once (Table 9.4) is what articulated_bodies.h does at a free joint.
#pragma once
#include "core/dynamics/articulated_joint.h"
#include "core/dynamics/external_force.h"
#include "core/kinematics/jacobian.h"
#include "core/kinematics/spatial_motions.h"

namespace featherstorm {

// S A S^T of the free joint of body 1, A its armature.
template <class T> FS_HD ArticulatedInertia<T> armature_of_base(const auto& m, const auto& x) {
  const T o(0.0);
  ArticulatedInertia<T> inertia{{o, o, o, o, o, o}, rows<T>(o, o, o, o, o, o, o, o, o), {o, o, o, o, o, o}};
  if (!m.body[1].rotor) return inertia;
  const Mat3<T> R = load_matrix<T>(x, m.body[1].x);
  const auto entry = [&](int i, int j) {
    T sum(0.0);
    for (int k = 0; k < 3; k++) sum = sum + R(k, i) * m.armature[k] * R(k, j);
    return sum;
  };
  inertia.M = {entry(0, 0), entry(0, 1), entry(0, 2), entry(1, 1), entry(1, 2), entry(2, 2)};
  inertia.I = {T(m.armature[3]), o, o, T(m.armature[4]), o, T(m.armature[5])};
  return inertia;
}

// in   q (nq)
// out  I0 (36)  composite inertia of the whole system, by rows, armature of the free joint included
// out  F (6 n)  F_i = I^c_i S_i, by rows [N m s^2, N s^2 per rad | m]: the momentum that a joint's unit velocity gives
// RBDA Table 9.5, the composite-rigid-body part. Cost O(n depth).
FS_HD void floating_inertia(const auto& m, const auto& q, auto I0, auto F) {
  using T = ScalarOf<decltype(q)>;
  const int n = m.nv - 6;
  auto x = scratch<T>(m.nx);
  auto Ic = scratch<RigidBodyInertia<T>>(m.nb + 1);
  update_joints(m, q, Zeros<T>{}, x);
  for (int i = 1; i <= m.nb; i++) Ic[i] = cast<T>(m.body[i].I);
  for (int i = m.nb; i > 1; i--) {
    const auto& b = m.body[i];
    Force<T> f[6];
    int dofs = 0;
    with_joint(m, i, x, [&](const auto& J) {
      dofs = J.nv;
      for (int k = 0; k < J.nv; k++) f[k] = apply_transpose(J, J.force_of_axis(k, Ic[i]));
      Ic[b.parent] += apply_transpose(J, Ic[i]);
    });
    // F_i to base coordinates
    for (int j = b.parent; j > 1; j = m.body[j].parent)
      with_joint(m, j, x, [&](const auto& J) {
        for (int k = 0; k < dofs; k++) f[k] = apply_transpose(J, f[k]);
      });
    for (int k = 0; k < dofs; k++)
      for (int c = 0; c < 6; c++) F[c * n + b.v - 6 + k] = component(f[k], c);
  }
  ArticulatedInertia<T> I = articulated<T>(Ic[1]);
  I += armature_of_base<T>(m, x);
  const Mat3<T> J = full(I.I), mass = full(I.M);
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      I0[6 * r + c] = J(r, c), I0[6 * r + 3 + c] = I.H(r, c);
      I0[6 * (3 + r) + c] = I.H(c, r), I0[6 * (3 + r) + 3 + c] = mass(r, c);
    }
}

// Forces on the bodies while the base has only the acceleration -a_g, of RBDA Tables 9.5 and 9.6: a_1 = -a_g in the
// base's
// axes, a_i = X a_parent + S qdd + c_J + v x S qd,  f_i = I a_i + v_i x* I v_i - f_ext, and f_1 less S A S^T c_J.
//
// in   q (nq), qd (nv), qdd (nv)  the base's six accelerations are not read
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  x (nx)  joint numbers
// out  f (nb + 1)  body axes
template <class T>
FS_HD void forces_beside_base(const auto& m, const auto& q, const auto& qd, const auto& qdd, const auto& f_ext, auto& x,
                              auto& f) {
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto a = scratch<Motion<T>>(m.nb + 1);
  auto external = external_force<T>(m, f_ext);
  const auto force = [&](int i, const auto& J) {
    const auto& b = m.body[i];
    f[i] = b.I * a[i] + cross_dual(v[i], b.I * v[i]) - external.on_body(i, b.parent, J);
  };
  update_joint(m, 1, q, qd, x);
  with_joint(m, 1, x, [&](const auto& J) {
    v[1] = apply(J, zero_motion<T>()) + J.velocity(qd);
    a[1] = apply(J, Motion<T>{zero3<T>(), -cast<T>(m.gravity)});
    force(1, J);
    if (m.body[1].rotor) f[1] = f[1] - armature_of_base<T>(m, x) * (zero_motion<T>() + J.bias(qd));
  });
  spatial_motions(m, q, qd, qdd, x, v, a, 2, force);
}

// in   q (nq), qd (nv)
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  p0 (6)  [N m, N]  force on the base for a0 = 0 and qdd = 0
// out  C (n)   joint forces for a0 = 0 and qdd = 0
// RBDA Table 9.5, the recursive Newton-Euler part: a0^vp = -a_g. Cost O(nb).
FS_HD void floating_bias(const auto& m, const auto& q, const auto& qd, const auto& f_ext, auto p0, auto C) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto f = scratch<Force<T>>(m.nb + 1);
  forces_beside_base<T>(m, q, qd, Zeros<T>{}, f_ext, x, f);
  for (int i = m.nb; i > 1; i--) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      for (int k = 0; k < J.nv; k++) C[b.v - 6 + k] = J.project(k, f[i]);
      f[b.parent] += apply_transpose(J, f[i]);
    });
  }
  for (int c = 0; c < 6; c++) p0[c] = component(f[1], c);
}

// The base eliminated, RBDA (9.14)-(9.16), dense: H^fl qdd + C^fl = tau.
//
//   H^fl = H - F^T (I0^c)^-1 F,   C^fl = C - F^T (I0^c)^-1 p0^c
//
// in   I0 (36), F (6 n), p0 (6)  of the functions above
// in out  H (n n) by rows, C (n)  become H^fl, C^fl
// Branch sparsity is lost: for computing accelerations keep the (6 + n) system of articulated_bodies.h or crba.h.
FS_HD void floating_reduce(int n, const auto& I0, const auto& F, const auto& p0, auto H, auto C) {
  using T = ScalarOf<decltype(I0)>;
  T A[6][6], x[6];
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 6; c++) A[r][c] = I0[6 * r + c];
  factor_small(A);
  for (int j = -1; j < n; j++) {
    for (int c = 0; c < 6; c++) x[c] = j < 0 ? p0[c] : F[c * n + j];
    solve_small(A, x);
    for (int i = 0; i < n; i++) {
      T s(0.0);
      for (int c = 0; c < 6; c++) s = s + F[c * n + i] * x[c];
      if (j < 0) C[i] = C[i] - s;
      else H[i * n + j] = H[i * n + j] - s;
    }
  }
}

// Inverse dynamics of a floating base: joint accelerations are known, the base's is not. RBDA section 9.5, Table 9.6.
//
//   a_i^r = X a^r_parent + S qdd + c_J + v x S qd,  a0^r = -a_g;   p_i = I a_i^r + v x* I v - f_ext
//   I^c_parent += X^T I^c X,  p^c_parent += X^T p^c;   a0 = -(I0^c)^-1 p0^c;   tau_i = S^T (I^c_i ^ia0 + p^c_i)
//
// in   q (nq), qd (nv), qdd (nv)  the base's six are not read
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  qdd_out (nv)  with the base's acceleration in the coordinates of the free joint; may be qdd
// out  tau (nv)  the base's six are zero
// Cost O(nb).
FS_HD void floating_id(const auto& m, const auto& q, const auto& qd, const auto& qdd, const auto& f_ext, auto qdd_out,
                       auto tau) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto a = scratch<Motion<T>>(m.nb + 1);
  auto p = scratch<Force<T>>(m.nb + 1);
  auto Ic = scratch<RigidBodyInertia<T>>(m.nb + 1);
  forces_beside_base<T>(m, q, qd, qdd, f_ext, x, p);
  for (int i = 1; i <= m.nb; i++) Ic[i] = cast<T>(m.body[i].I);
  for (int i = m.nb; i > 1; i--)
    with_joint(m, i, x, [&](const auto& J) {
      Ic[m.body[i].parent] += apply_transpose(J, Ic[i]);
      p[m.body[i].parent] += apply_transpose(J, p[i]);
    });
  // a0 in the coordinates of each body
  ArticulatedInertia<T> I0 = articulated<T>(Ic[1]);
  I0 += armature_of_base<T>(m, x);
  a[1] = solve_articulated(I0, -p[1]);
  for (int i = 2; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      a[i] = apply(J, a[b.parent]);
      const Force<T> f = Ic[i] * a[i] + p[i];
      for (int k = 0; k < J.nv; k++) {
        tau[b.v + k] = J.project(k, f) + m.armature[b.v + k] * T(qdd[b.v + k]);
        qdd_out[b.v + k] = qdd[b.v + k];
      }
    });
  }
  // a0 = S qdd + c_J with S^-1 = S^T
  with_joint(m, 1, x, [&](const auto& J) {
    const Motion<T> s = a[1] - (zero_motion<T>() + J.bias(qd));
    for (int k = 0; k < J.nv; k++) {
      qdd_out[k] = J.project(k, Force<T>{s.w, s.v});
      tau[k] = T(0.0);
    }
  });
}

// Jacobian of a frame of a system that floats freely: joint velocities change its velocity while momentum is conserved.
// RBDA Example 9.4, there J_i - (I0^c)^-1 F in base coordinates.
//
//   dv_F = J^fl dqd,   J^fl = J_q - J_0 (I0^c)^-1 F,   J = [J_0 J_q]
//
// in   q (nq), frame  index of a named frame
// out  J_fl (6 n)  rows as in jacobian.h: angular, linear; world axes, at the frame's origin
FS_HD void floating_jacobian(const auto& m, const auto& q, int frame, auto J_fl) {
  using T = ScalarOf<decltype(q)>;
  const int n = m.nv - 6;
  auto x = scratch<T>(m.nx);
  auto J = scratch<T>(sixfold(m.nv));
  auto F = scratch<T>(sixfold(m.nv));
  T I0[36], A[6][6], y[6];
  jacobian(m, q, frame, J.data());
  floating_inertia(m, q, &I0[0], F.data());
  for (int r = 0; r < 6; r++)
    for (int c = 0; c < 6; c++) A[r][c] = I0[6 * r + c];
  factor_small(A);
  update_joint(m, 1, q, Zeros<T>{}, x);
  with_joint(m, 1, x, [&](const auto& base) {
    for (int j = 0; j < n; j++) {
      for (int c = 0; c < 6; c++) y[c] = F[c * n + j];
      solve_small(A, y);
      // the base's velocity per qd_j, in its joint's coordinates: -S^T (I0^c)^-1 F_j
      const Force<T> s{{y[0], y[1], y[2]}, {y[3], y[4], y[5]}};
      for (int r = 0; r < 6; r++) {
        T sum = J[r * m.nv + 6 + j];
        for (int k = 0; k < base.nv; k++) sum = sum - J[r * m.nv + k] * base.project(k, s);
        J_fl[r * n + j] = sum;
      }
    }
  });
}

}  // namespace featherstorm
