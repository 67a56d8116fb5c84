// All bodies of a robot in the common frame of world_axes.h: inputs of the sweeps over pairs of joints.
//
//   const CommonFrame f(m, q);    // f.X[i], f.S[k]
//   CommonMotion f(m, q, qd);     // also f.v[i], f.Sd[k], f.Ic[i]
#pragma once
#include "core/kinematics/joint_rate.h"
#include "core/kinematics/world_axes.h"

namespace featherstorm {

// v_i = v_parent + S qd of all bodies, common frame.
FS_HD void common_velocities(const auto& m, const auto& x, const auto& X, const auto& qd, auto& v) {
  using T = ScalarOf<decltype(x)>;
  v[0] = zero_motion<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      v[i] = v[b.parent] + apply_inverse(X[i], zero_motion<T>() + J.velocity(slice(qd, b.v)));
    });
  }
}
// The same from the columns of S.
FS_HD void common_velocities(const auto& m, const auto& S, const auto& qd, auto& v) {
  using T = std::remove_cvref_t<decltype(v[0].w(0))>;
  v[0] = zero_motion<T>();
  for (int i = 1; i <= m.nb; i++) {
    v[i] = v[m.body[i].parent];
    for (int k = m.body[i].v; k < m.body[i].v + freedoms(m, i); k++) v[i] = v[i] + S[k] * T(qd[k]);
  }
}

// in   x, X, S  joint numbers at (q, qd), placements and axes of world_axes
// out  v (nb + 1)   velocity of each body, common frame
// out  Sd (nv)      dS/dt, common frame
FS_HD void axes_in_motion(const auto& m, const auto& q, const auto& qd, const auto& x, const auto& X, const auto& S,
                          auto& v, auto& Sd) {
  using T = ScalarOf<decltype(x)>;
  common_velocities(m, x, X, qd, v);
  for (int i = 1; i <= m.nb; i++) {
    const int first = m.body[i].v;
    JointRate<T> r;
    joint_rate(m, i, q, qd, qd, Zeros<T>{}, r);
    // dS/dt = v x S + S°
    for (int k = 0; k < freedoms(m, i); k++) Sd[first + k] = cross(v[i], S[first + k]) + apply_inverse(X[i], r.S[k]);
  }
}

template <class M, class T> struct CommonFrame {
  ScratchOf<T, decltype(M::nx)> x;          // (nx)  joint numbers at (q, qd)
  ScratchOf<Placement<T>, BodiesOf<M>> X;   // (nb + 1)  placement of each body
  ScratchOf<Motion<T>, decltype(M::nv)> S;  // (nv)  joint axes

  template <class Q> FS_HD CommonFrame(const M& m, const Q& q) : CommonFrame(m, q, Zeros<T>{}) {}
  template <class Q, class V>
  FS_HD CommonFrame(const M& m, const Q& q, const V& qd)
      : x(scratch<T>(m.nx)), X(scratch<Placement<T>>(m.nb + 1)), S(scratch<Motion<T>>(m.nv)) {
    update_joints(m, q, qd, x);
    world_axes(m, x, X, S);
  }
};
template <class M, class Q> CommonFrame(const M&, const Q&) -> CommonFrame<M, ScalarOf<Q>>;
template <class M, class Q, class V> CommonFrame(const M&, const Q&, const V&) -> CommonFrame<M, ScalarOf<Q>>;

template <class M, class T> struct CommonMotion {
  CommonFrame<M, T> frame;
  ScratchOf<Motion<T>, decltype(M::nv)> Sd;        // (nv)  dS/dt
  ScratchOf<Motion<T>, BodiesOf<M>> v;             // (nb + 1)  velocity of each body
  ScratchOf<RigidBodyInertia<T>, BodiesOf<M>> Ic;  // (nb + 1)  inertia of each body; Ic[0] = 0

  template <class Q, class V>
  FS_HD CommonMotion(const M& m, const Q& q, const V& qd)
      : frame(m, q, qd),
        Sd(scratch<Motion<T>>(m.nv)),
        v(scratch<Motion<T>>(m.nb + 1)),
        Ic(scratch<RigidBodyInertia<T>>(m.nb + 1)) {
    axes_in_motion(m, q, qd, frame.x, frame.X, frame.S, v, Sd);
    Ic[0] = zero_inertia<T>();
    for (int i = 1; i <= m.nb; i++) Ic[i] = in_world_axes(frame.X[i], m.body[i].I);
  }
};
template <class M, class Q, class V> CommonMotion(const M&, const Q&, const V&) -> CommonMotion<M, ScalarOf<Q>>;

}  // namespace featherstorm
