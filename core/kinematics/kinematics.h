// Forward kinematics: poses and motions of bodies and named frames. RBDA (2.46)-(2.57), (5.7), (5.8).
//
//   X_i = X_parent X_J                          placement in the world
//   v_i = v_parent + S qd                       velocity
//   a_i = a_parent + S qdd + c_J + v_i x S qd   spatial acceleration
//
// Accelerations are true ones, a_0 = 0: they do not contain gravity. The spatial acceleration of a frame is dv/dt of
// the velocity field of its body. The classical one replaces its linear part by the acceleration of the frame's origin,
// RBDA (2.49):
//   linear part + w × v
#pragma once
#include "core/model/joints.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// visit(i) for the bodies on the path from the world to body `last`, in this order: kappa(last) of RBDA section 4.1.4.
FS_HD void along_support(const auto& m, int last, auto&& visit) {
  auto path = scratch<int>(m.nb + 1);
  int n = 0;
  for (int i = last; i > 0; i = m.body[i].parent) path[n++] = i;
  while (n > 0) visit(path[--n]);
}

// Placement of the body behind joint J, given its parent's: R = R_parent R_J, r = r_parent + R_parent r_J.
template <class T> FS_HD Placement<T> beyond(const Placement<T>& parent, const auto& J) {
  Placement<T> X;
  for (int k = 0; k < 3; k++) {
    // row k of R is R_J^T times row k of R_parent
    const Vec3<T> row = J.rotate_back(Vec3<T>{parent.R(k, 0), parent.R(k, 1), parent.R(k, 2)});
    for (int l = 0; l < 3; l++) X.R(k, l) = row(l);
  }
  X.r = parent.r + parent.R * J.origin();
  return X;
}

// in   x  joint numbers that update_joint has set for all bodies
// out  X (nb + 1)  placement of each body in the world
FS_HD void body_placements(const auto& m, const auto& x, auto& X) {
  X[0] = identity_placement<ScalarOf<decltype(x)>>();
  for (int i = 1; i <= m.nb; i++) with_joint(m, i, x, [&](const auto& J) { X[i] = beyond(X[m.body[i].parent], J); });
}

// in   q (nq)
// out  pose (12 nf)  of each named frame, world: position (3) [m], then by rows the rotation (9) that takes frame axes
//      to world axes
// Cost O(nb + nf).
FS_HD void forward_kinematics(const auto& m, const auto& q, auto pose) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto X = scratch<Placement<T>>(m.nb + 1);
  update_joints(m, q, Zeros<T>{}, x);
  body_placements(m, x, X);
  for (int k = 0; k < m.nf; k++) {
    // X_WF = X_WB X_BF
    const Placement<T> F = X[m.frame[k].body] * m.frame[k].X;
    for (int i = 0; i < 3; i++) {
      pose[12 * k + i] = F.r(i);
      for (int j = 0; j < 3; j++) pose[12 * k + 3 + 3 * i + j] = F.R(i, j);
    }
  }
}

// A frame in motion: its placement in the world, and its velocity and spatial acceleration at its origin in its axes.
template <class T> struct FrameMotion {
  Placement<T> X;
  Motion<T> v, a;
};
template <class T>
FS_HD FrameMotion<T> frame_motion(const auto& m, const auto& q, const auto& qd, const auto& qdd, int frame) {
  auto x = scratch<T>(m.nx);
  FrameMotion<T> s{identity_placement<T>(), zero_motion<T>(), zero_motion<T>()};
  along_support(m, m.frame[frame].body, [&](int i) {
    const auto& b = m.body[i];
    update_joint(m, i, q, qd, x);
    with_joint(m, i, x, [&](const auto& J) {
      const auto vJ = J.velocity(slice(qd, b.v));
      s.X = beyond(s.X, J);
      // v_i = X v_parent + S qd
      s.v = apply(J, s.v) + vJ;
      // a_i = X a_parent + S qdd + c_J + v_i x S qd
      s.a = apply(J, s.a) + J.velocity(slice(qdd, b.v)) + J.bias(slice(qd, b.v)) + cross(s.v, vJ);
    });
  });
  const auto& X = m.frame[frame].X;
  return {s.X * X, apply(X, s.v), apply(X, s.a)};
}

template <class T> FS_HD void store_in_world(const Placement<T>& X, const Motion<T>& v, auto& out) {
  const Vec3<T> w = X.R * v.w, u = X.R * v.v;
  for (int i = 0; i < 3; i++) out[i] = w(i), out[3 + i] = u(i);
}

// in   q (nq), qd (nv), frame  index of a named frame
// out  v (6)  [rad/s, m/s]  angular velocity and velocity of the frame's origin, world axes
// Cost O(depth).
FS_HD void frame_velocity(const auto& m, const auto& q, const auto& qd, int frame, auto v) {
  using T = ScalarOf<decltype(q)>;
  const FrameMotion<T> s = frame_motion<T>(m, q, qd, Zeros<T>{}, frame);
  store_in_world(s.X, s.v, v);
}

// in   q (nq), qd (nv), qdd (nv), frame  index of a named frame; Zeros<T>{} for qdd gives Jd qd
// out  a (6)  [rad/s^2, m/s^2]  angular acceleration and (classical) acceleration of the frame's origin, world axes
// Cost O(depth).
FS_HD void frame_acceleration(const auto& m, const auto& q, const auto& qd, const auto& qdd, int frame, auto a) {
  using T = ScalarOf<decltype(q)>;
  const FrameMotion<T> s = frame_motion<T>(m, q, qd, qdd, frame);
  store_in_world(s.X, Motion<T>{s.a.w, s.a.v + cross(s.v.w, s.v.v)}, a);
}

// The spatial acceleration at the frame's origin, world axes; arguments as in frame_acceleration.
FS_HD void frame_spatial_acceleration(const auto& m, const auto& q, const auto& qd, const auto& qdd, int frame,
                                      auto a) {
  using T = ScalarOf<decltype(q)>;
  const FrameMotion<T> s = frame_motion<T>(m, q, qd, qdd, frame);
  store_in_world(s.X, s.a, a);
}

}  // namespace featherstorm
