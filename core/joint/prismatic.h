// Prismatic joint: translation q [m] along z. RBDA Table 4.1: E = 1, r = (0 0 q), S = e6.
#pragma once
#include "core/joint/along_z.h"
#include "core/joint/joint_type.h"
#include "core/spatial/transform.h"

namespace featherstorm {

struct Prismatic {
  static constexpr int nq = 1, nv = 1;
  FS_HD static constexpr JointTraits traits() {
    return {.name = "prismatic",
            .has_axis = true,
            .constant_subspace = true,
            .symmetric = true,
            .lengths = 1,
            .group = JointGroup::slides_along_z};
  }
  template <class T> FS_HD static Placement<T> placement(const auto&, const auto& q) {
    Placement<T> X = identity_placement<T>();
    X.r.z() = q[0];
    return X;
  }
  template <class T> FS_HD static void subspace(const auto&, const auto&, Motion<T>* S) {
    S[0] = zero_motion<T>() + LinearZ<T>{T(1.0)};
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

// A prismatic joint at one position: the origin slides along the axis, the axes keep their directions.
template <class T, class P> struct PrismaticAt {
  static constexpr int nv = 1;
  const Mat3<P>& R;
  Vec3<T> r;  // fixed part + R e3 q

  FS_HD const Vec3<T>& origin() const { return r; }
  FS_HD Vec3<T> rotate_back(const Vec3<T>& v) const { return featherstorm::rotate_back(R, v); }
  FS_HD Vec3<T> rotate(const Vec3<T>& v) const { return featherstorm::rotate(R, v); }
  template <class Inertia> FS_HD Inertia rotate_inertia(const Inertia& J) const { return featherstorm::rotate(R, J); }
  FS_HD Placement<T> placement() const { return {cast<T>(R), r}; }

  FS_HD LinearZ<T> velocity(const auto& v) const { return {v[0]}; }
  FS_HD NoMotion bias(const auto&) const { return {}; }
  FS_HD NoVector angular_velocity(const auto&) const { return {}; }
  FS_HD AlongZ<T> linear_velocity(const auto& v) const { return {v[0]}; }
  FS_HD NoVector angular_acceleration(const auto&, const auto&) const { return {}; }
  FS_HD AlongZ<T> linear_acceleration(const auto&, const auto& a) const { return {a[0]}; }

  FS_HD T project(int, const Force<T>& f) const { return f.f.z(); }
  FS_HD Force<T> force_of_axis(int, const RigidBodyInertia<T>& J) const {
    const T o(0.0);
    return {{J.h.y(), -J.h.x(), o}, {o, o, J.m}};
  }
  FS_HD Force<T> force_of_axis(int, const ArticulatedInertia<T>& J) const {
    return {{J.H(0, 2), J.H(1, 2), J.H(2, 2)}, {J.M.xz, J.M.yz, J.M.zz}};
  }
  FS_HD void clear_axis(ArticulatedInertia<T>& Ia) const {
    const T o(0.0);
    Ia.M.xz = Ia.M.yz = Ia.M.zz = o;
    Ia.H(0, 2) = Ia.H(1, 2) = Ia.H(2, 2) = o;
  }
  FS_HD void set_axis_force(Force<T>& pa, const auto& tau) const { pa.f.z() = tau[0]; }
};

}  // namespace featherstorm
