// Articulated-body algorithm, body coordinates. RBDA Table 7.1, for joints of every type.
//
//   outward   v = X v_parent + S qd,  c = c_J + v x S qd,  I^A = I,  p^A = v x* I v - X* f_ext
//   inward    U = I^A S,  D = S^T U + armature,  u = tau - S^T p^A
//             I^a = I^A - U D^-1 U^T,  p^a = p^A + I^a c + U D^-1 u
//             I^A_parent += X^T I^a X,  p^A_parent += X^T p^a
//   outward   a' = X a_parent + c,  qdd = D^-1 (u - U^T a'),  a = a' + S qdd
//
// The freedoms of a joint are eliminated one after the other, so U, D and u are a force and two numbers for each of
// them.
//
// Reference only. Operations run dynamics/articulated_bodies.h, the same map in a fifth fewer arithmetic operations.
// Both are tested against each other.
#pragma once
#include "core/dynamics/external_force.h"
#include "core/kinematics/world_axes.h"

namespace featherstorm {

// in   q (nq), qd (nv), tau (nv)
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  qdd (nv)  [rad/s^2 | m/s^2]  may be tau
// Cost O(nb).
FS_HD void aba(const auto& m, const auto& q, const auto& qd, const auto& tau, const auto& f_ext, auto qdd) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto c = scratch<Motion<T>>(m.nb + 1);
  auto a = scratch<Motion<T>>(m.nb + 1);
  auto IA = scratch<ArticulatedInertia<T>>(m.nb + 1);
  auto pA = scratch<Force<T>>(m.nb + 1);
  auto U = scratch<Force<T>>(m.nv);
  auto D = scratch<T>(m.nv);
  auto u = scratch<T>(m.nv);
  auto external = external_force<T>(m, f_ext);
  // v_0 = 0, a_0 = -a_g
  v[0] = zero_motion<T>();
  a[0] = {zero3<T>(), -cast<T>(m.gravity)};
  IA[0] = articulated<T>(zero_inertia<T>());
  pA[0] = zero_force<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    update_joint(m, i, q, qd, x);
    with_joint(m, i, x, [&](const auto& J) {
      const auto vJ = J.velocity(slice(qd, b.v));
      // v_i = X v_parent + S qd
      v[i] = apply(J, v[b.parent]) + vJ;
      // c_i = c_J + v_i x S qd
      c[i] = cross(v[i], vJ) + J.bias(slice(qd, b.v));
      // I^A_i = I_i,  p^A_i = v_i x* I_i v_i - X* f_ext
      IA[i] = articulated<T>(b.I);
      pA[i] = cross_dual(v[i], b.I * v[i]) - external.on_body(i, b.parent, J);
    });
  }
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      ArticulatedInertia<T> Ia = IA[i];
      Force<T> pa = pA[i];
      for (int k = J.nv - 1; k >= 0; k--) {
        const int j = b.v + k;
        // U = I^A S,  D = S^T U + armature,  u = tau - S^T p^A
        U[j] = J.force_of_axis(k, Ia);
        D[j] = J.project(k, U[j]) + m.armature[j];
        u[j] = tau[j] - J.project(k, pa);
        // I^A - U D^-1 U^T,  p^A + U D^-1 u
        const Force<T> UD = U[j] * rcp(D[j]);
        Ia = {minus_outer(Ia.I, U[j].n, UD.n), minus_outer(Ia.H, U[j].n, UD.f), minus_outer(Ia.M, U[j].f, UD.f)};
        pa += UD * u[j];
      }
      // I^A_parent += X^T I^a X,  p^A_parent += X^T (p^a + I^a c)
      IA[b.parent] += apply_transpose(J, Ia);
      pA[b.parent] += apply_transpose(J, pa + Ia * c[i]);
    });
  }
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      // a' = X a_parent + c
      a[i] = apply(J, a[b.parent]) + c[i];
      for (int k = 0; k < J.nv; k++) {
        const int j = b.v + k;
        // qdd = D^-1 (u - U^T a'),  a = a' + S qdd
        qdd[j] = (u[j] - dot(a[i], U[j])) * rcp(D[j]);
        a[i] = a[i] + axis<T>(J, k) * T(qdd[j]);
      }
    });
  }
}

}  // namespace featherstorm
