// Revolute joint: rotation q [rad] about z. RBDA Table 4.1: E = rz(q), r = 0, S = e3.
#pragma once
#include "core/joint/along_z.h"
#include "core/joint/joint_type.h"
#include "core/spatial/transform.h"

namespace featherstorm {

struct Revolute {
  static constexpr int nq = 1, nv = 1;
  FS_HD static constexpr JointTraits traits() {
    return {.name = "revolute",
            .has_axis = true,
            .constant_subspace = true,
            .symmetric = true,
            .group = JointGroup::turns_about_z};
  }
  template <class T> FS_HD static Placement<T> placement(const auto&, const auto& q) {
    return {matrix(rotation_z<T>(q[0])), zero3<T>()};
  }
  template <class T> FS_HD static void subspace(const auto&, const auto&, Motion<T>* S) {
    S[0] = zero_motion<T>() + AngularZ<T>{T(1.0)};
  }
  template <class T> FS_HD static Motion<T> bias(const auto&, const auto&, const auto&) { return zero_motion<T>(); }
  template <class T>
  FS_HD static void integrate(const auto&, const auto& q, const auto& u, auto q_next) {
    q_next[0] = q[0] + u[0];
  }
  template <class T>
  FS_HD static void difference(const auto&, const auto& q0, const auto& q1, auto u) {
    u[0] = q1[0] - q0[0];
  }
};

// A revolute joint at one angle, as the sweeps use it: R = tilt * rotation_z(q).
template <class T, class Rotation, class P> struct RevoluteAt {
  static constexpr int nv = 1;
  RotationZ<T> z;
  const Rotation& tilt;
  const Vec3<P>& r;

  FS_HD const Vec3<P>& origin() const { return r; }
  FS_HD Vec3<T> rotate_back(const Vec3<T>& v) const {
    return featherstorm::rotate_back(z, featherstorm::rotate_back(tilt, v));
  }
  FS_HD Vec3<T> rotate(const Vec3<T>& v) const { return featherstorm::rotate(tilt, featherstorm::rotate(z, v)); }
  template <class Inertia> FS_HD Inertia rotate_inertia(const Inertia& J) const {
    return featherstorm::rotate(tilt, featherstorm::rotate(z, J));
  }
  FS_HD Placement<T> placement() const { return {matrix_times(tilt, matrix(z)), cast<T>(r)}; }

  FS_HD AngularZ<T> velocity(const auto& v) const { return {v[0]}; }
  FS_HD NoMotion bias(const auto&) const { return {}; }
  FS_HD AlongZ<T> angular_velocity(const auto& v) const { return {v[0]}; }
  FS_HD NoVector linear_velocity(const auto&) const { return {}; }
  FS_HD AlongZ<T> angular_acceleration(const auto&, const auto& a) const { return {a[0]}; }
  FS_HD NoVector linear_acceleration(const auto&, const auto&) const { return {}; }

  FS_HD T project(int, const Force<T>& f) const { return f.n.z(); }
  FS_HD Force<T> force_of_axis(int, const RigidBodyInertia<T>& J) const {
    return {{J.I.xz, J.I.yz, J.I.zz}, {-J.h.y(), J.h.x(), T(0.0)}};
  }
  FS_HD Force<T> force_of_axis(int, const ArticulatedInertia<T>& J) const {
    return {{J.I.xz, J.I.yz, J.I.zz}, {J.H(2, 0), J.H(2, 1), J.H(2, 2)}};
  }
  // I^a S = 0 exactly, and S^T p^a = tau: RBDA (7.23) with S = e3
  FS_HD void clear_axis(ArticulatedInertia<T>& Ia) const {
    const T o(0.0);
    Ia.I.xz = Ia.I.yz = Ia.I.zz = o;
    Ia.H(2, 0) = Ia.H(2, 1) = Ia.H(2, 2) = o;
  }
  FS_HD void set_axis_force(Force<T>& pa, const auto& tau) const { pa.n.z() = tau[0]; }
};

}  // namespace featherstorm
