// Articulated-body algorithm. RBDA Table 7.1 with the common subexpressions (7.43)-(7.50), for joints of every type.
//
//   U = I^A S,  D = S^T U + armature,  u = tau - S^T p^A
//   I^a = I^A - U D^-1 U^T,  p^a = p^A + I^a c + U D^-1 u,   I^A_parent += X^T I^a X,  p^A_parent += X^T p^a
//   a' = X a_parent + c,  qdd = D^-1 (u - U^T a'),  a = a' + S qdd
#pragma once
#include "core/articulated_joint.h"
#include "core/external_force.h"

namespace featherstorm {

// in   q (nq), qd (nv), tau (nv)
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  qdd (nv)  [rad/s^2 | m/s^2]
// Cost O(nb).
template <class M, class Q, class V, class Tau, class F, class Out>
FS_HD void aba(const M& m, const Q& q, const V& qd, const Tau& tau, const F& f_ext, Out qdd) {
  using T = ScalarOf<Q>;
  auto x = scratch<T>(m.nx);
  auto y = scratch<T>(m.nv);  // y = D^-1 u
  auto v = scratch<Motion<T>>(m.nb + 1);
  auto a = scratch<Motion<T>>(m.nb + 1);
  auto IA = scratch<ArticulatedInertia<T>>(m.nb + 1);
  auto p = scratch<Force<T>>(m.nb + 1);
  auto G = scratch<Force<T>>(m.nv);  // G = U D^-1
  ExternalForce<T, F, M> external(m, f_ext);
  v[0] = zero_motion<T>();
  remark<T>("articulated bodies, outward: velocities, bias forces");
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    update_joint(m, i, q, qd, x);
    with_joint(m, i, x, [&](const auto& J) {
      // v = X v_parent + S qd
      v[i] = apply(J, v[b.parent]) + J.velocity(slice(qd, b.v));
      // p = v x* I v - X* f_ext
      p[i] = cross_dual(v[i], b.I * v[i]) - external.on_body(i, b.parent, J);
    });
    IA[i] = articulated<T>(b.I);
  }
  remark<T>("articulated bodies, inward: articulated inertias");
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      const auto tau_i = slice(tau, b.v);
      ArticulatedInertia<T> Ia;
      Force<T> pa;
      articulate(m, b, J, tau_i, IA[i], p[i], slice(G.data(), b.v), slice(y.data(), b.v), Ia, pa);
      if (b.parent == 0) return;
      // c = c_J + v x S qd
      const auto c = cross(v[i], J.velocity(slice(qd, b.v))) + J.bias(slice(qd, b.v));
      // I^A_parent += X^T I^a X,  p^A_parent += X^T (p^a + I^a c)
      const auto pass_on = [&](const ArticulatedInertia<T>& Ia, const Force<T>& pa) {
        IA[b.parent] += apply_transpose(J, Ia);
        p[b.parent] += apply_transpose(J, pa);
      };
      pa = pa + Ia * c;
      if (b.rotor) return pass_on(Ia, pa);
      // without rotor inertia I^a S = 0 and S^T p^a = tau, exactly
      J.clear_axis(Ia);
      J.set_axis_force(pa, tau_i);
      pass_on(Ia, pa);
    });
  }
  // a_0 = -a_g
  a[0] = {zero3<T>(), -cast<T>(m.gravity)};
  remark<T>("articulated bodies, outward: accelerations");
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      const auto c = cross(v[i], J.velocity(slice(qd, b.v))) + J.bias(slice(qd, b.v));
      const Motion<T> a1 = apply(J, a[b.parent]) + c;
      accelerate(b, J, a1, slice(G.data(), b.v), slice(y.data(), b.v), slice(qdd, b.v));
      a[i] = a1 + J.velocity(slice(qdd, b.v));
    });
  }
}

}  // namespace featherstorm
