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
  template <class T> FS_HD static Placement<T> placement(const auto&, const auto& q) {
    T s0, c0, s1, c1;
    sincos(q[0], s0, c0), sincos(q[1], s1, c1);
    return {rows<T>(c0, -(s0 * c1), s0 * s1, s0, c0 * c1, -(c0 * s1), T(0.0), s1, c1), zero3<T>()};
  }
  template <class T> FS_HD static void subspace(const auto&, const auto& q, Motion<T>* S) {
    T s1, c1;
    sincos(q[1], s1, c1);
    const T o(0.0), l(1.0);
    S[0] = {{o, s1, c1}, zero3<T>()};
    S[1] = {{l, o, o}, zero3<T>()};
  }
  template <class T> FS_HD static Motion<T> bias(const auto&, const auto& q, const auto& v) {
    T s1, c1;
    sincos(q[1], s1, c1);
    const T v01 = v[0] * v[1];
    return {{T(0.0), c1 * v01, -(s1 * v01)}, zero3<T>()};
  }
  template <class T>
  FS_HD static void integrate(const auto&, const auto& q, const auto& u, auto q_next) {
    for (int k = 0; k < 2; k++) q_next[k] = q[k] + u[k];
  }
  template <class T>
  FS_HD static void difference(const auto&, const auto& q0, const auto& q1, auto u) {
    for (int k = 0; k < 2; k++) u[k] = q1[k] - q0[k];
  }
};

}  // namespace featherstorm
