// Configurations as points: what a velocity does to one in a time, and which velocity leads from one to another.
//
//   integrate    q_next = q (+) v dt      difference   v with q0 (+) v = q1, the shortest
//
// Each joint's file holds its own pair. A joint's coordinates are the same whichever way it runs (its polarity), so
// nothing here depends on it. Unit quaternions are renormalised by every integration.
#pragma once
#include "core/joint/joint.h"

namespace featherstorm {

// v dt, component by component.
template <class V, class T> struct Scaled {
  V v;
  T dt;
  FS_HD T operator[](int i) const { return T(v[i]) * dt; }
};

#ifndef __CUDA_ARCH__
// A function (parameter, a, b, out) of a user-defined joint, lane by lane through its double form or traced.
template <class T, class A, class B, class Out>
void user_joint_map(void (*f)(double, const double*, const double*, double*),
                    void (*trace)(double, const Expr*, const Expr*, Expr*), double parameter, const A& a, int na,
                    const B& b, int nb, Out out, int n) {
  if constexpr (std::is_same_v<T, Expr>) {
    Expr ai[7], bi[7], r[7];
    for (int k = 0; k < na; k++) ai[k] = a[k];
    for (int k = 0; k < nb; k++) bi[k] = b[k];
    trace(parameter, ai, bi, r);
    for (int k = 0; k < n; k++) out[k] = r[k];
  } else {
    T result[7];
    for (int l = 0; l < lanes<T>; l++) {
      double ai[7], bi[7], r[7];
      for (int k = 0; k < na; k++) ai[k] = lane(T(a[k]), l);
      for (int k = 0; k < nb; k++) bi[k] = lane(T(b[k]), l);
      f(parameter, ai, bi, r);
      for (int k = 0; k < n; k++) set_lane(result[k], l, r[k]);
    }
    for (int k = 0; k < n; k++) out[k] = result[k];
  }
}
#endif

// in   q (nq), v (nv), dt [s]
// out  q_next (nq)  may be q
template <class M, class Q, class V, class Time, class Out>
FS_HD void integrate(const M& m, const Q& q, const V& v, const Time& dt, Out q_next) {
  using T = ScalarOf<Q>;
  const Scaled<V, T> u{v, T(dt)};
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint_type(b.type, [&](auto joint) {
      decltype(joint)::template integrate<T>(b, slice(q, b.q), slice(u, b.v), slice(q_next, b.q));
    });
#ifndef __CUDA_ARCH__
    if constexpr (requires { m.user; }) {  // a device model has no user-defined joints
      if (b.type != JointType::UserDefined) continue;
      const UserJoint& user = m.user[b.user];
      user_joint_map<T>(user.integrate, user.trace_integrate, lane(b.parameter, 0), slice(q, b.q), user.nq,
                        slice(u, b.v), user.nv, slice(q_next, b.q), user.nq);
    }
#endif
  }
}

// in   q0, q1 (nq)
// out  v (nv)  the constant velocity that leads from q0 to q1 in unit time; rotations by at most half a turn
template <class M, class Q, class Q1, class Out> FS_HD void difference(const M& m, const Q& q0, const Q1& q1, Out v) {
  using T = ScalarOf<Q>;
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint_type(b.type, [&](auto joint) {
      decltype(joint)::template difference<T>(b, slice(q0, b.q), slice(q1, b.q), slice(v, b.v));
    });
#ifndef __CUDA_ARCH__
    if constexpr (requires { m.user; }) {  // a device model has no user-defined joints
      if (b.type != JointType::UserDefined) continue;
      const UserJoint& user = m.user[b.user];
      user_joint_map<T>(user.difference, user.trace_difference, lane(b.parameter, 0), slice(q0, b.q), user.nq,
                        slice(q1, b.q), user.nq, slice(v, b.v), user.nv);
    }
#endif
  }
}

}  // namespace featherstorm
