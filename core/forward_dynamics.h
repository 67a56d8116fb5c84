// Forward dynamics in two steps: the bias force C of inverse dynamics, then the solution of H qdd = tau - C.
//
//   fd_crba      H by the composite-rigid-body algorithm, factorised: O(n d^2), the least work up to about 18 freedoms
//   fd_bias_aba  H^-1 applied by articulated bodies at rest: O(n), for larger robots
//
// Both give what aba.h gives in one go; RBDA section 6.1 and chapter 7.
#pragma once
#include "core/articulated_joint.h"
#include "core/crba.h"
#include "core/ltdl.h"
#include "core/newton_euler.h"

namespace featherstorm {

// in   q (nq), qd (nv), tau (nv)
// in   f_ext (6 nb)  as in rnea.h; Zeros<T>{} for none
// out  qdd (nv)  [rad/s^2 | m/s^2]  H^-1 (tau - C)
template <class M, class Q, class V, class Tau, class F, class Out>
FS_HD void fd_crba(const M& m, const Q& q, const V& qd, const Tau& tau, const F& f_ext, Out qdd) {
  using T = ScalarOf<Q>;
  auto b = scratch<T>(m.nv);
  auto H = scratch<T>(m.nh);
  // b = tau - C
  newton_euler(m, q, qd, Zeros<T>{}, f_ext, b.data());
  for (int k = 0; k < m.nv; k++) b[k] = tau[k] - b[k];
  // H qdd = b, free joints in the axes of their bodies
  to_body_axes(m, q, b.data());
  crba<BodyAxes>(m, q, H.data());
  ltdl(m, H.data());
  solve<Factor::LTDL>(m, H.data(), b.data());
  from_body_axes(m, q, b.data());
  for (int k = 0; k < m.nv; k++) qdd[k] = b[k];
}

// What articulate reads of a model and of a body, with d added to the armatures.
template <class M, class D> struct AddedDiagonal {
  struct Sum {
    const M& m;
    D d;
    FS_HD auto operator[](int k) const { return m.armature[k] + d[k]; }
  } armature;
};
struct Freedoms {
  int v;
  bool rotor;
};

// x = (H + diag(d))^-1 x by articulated bodies at rest: RBDA Table 7.1 without velocities, gravity and bias forces.
//
//   U = I^A S,  D = S^T U + armature + d,  u = x - S^T p,  I^a = I^A - U D^-1 U^T,  p^a = p + U D^-1 u
//   a' = X a_parent,  x = D^-1 (u - U^T a'),  a = a' + S x
//
// in      q (nq)
// in      d (nv)  [kg m^2 | kg]; Zeros<T>{} for none
// in out  x (nv)
// Cost O(nb). With BodyAxes x and d of free joints are along the axes of their bodies (joint.h).
template <class Axes = PredecessorAxes, class M, class Q, class D, class Out>
FS_HD void aba_solve(const M& m, const Q& q, const D& d, Out x) {
  using T = ScalarOf<Q>;
  auto numbers = scratch<T>(m.nx);
  auto y = scratch<T>(m.nv);  // y = D^-1 u
  auto IA = scratch<ArticulatedInertia<T>>(m.nb + 1);
  auto p = scratch<Force<T>>(m.nb + 1);
  auto G = scratch<Force<T>>(m.nv);  // G = U D^-1
  auto a = scratch<Motion<T>>(m.nb + 1);
  const AddedDiagonal<M, D> sum{{m, d}};
  for (int i = 1; i <= m.nb; i++) {
    update_position<Axes>(m, i, q, numbers);
    IA[i] = articulated<T>(m.body[i].I);
    p[i] = zero_force<T>();
  }
  remark<T>("articulated bodies at rest, inward: articulated inertias");
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    with_joint(m, i, numbers, [&](const auto& J) {
      const Freedoms freedoms{b.v, is_given<D> || b.rotor};
      const auto x_i = slice(x, b.v);
      ArticulatedInertia<T> Ia = IA[i];
      Force<T> pa = p[i];
      articulate(sum, freedoms, J, x_i, IA[i], p[i], slice(G.data(), b.v), slice(y.data(), b.v), Ia, pa);
      if (b.parent == 0) return;
      // without rotor inertia I^a S = 0 and S^T p^a = x, exactly
      if (!freedoms.rotor) J.clear_axis(Ia), J.set_axis_force(pa, x_i);
      IA[b.parent] = IA[b.parent] + apply_transpose(J, Ia);
      p[b.parent] = p[b.parent] + apply_transpose(J, pa);
    });
  }
  a[0] = zero_motion<T>();
  remark<T>("articulated bodies at rest, outward: accelerations");
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, numbers, [&](const auto& J) {
      const Freedoms freedoms{b.v, is_given<D> || b.rotor};
      const Motion<T> a1 = apply(J, a[b.parent]);
      accelerate(freedoms, J, a1, slice(G.data(), b.v), slice(y.data(), b.v), slice(x, b.v));
      a[i] = a1 + J.velocity(slice(x, b.v));
    });
  }
}

// The map of fd_crba; arguments as there.
template <class M, class Q, class V, class Tau, class F, class Out>
FS_HD void fd_bias_aba(const M& m, const Q& q, const V& qd, const Tau& tau, const F& f_ext, Out qdd) {
  using T = ScalarOf<Q>;
  auto b = scratch<T>(m.nv);
  newton_euler(m, q, qd, Zeros<T>{}, f_ext, b.data());
  for (int k = 0; k < m.nv; k++) b[k] = tau[k] - b[k];
  to_body_axes(m, q, b.data());
  aba_solve<BodyAxes>(m, q, Zeros<T>{}, b.data());
  from_body_axes(m, q, b.data());
  for (int k = 0; k < m.nv; k++) qdd[k] = b[k];
}

}  // namespace featherstorm
