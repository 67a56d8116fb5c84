// Ball joint by exponential map: q = rotation vector [rad], kept within length pi; v = angular velocity in the child's axes.
//
// R = exp(q×), S = [1; 0]. The map and its inverse use series near zero, so q = 0 is an ordinary point in any precision.
#pragma once
#include "core/joint/ball.h"

namespace featherstorm {

struct BallExp {
  static constexpr int nq = 3, nv = 3;
  FS_HD static constexpr JointTraits traits() {
    return {.name = "ball_exp", .constant_subspace = true, .rotation = 0, .group = JointGroup::turns_about_origin};
  }
  template <class T> FS_HD static Placement<T> placement(const auto&, const auto& q) {
    return {matrix(quaternion_exp(vector_at<T>(q, 0))), zero3<T>()};
  }
  template <class T> FS_HD static void subspace(const auto&, const auto&, Motion<T>* S) { angular_subspace(S); }
  template <class T> FS_HD static Motion<T> bias(const auto&, const auto&, const auto&) { return zero_motion<T>(); }
  // q_next = log(exp(q) exp(u))
  template <class T>
  FS_HD static void integrate(const auto&, const auto& q, const auto& u, auto q_next) {
    const Quaternion<T> p = quaternion_exp(vector_at<T>(q, 0)) * quaternion_exp(vector_at<T>(u, 0));
    const Vec3<T> x = quaternion_log(normalised(p));
    for (int k = 0; k < 3; k++) q_next[k] = x(k);
  }
  template <class T>
  FS_HD static void difference(const auto&, const auto& q0, const auto& q1, auto u) {
    const Vec3<T> d =
        quaternion_log(conjugated(quaternion_exp(vector_at<T>(q0, 0))) * quaternion_exp(vector_at<T>(q1, 0)));
    for (int k = 0; k < 3; k++) u[k] = d(k);
  }
};

}  // namespace featherstorm
