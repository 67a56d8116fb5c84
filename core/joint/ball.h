// Ball joint by quaternion: q = (w x y z), unit; v = angular velocity in the child's axes. RBDA (4.12), S = [1; 0].
#pragma once
#include "core/joint/joint_type.h"
#include "core/spatial/quaternion.h"
#include "core/spatial/transform.h"

namespace featherstorm {

template <class T> FS_HD Quaternion<T> quaternion_at(const auto& q, int k) {
  return {q[k], q[k + 1], q[k + 2], q[k + 3]};
}
template <class T> FS_HD void store_quaternion(auto& q, int k, const Quaternion<T>& p) {
  q[k] = p.w, q[k + 1] = p.x, q[k + 2] = p.y, q[k + 3] = p.z;
}
template <class T> FS_HD Vec3<T> vector_at(const auto& v, int k) { return {v[k], v[k + 1], v[k + 2]}; }

template <class T> FS_HD void angular_subspace(Motion<T>* S) {
  const T o(0.0), l(1.0);
  S[0] = {{l, o, o}, zero3<T>()};
  S[1] = {{o, l, o}, zero3<T>()};
  S[2] = {{o, o, l}, zero3<T>()};
}

struct Ball {
  static constexpr int nq = 4, nv = 3;
  FS_HD static constexpr JointTraits traits() {
    return {.name = "ball",
            .constant_subspace = true,
            .quaternion = 0,
            .rotation = 0,
            .group = JointGroup::turns_about_origin};
  }
  template <class T> FS_HD static Placement<T> placement(const auto&, const auto& q) {
    return {matrix(quaternion_at<T>(q, 0)), zero3<T>()};
  }
  template <class T> FS_HD static void subspace(const auto&, const auto&, Motion<T>* S) { angular_subspace(S); }
  template <class T> FS_HD static Motion<T> bias(const auto&, const auto&, const auto&) { return zero_motion<T>(); }
  // q_next = q exp(u/2), renormalised
  template <class T>
  FS_HD static void integrate(const auto&, const auto& q, const auto& u, auto q_next) {
    store_quaternion(q_next, 0, normalised(quaternion_at<T>(q, 0) * quaternion_exp(vector_at<T>(u, 0))));
  }
  // u = 2 log(q0^-1 q1)
  template <class T>
  FS_HD static void difference(const auto&, const auto& q0, const auto& q1, auto u) {
    const Vec3<T> d = quaternion_log(conjugated(quaternion_at<T>(q0, 0)) * quaternion_at<T>(q1, 0));
    for (int k = 0; k < 3; k++) u[k] = d(k);
  }
};

}  // namespace featherstorm
