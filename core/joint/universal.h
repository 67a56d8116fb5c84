// Universal (Hooke) joint: q0 about z of the predecessor, then q1 about the turned x [rad]; v = dq/dt.
//
// E = rx(q1) rz(q0); S = [(0 s1 c1) (1 0 0); 0 0], c_J = (0 c1 -s1; 0) v0 v1.
#pragma once
#include "core/joint/joint_type.h"
#include "core/spatial/transform.h"

namespace featherstorm {

struct Universal {
  static constexpr int nq = 2, nv = 2;
  FS_HD static constexpr JointTraits traits() { return {.name = "universal", .has_axis = true}; }
  template <class T, class B, class Q> FS_HD static Placement<T> placement(const B&, const Q& q) {
    T s0, c0, s1, c1;
    sincos(q[0], s0, c0), sincos(q[1], s1, c1);
    return {rows<T>(c0, -(s0 * c1), s0 * s1, s0, c0 * c1, -(c0 * s1), T(0.0), s1, c1), zero3<T>()};
  }
  template <class T, class B, class Q> FS_HD static void subspace(const B&, const Q& q, Motion<T>* S) {
    T s1, c1;
    sincos(q[1], s1, c1);
    const T o(0.0), l(1.0);
    S[0] = {{o, s1, c1}, zero3<T>()};
    S[1] = {{l, o, o}, zero3<T>()};
  }
  template <class T, class B, class Q, class V> FS_HD static Motion<T> bias(const B&, const Q& q, const V& v) {
    T s1, c1;
    sincos(q[1], s1, c1);
    const T v01 = v[0] * v[1];
    return {{T(0.0), c1 * v01, -(s1 * v01)}, zero3<T>()};
  }
  template <class T, class B, class Q, class U, class Out>
  FS_HD static void integrate(const B&, const Q& q, const U& u, Out q_next) {
    for (int k = 0; k < 2; k++) q_next[k] = q[k] + u[k];
  }
  template <class T, class B, class Q, class Q1, class Out>
  FS_HD static void difference(const B&, const Q& q0, const Q1& q1, Out u) {
    for (int k = 0; k < 2; k++) u[k] = q1[k] - q0[k];
  }
};

}  // namespace featherstorm
