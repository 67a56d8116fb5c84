// Forward dynamics by articulated bodies, the algorithm of the operation `aba`: the map of reference/dynamics/aba.h,
// RBDA Table 7.1, with the common subexpressions (7.43)-(7.50), for joints of every type.
//
//   p_i = f_i(q, qd, 0) - f_ext_i,   a' = a - a|qdd=0
//
//   U = I^A S,  D = S^T U + armature,  u = tau - S^T p^A
//   I^a = I^A - U D^-1 U^T,  p^a = p^A + U D^-1 u,   I^A_parent += X^T I^a X,  p^A_parent += X^T p^a
//   a1 = X a'_parent,  qdd = D^-1 (u - U^T a1),  a' = a1 + S qdd
//
// Difference from the table: velocities, gravity and external forces are in p, the force that each body needs for the
// motion at qdd = 0, which newton_euler.h computes in the cheapest form. There is no I^a c here: a fifth fewer
// operations.
#pragma once
#include "core/dynamics/articulated_joint.h"
#include "core/dynamics/newton_euler.h"

namespace featherstorm {

// The solution of (H + diag(d)) qdd = tau - C, where C are the joint forces for the forces p on the bodies.
//
// in      x  joint numbers that update_joint or update_position has set for all bodies
// in      d (nv)  [kg m^2 | kg]; Zeros<T>{} for none
// in      tau (nv)
// in      p (nb + 1)  force on each body, in its frame; overwritten
// out     qdd (nv)  may be tau
// Cost O(nb).
template <class D>
FS_HD void solve_articulated_bodies(const auto& m, const auto& x, const D& d, const auto& tau, auto& p, auto qdd) {
  using T = ScalarOf<decltype(x)>;
  auto y = scratch<T>(m.nv);  // y = D^-1 u
  auto IA = scratch<ArticulatedInertia<T>>(m.nb + 1);
  auto G = scratch<Force<T>>(m.nv);  // G = U D^-1
  auto a = scratch<Motion<T>>(m.nb + 1);
  for (int i = 1; i <= m.nb; i++) IA[i] = articulated<T>(m.body[i].I);
  remark<T>("articulated bodies, inward: articulated inertias");
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      const auto armature = [&](int k) { return m.armature[b.v + k] + d[b.v + k]; };
      const bool rotor = is_given<D> || b.rotor;
      ArticulatedInertia<T> Ia = IA[i];
      Force<T> pa = p[i];
      articulate(J, armature, rotor, slice(tau, b.v), IA[i], p[i], slice(G.data(), b.v), slice(y.data(), b.v), Ia, pa);
      if (b.parent == 0) return;
      set_exact(J, rotor, slice(tau, b.v), Ia, pa);
      IA[b.parent] += apply_transpose(J, Ia);
      p[b.parent] += apply_transpose(J, pa);
    });
  }
  a[0] = zero_motion<T>();
  remark<T>("articulated bodies, outward: accelerations");
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      const Motion<T> a1 = apply(J, a[b.parent]);
      accelerate(J, is_given<D> || b.rotor, a1, slice(G.data(), b.v), slice(y.data(), b.v), slice(qdd, b.v));
      a[i] = a1 + J.velocity(slice(qdd, b.v));
    });
  }
}

// in   q (nq), qd (nv), tau (nv)
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  qdd (nv)  [rad/s^2 | m/s^2]
// Cost O(nb).
FS_HD void articulated_bodies(const auto& m, const auto& q, const auto& qd, const auto& tau, const auto& f_ext,
                              auto qdd) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto p = scratch<Force<T>>(m.nb + 1);
  remark<T>("articulated bodies, outward: forces at qdd = 0");
  forces_on_bodies(m, q, qd, Zeros<T>{}, f_ext, x, p);
  solve_articulated_bodies(m, x, Zeros<T>{}, tau, p, qdd);
}

}  // namespace featherstorm
