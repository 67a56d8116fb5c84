// Hybrid dynamics by articulated bodies: some joints have prescribed accelerations, the others known forces. RBDA
// section 9.2, Tables 9.2 and 9.3; Kim, Table 4.
//
//   prescribed joint   c = c_J + v x S qd + S qdd,   I^a = I^A,   p^a = p^A + I^A c,   tau = S^T (I^A a + p^A)
//   other joint        as in aba.h
//
// With no joint prescribed it equals aba.h, with all of them rnea.h. D is not formed at a prescribed joint, so a body
// without inertia may follow one.
#pragma once
#include "core/dynamics/articulated_joint.h"
#include "core/dynamics/external_force.h"

namespace featherstorm {

// in   prescribed (nb + 1)  1 if the acceleration of body i's joint is prescribed; the same for all of a batch
// in   q (nq), qd (nv)
// in   qdd (nv)  read at prescribed joints;  tau (nv)  read at the others
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  qdd_out (nv)  [rad/s^2 | m/s^2], tau_out (nv)  [N m | N]  all joints; may be qdd and tau
// Cost O(nb).
FS_HD void hybrid_aba(const auto& m, const auto& prescribed, const auto& q, const auto& qd, const auto& qdd,
                      const auto& tau, const auto& f_ext, auto qdd_out, auto tau_out) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto y = scratch<T>(m.nv);  // y = D^-1 u
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto a = scratch<Motion<T>>(m.nb + 1);
  auto c = scratch<Motion<T>>(m.nb + 1);
  auto IA = scratch<ArticulatedInertia<T>>(m.nb + 1);
  auto p = scratch<Force<T>>(m.nb + 1);
  auto G = scratch<Force<T>>(m.nv);  // G = U D^-1
  auto external = external_force<T>(m, f_ext);
  v[0] = zero_motion<T>();
  IA[0] = articulated<T>(zero_inertia<T>());
  p[0] = zero_force<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    update_joint(m, i, q, qd, x);
    with_joint(m, i, x, [&](const auto& J) {
      const auto vJ = J.velocity(slice(qd, b.v));
      v[i] = apply(J, v[b.parent]) + vJ;
      // c = c_J + v x S qd, plus S qdd if it is known
      c[i] = cross(v[i], vJ) + J.bias(slice(qd, b.v));
      if (prescribed[i]) c[i] = c[i] + J.velocity(slice(qdd, b.v));
      // p = v x* I v - X* f_ext
      p[i] = cross_dual(v[i], b.I * v[i]) - external.on_body(i, b.parent, J);
    });
    IA[i] = articulated<T>(b.I);
  }
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      ArticulatedInertia<T> Ia = IA[i];
      Force<T> pa = p[i];
      const auto armature = [&](int k) { return m.armature[b.v + k]; };
      if (!prescribed[i])
        articulate(J, armature, b.rotor, slice(tau, b.v), IA[i], p[i], slice(G.data(), b.v), slice(y.data(), b.v), Ia,
                   pa);
      // I^A_parent += X^T I^a X,  p^A_parent += X^T (p^a + I^a c)
      IA[b.parent] += apply_transpose(J, Ia);
      p[b.parent] += apply_transpose(J, pa + Ia * c[i]);
    });
  }
  // a_0 = -a_g
  a[0] = {zero3<T>(), -cast<T>(m.gravity)};
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      a[i] = apply(J, a[b.parent]) + c[i];
      if (prescribed[i]) {
        // tau = S^T (I^A a + p^A)
        const Force<T> f = IA[i] * a[i] + p[i];
        for (int k = 0; k < J.nv; k++) {
          qdd_out[b.v + k] = qdd[b.v + k];
          tau_out[b.v + k] = J.project(k, f) + m.armature[b.v + k] * T(qdd[b.v + k]);
        }
      } else {
        // qdd = D^-1 (u - U^T a'),  a = a' + S qdd
        accelerate(J, b.rotor, a[i], slice(G.data(), b.v), slice(y.data(), b.v), slice(qdd_out, b.v));
        for (int k = 0; k < J.nv; k++) tau_out[b.v + k] = tau[b.v + k];
        a[i] = a[i] + J.velocity(slice(qdd_out, b.v));
      }
    });
  }
}

}  // namespace featherstorm
