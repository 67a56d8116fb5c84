// Motion of a frame fixed to a body, in world axes: its velocity, and its acceleration when all joint accelerations are
// zero.
//
//   v = J v,  a = dJ/dt v     of the frame's orientation and of its origin; a is a classical acceleration
#pragma once
#include "core/kinematics/kinematics.h"

namespace featherstorm {

template <class T> struct PointMotion {
  Vec3<T> p;         // [m]
  Vec3<T> w, v;      // [rad/s], [m/s]
  Vec3<T> alpha, a;  // [rad/s^2], [m/s^2]
};

// in  x (nx), X (nb + 1)  joint numbers at (q, v) and placements of the bodies
// in  v (nv)
// Cost O(depth).
template <class T, class P>
FS_HD PointMotion<T> point_motion(const auto& m, const auto& x, const auto& X, const auto& v, const Frame<P>& place) {
  Motion<T> V = zero_motion<T>(), A = zero_motion<T>();
  along_support(m, place.body, [&](int i) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      const auto vJ = J.velocity(slice(v, b.v));
      // v_i = X v_parent + S v,  a_i = X a_parent + c_J + v_i x S v
      V = apply(J, V) + vJ;
      A = apply(J, A) + J.bias(slice(v, b.v)) + cross(V, vJ);
    });
  });
  const Placement<T>& B = X[place.body];
  const Vec3<T> r = cast<T>(place.X.r), u = V.v + cross(V.w, r);
  // acceleration of the point: a + alpha x r + w x u
  return {B.r + B.R * r, B.R * V.w, B.R * u, B.R * A.w, B.R * (A.v + cross(A.w, r) + cross(V.w, u))};
}

}  // namespace featherstorm
