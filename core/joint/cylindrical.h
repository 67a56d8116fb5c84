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
  template <class T, class B, class Q> FS_HD static Placement<T> placement(const B&, const Q& q) {
    return {matrix(rotation_z<T>(q[0])), {T(0.0), T(0.0), q[1]}};
  }
  template <class T, class B, class Q> FS_HD static void subspace(const B&, const Q&, Motion<T>* S) {
    S[0] = zero_motion<T>() + AngularZ<T>{T(1.0)};
    S[1] = zero_motion<T>() + LinearZ<T>{T(1.0)};
  }
  template <class T, class B, class Q, class V> FS_HD static Motion<T> bias(const B&, const Q&, const V&) {
    return zero_motion<T>();
  }
  template <class T, class B, class Q, class U, class Out>
  FS_HD static void integrate(const B&, const Q& q, const U& u, Out q_next) {
    for (int k = 0; k < 2; k++) q_next[k] = q[k] + u[k];
  }
  template <class T, class B, class Q, class Q1, class Out>
  FS_HD static void difference(const B&, const Q& q0, const Q1& q1, Out u) {
    for (int k = 0; k < 2; k++) u[k] = q1[k] - q0[k];
  }
};

}  // namespace featherstorm
