// Configurations as points: motion of one by a velocity, and the velocity from one to another.
//
//   integrate    q_next = q (+) v dt      difference   v with q0 (+) v = q1, the shortest
//
// Each joint's file has its own pair. Polarity does not change a joint's coordinates, so nothing here depends on it.
// Unit quaternions are renormalised by every integration.
#pragma once
#include "core/model/joints.h"

namespace featherstorm {

// v dt, component by component.
template <class V, class T> struct Scaled {
  V v;
  T dt;
  FS_HD T operator[](int i) const { return T(v[i]) * dt; }
};

#ifndef __CUDA_ARCH__
// A function (parameter, a, b, out) of a user-defined joint: traced, or lane by lane.
template <class T>
void user_joint_map(auto f, double parameter, const auto& a, int na, const auto& b, int nb, auto out, int n) {
  using Scalar = typename UserScalar<T>::type;
  T result[7];
  if constexpr (is_traced<T>) {
    T ai[7], bi[7];
    for (int k = 0; k < na; k++) ai[k] = a[k];
    for (int k = 0; k < nb; k++) bi[k] = b[k];
    f(parameter, ai, bi, result);
  } else {
    for (int l = 0; l < lanes<T>; l++) {
      Scalar ai[7], bi[7], r[7];
      for (int k = 0; k < na; k++) ai[k] = lane(T(a[k]), l);
      for (int k = 0; k < nb; k++) bi[k] = lane(T(b[k]), l);
      f(parameter, ai, bi, r);
      for (int k = 0; k < n; k++) set_lane(result[k], l, r[k]);
    }
  }
  for (int k = 0; k < n; k++) out[k] = result[k];
}
#endif

// q_next = q (+) u for the joint of body b; the arrays are those of the joint.
template <class T, class M>
FS_HD void integrate_joint(const M& m, const Body<typename M::Number>& b, const auto& q, const auto& u, auto q_next) {
  with_joint_type(b.type, [&](auto joint) { decltype(joint)::template integrate<T>(b, q, u, q_next); });
#ifndef __CUDA_ARCH__
  if constexpr (requires { m.user; }) {  // a device model has no user-defined joints
    if (!user_defined(b)) return;
    const UserJoint& user = m.user[b.user];
    const auto integrate = user.template text<typename UserScalar<T>::type>().integrate;
    user_joint_map<T>(integrate, lane(b.parameter, 0), q, user.nq, u, user.nv, q_next, user.nq);
  }
#endif
}

// in   q (nq), v (nv), dt [s]
// out  q_next (nq)  may be q
template <class V>
FS_HD void integrate(const auto& m, const auto& q, const V& v, const auto& dt, auto q_next) {
  using T = ScalarOf<decltype(q)>;
  const Scaled<V, T> u{v, T(dt)};
  remark<T>("integration of the positions");
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    integrate_joint<T>(m, b, slice(q, b.q), slice(u, b.v), slice(q_next, b.q));
  }
}

// in   q0, q1 (nq)
// out  v (nv)  the constant velocity that leads from q0 to q1 in unit time; rotations by at most half a turn
FS_HD void difference(const auto& m, const auto& q0, const auto& q1, auto v) {
  using T = ScalarOf<decltype(q0)>;
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint_type(b.type, [&](auto joint) {
      decltype(joint)::template difference<T>(b, slice(q0, b.q), slice(q1, b.q), slice(v, b.v));
    });
#ifndef __CUDA_ARCH__
    if constexpr (requires { m.user; }) {  // a device model has no user-defined joints
      if (!user_defined(b)) continue;
      const UserJoint& user = m.user[b.user];
      const auto map = [&](auto difference) {
        user_joint_map<T>(difference, lane(b.parameter, 0), slice(q0, b.q), user.nq, slice(q1, b.q), user.nq,
                          slice(v, b.v), user.nv);
      };
      if constexpr (is_traced<T>) map(user.trace_difference);
      else map(user.difference);
    }
#endif
  }
}

}  // namespace featherstorm
