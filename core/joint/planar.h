// Planar joint: q = (angle about z [rad], x, y [m] in the axes of the predecessor), v = dq/dt.
//
// RBDA Table 4.1 has S = [e3 e4 e5] with velocities in the successor's axes, which are not the derivatives of its q
// (Example 4.5 printed). As for the free joint the linear velocity is taken in the predecessor's axes instead:
//   S = [0 0 0; 0 0 0; 1 0 0; 0 c s; 0 -s c; 0 0 0],  c_J = -w x (E v_lin)
#pragma once
#include "core/joint/joint_type.h"
#include "core/spatial/transform.h"

namespace featherstorm {

struct Planar {
  static constexpr int nq = 3, nv = 3;
  FS_HD static constexpr JointTraits traits() {
    return {.name = "planar", .has_axis = true, .first_length = 1, .lengths = 2};
  }
  template <class T> FS_HD static Placement<T> placement(const auto&, const auto& q) {
    return {matrix(rotation_z<T>(q[0])), {q[1], q[2], T(0.0)}};
  }
  template <class T> FS_HD static void subspace(const auto&, const auto& q, Motion<T>* S) {
    const RotationZ<T> R = rotation_z<T>(q[0]);
    const T o(0.0);
    S[0] = zero_motion<T>() + AngularZ<T>{T(1.0)};
    S[1] = {zero3<T>(), {R.c, -R.s, o}};
    S[2] = {zero3<T>(), {R.s, R.c, o}};
  }
  template <class T> FS_HD static Motion<T> bias(const auto&, const auto& q, const auto& v) {
    const RotationZ<T> R = rotation_z<T>(q[0]);
    const Vec3<T> u = rotate_back(R, Vec3<T>{v[1], v[2], T(0.0)});
    return {zero3<T>(), {v[0] * u.y(), -(v[0] * u.x()), T(0.0)}};
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
