// Cylindrical joint: rotation q0 [rad] about z and translation q1 [m] along z. RBDA Table 4.1: S = [e3 e6].
#pragma once
#include "core/joint/joint_type.h"
#include "core/spatial/transform.h"

namespace featherstorm {

struct Cylindrical {
  static constexpr int nq = 2, nv = 2;
  FS_HD static constexpr JointTraits traits() {
    return {.name = "cylindrical",
            .has_axis = true,
            .constant_subspace = true,
            .symmetric = true,
            .first_length = 1,
            .lengths = 1};
  }
  template <class T> FS_HD static Placement<T> placement(const auto&, const auto& q) {
    return {matrix(rotation_z<T>(q[0])), {T(0.0), T(0.0), q[1]}};
  }
  template <class T> FS_HD static void subspace(const auto&, const auto&, Motion<T>* S) {
    S[0] = zero_motion<T>() + AngularZ<T>{T(1.0)};
    S[1] = zero_motion<T>() + LinearZ<T>{T(1.0)};
  }
  template <class T> FS_HD static Motion<T> bias(const auto&, const auto&, const auto&) { return zero_motion<T>(); }
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
