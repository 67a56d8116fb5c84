// Jacobian of a frame, and its rate times the velocity. RBDA (2.18), (4.6), Example 4.2.
//
//   v_F = J(q) qd,   a_F = J qdd + Jd qd
//
// Column by column J is the motion of the frame's origin that one coordinate gives it: with S in world axes
//   (S_w; S_v + S_w × (r_F - r_i))
#pragma once
#include "core/kinematics/world_axes.h"

namespace featherstorm {

// in   q (nq)
// in   body, F  the frame's body and its placement in it
// out  J (6 nv)  rows angular, linear, each of nv numbers; world axes, at the frame's origin. All entries are written;
//      columns of coordinates that do not move the body are zero
// Cost O(nv).
template <class P>
FS_HD void jacobian_of_body(const auto& m, const auto& q, int body, const Placement<P>& F, auto J) {
  using T = ScalarOf<decltype(q)>;
  auto x = scratch<T>(m.nx);
  auto X = scratch<Placement<T>>(m.nb + 1);
  auto moves = scratch<char>(m.nb + 1);
  X[0] = identity_placement<T>();
  for (int i = 0; i <= m.nb; i++) moves[i] = 0;
  along_support(m, body, [&](int i) {
    update_joint(m, i, q, Zeros<T>{}, x);
    with_joint(m, i, x, [&](const auto& joint) { X[i] = beyond(X[m.body[i].parent], joint); });
    moves[i] = 1;
  });
  const Vec3<T> r_F = X[body].r + X[body].R * F.r;
  for (int c = 0; c < m.nv; c++)
    if (!moves[m.dof_body[c]])
      for (int k = 0; k < 6; k++) J[k * m.nv + c] = T(0.0);
  along_support(m, body, [&](int i) {
    with_joint(m, i, x, [&](const auto& joint) {
      for (int l = 0; l < joint.nv; l++) {
        // S_l in world axes, at the frame's origin
        const Motion<T> S = zero_motion<T>() + joint.velocity(UnitArray<T>{l});
        const Vec3<T> w = X[i].R * S.w, v = X[i].R * S.v + cross(w, r_F - X[i].r);
        for (int k = 0; k < 3; k++) {
          J[k * m.nv + m.body[i].v + l] = w(k);
          J[(3 + k) * m.nv + m.body[i].v + l] = v(k);
        }
      }
    });
  });
}

// The Jacobian of a named frame; arguments as above.
FS_HD void jacobian(const auto& m, const auto& q, int frame, auto J) {
  jacobian_of_body(m, q, m.frame[frame].body, m.frame[frame].X, J);
}

// in   q (nq), qd (nv), frame  index of a named frame
// out  a (6)  [rad/s^2, m/s^2]  Jd qd: acceleration of the frame's origin (classical) at qdd = 0, world axes
// Cost O(depth).
FS_HD void jdot_v(const auto& m, const auto& q, const auto& qd, int frame, auto a) {
  frame_acceleration(m, q, qd, Zeros<ScalarOf<decltype(q)>>{}, frame, a);
}

}  // namespace featherstorm
