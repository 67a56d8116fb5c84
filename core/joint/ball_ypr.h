// Ball joint by yaw, pitch, roll: q = (yaw about z, pitch about y, roll about x) [rad], v = dq/dt.
//
// E = rx(q2) ry(q1) rz(q0); S and c_J are RBDA (4.8) and (4.9). Singular at pitch = +-90 degrees.
#pragma once
#include "core/joint/joint_type.h"
#include "core/spatial/transform.h"

namespace featherstorm {

struct BallYpr {
  static constexpr int nq = 3, nv = 3;
  FS_HD static constexpr JointTraits traits() { return {.name = "ball_ypr", .group = JointGroup::turns_about_origin}; }
  template <class T> FS_HD static Placement<T> placement(const auto&, const auto& q) {
    T s0, c0, s1, c1, s2, c2;
    sincos(q[0], s0, c0), sincos(q[1], s1, c1), sincos(q[2], s2, c2);
    return {rows<T>(c0 * c1, c0 * s1 * s2 - s0 * c2, c0 * s1 * c2 + s0 * s2,  //
                    s0 * c1, s0 * s1 * s2 + c0 * c2, s0 * s1 * c2 - c0 * s2,  //
                    -s1, c1 * s2, c1 * c2),
            zero3<T>()};
  }
  template <class T> FS_HD static void subspace(const auto&, const auto& q, Motion<T>* S) {
    T s1, c1, s2, c2;
    sincos(q[1], s1, c1), sincos(q[2], s2, c2);
    const T o(0.0), l(1.0);
    S[0] = {{-s1, c1 * s2, c1 * c2}, zero3<T>()};
    S[1] = {{o, c2, -s2}, zero3<T>()};
    S[2] = {{l, o, o}, zero3<T>()};
  }
  template <class T> FS_HD static Motion<T> bias(const auto&, const auto& q, const auto& v) {
    T s1, c1, s2, c2;
    sincos(q[1], s1, c1), sincos(q[2], s2, c2);
    const T v01 = v[0] * v[1], v02 = v[0] * v[2], v12 = v[1] * v[2];
    return {{-(c1 * v01), c1 * c2 * v02 - s1 * s2 * v01 - s2 * v12, -(s1 * c2 * v01) - c1 * s2 * v02 - c2 * v12},
            zero3<T>()};
  }
  template <class T>
  FS_HD static void integrate(const auto&, const auto& q, const auto& u, auto q_next) {
    for (int k = 0; k < 3; k++) q_next[k] = q[k] + u[k];
  }
  template <class T>
  FS_HD static void difference(const auto&, const auto& q0, const auto& q1, auto u) {
    for (int k = 0; k < 3; k++) u[k] = q1[k] - q0[k];
  }
};

}  // namespace featherstorm
