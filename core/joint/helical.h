// Helical joint of pitch h [m/rad]: rotation q about z and translation h q along z. RBDA Table 4.1: S = (0 0 1 0 0 h).
#pragma once
#include "core/joint/joint_type.h"
#include "core/spatial/transform.h"

namespace featherstorm {

struct Helical {
  static constexpr int nq = 1, nv = 1;
  FS_HD static constexpr JointTraits traits() {
    return {.name = "helical", .has_axis = true, .constant_subspace = true, .symmetric = true};
  }
  template <class T> FS_HD static Placement<T> placement(const auto& b, const auto& q) {
    return {matrix(rotation_z<T>(q[0])), {T(0.0), T(0.0), q[0] * b.parameter}};
  }
  template <class T> FS_HD static void subspace(const auto& b, const auto&, Motion<T>* S) {
    S[0] = zero_motion<T>() + AngularZ<T>{T(1.0)} + LinearZ<T>{T(b.parameter)};
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

}  // namespace featherstorm
