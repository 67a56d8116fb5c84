// Rack-and-pinion joint of radius rho [m]: the pinion turns by q [rad] about z and rolls along x. RBDA Example 4.6.
//
// E = rz(q), r = (rho q, 0, 0); S = (0 0 1 rho c -rho s 0), c_J = (0 0 0 -rho s -rho c 0) v^2.
#pragma once
#include "core/joint/joint_type.h"
#include "core/spatial/transform.h"

namespace featherstorm {

struct RackPinion {
  static constexpr int nq = 1, nv = 1;
  FS_HD static constexpr JointTraits traits() { return {.name = "rack_pinion", .has_axis = true}; }
  template <class T> FS_HD static Placement<T> placement(const auto& b, const auto& q) {
    return {matrix(rotation_z<T>(q[0])), {q[0] * b.parameter, T(0.0), T(0.0)}};
  }
  template <class T> FS_HD static void subspace(const auto& b, const auto& q, Motion<T>* S) {
    const RotationZ<T> R = rotation_z<T>(q[0]);
    S[0] = {{T(0.0), T(0.0), T(1.0)}, {R.c * b.parameter, -(R.s * b.parameter), T(0.0)}};
  }
  template <class T> FS_HD static Motion<T> bias(const auto& b, const auto& q, const auto& v) {
    const RotationZ<T> R = rotation_z<T>(q[0]);
    const T k = v[0] * v[0] * b.parameter;
    return {zero3<T>(), {-(R.s * k), -(R.c * k), T(0.0)}};
  }
  template <class T>
  FS_HD static void integrate(const auto&, const auto& q, const auto& u, auto q_next) {
    q_next[0] = q[0] + u[0];
  }
  template <class T>
  FS_HD static void difference(const auto&, const auto& q0, const auto& q1, auto u) {
    u[0] = q1[0] - q0[0];
  }
};

}  // namespace featherstorm
