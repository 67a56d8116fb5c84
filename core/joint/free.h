// Free joint (floating base): q = (px py pz  qw qx qy qz), v = (velocity of the body's origin in the predecessor's
//                                            axes;
// angular velocity in the body's axes), as in MuJoCo.
//
// S = [0 1; E 0] in (angular; linear) rows, c_J = (0; -w x (E v_lin)). S is orthogonal: S^-1 = S^T.
#pragma once
#include "core/joint/ball.h"

namespace featherstorm {

struct Free {
  static constexpr int nq = 7, nv = 6;
  FS_HD static constexpr JointTraits traits() { return {.name = "free", .quaternion = 3, .rotation = 3, .lengths = 3}; }
  template <class T> FS_HD static Placement<T> placement(const auto&, const auto& q) {
    return {matrix(quaternion_at<T>(q, 3)), vector_at<T>(q, 0)};
  }
  template <class T> FS_HD static void subspace(const auto&, const auto& q, Motion<T>* S) {
    const Mat3<T> R = matrix(quaternion_at<T>(q, 3));
    for (int k = 0; k < 3; k++) S[k] = {zero3<T>(), {R(k, 0), R(k, 1), R(k, 2)}};
    angular_subspace(S + 3);
  }
  template <class T> FS_HD static Motion<T> bias(const auto&, const auto& q, const auto& v) {
    const Vec3<T> u = transpose_times(matrix(quaternion_at<T>(q, 3)), vector_at<T>(v, 0));
    return {zero3<T>(), cross(u, vector_at<T>(v, 3))};
  }
  template <class T>
  FS_HD static void integrate(const auto&, const auto& q, const auto& u, auto q_next) {
    const Quaternion<T> p = normalised(quaternion_at<T>(q, 3) * quaternion_exp(vector_at<T>(u, 3)));
    for (int k = 0; k < 3; k++) q_next[k] = q[k] + u[k];
    store_quaternion(q_next, 3, p);
  }
  template <class T>
  FS_HD static void difference(const auto&, const auto& q0, const auto& q1, auto u) {
    const Vec3<T> d = quaternion_log(conjugated(quaternion_at<T>(q0, 3)) * quaternion_at<T>(q1, 3));
    for (int k = 0; k < 3; k++) u[k] = q1[k] - q0[k], u[3 + k] = d(k);
  }
};

// A free joint in one pose, as the sweeps use it. E = R^T of the joint alone, Rt = with the fixed placement before it.
template <class T> struct FreeAt {
  static constexpr int nv = 6;
  Mat3<T> R;   // joint: body axes in the predecessor's joint frame
  Mat3<T> Rt;  // body axes in the parent
  Vec3<T> r;   // body's origin in the parent

  FS_HD const Vec3<T>& origin() const { return r; }
  FS_HD Vec3<T> rotate_back(const Vec3<T>& v) const { return transpose_times(Rt, v); }
  FS_HD Vec3<T> rotate(const Vec3<T>& v) const { return Rt * v; }
  template <class Inertia> FS_HD Inertia rotate_inertia(const Inertia& J) const { return featherstorm::rotate(Rt, J); }
  FS_HD Placement<T> placement() const { return {Rt, r}; }

  // S x = (x_3..5; E x_0..2) and its transpose
  FS_HD Motion<T> velocity(const auto& v) const { return {vector_at<T>(v, 3), transpose_times(R, vector_at<T>(v, 0))}; }
  FS_HD T project(int k, const Force<T>& f) const {
    return k < 3 ? R(k, 0) * f.f.x() + R(k, 1) * f.f.y() + R(k, 2) * f.f.z() : f.n(k - 3);
  }
  FS_HD Motion<T> bias(const auto& v) const {
    return {zero3<T>(), cross(transpose_times(R, vector_at<T>(v, 0)), vector_at<T>(v, 3))};
  }
  FS_HD Vec3<T> angular_velocity(const auto& v) const { return vector_at<T>(v, 3); }
  FS_HD Vec3<T> linear_velocity(const auto& v) const { return transpose_times(R, vector_at<T>(v, 0)); }
  FS_HD Vec3<T> angular_acceleration(const auto&, const auto& a) const { return vector_at<T>(a, 3); }
  // S a + c_J + w x v: world-axes coordinates are those of the classical acceleration, so two terms cancel
  FS_HD Vec3<T> linear_acceleration(const auto&, const auto& a) const { return transpose_times(R, vector_at<T>(a, 0)); }
  FS_HD Force<T> force_of_axis(int k, const auto& J) const {
    const T o(0.0), l(1.0);
    return k < 3 ? J * Motion<T>{zero3<T>(), {R(k, 0), R(k, 1), R(k, 2)}}
                 : J * Motion<T>{{k == 3 ? l : o, k == 4 ? l : o, k == 5 ? l : o}, zero3<T>()};
  }
  FS_HD void clear_axis(ArticulatedInertia<T>&) const {}
  FS_HD void set_axis_force(Force<T>&, const auto&) const {}
};

}  // namespace featherstorm
