// Forces on bodies as forces of joints: rows of Jacobians, without forming the matrices.
//
//   row += J_b^T w,   w = (n, f): a moment and a force at a point p of body b, world axes
//
// The same row times v is the power of the wrench; for a unit force it is a rate of length.
#pragma once
#include "core/kinematics/kinematics.h"

namespace featherstorm {

// J_i^T w, the part of one body's joint.
template <class T>
FS_HD void add_joint_force(const auto& m, const auto& x, const auto& X, int i, const Vec3<T>& p, const Vec3<T>& n,
                           const Vec3<T>& f, auto row) {
  const int v = m.body[i].v;
  with_joint(m, i, x, [&](const auto& J) {
    // about the body's origin, its axes
    const Force<T> w{transpose_times(X[i].R, n + cross(p - X[i].r, f)), transpose_times(X[i].R, f)};
    for (int k = 0; k < J.nv; k++) row[v + k] = row[v + k] + J.project(k, w);
  });
}

// in      x (nx), X (nb + 1)  joint numbers and placements of the bodies
// in      body; p [m], n [N m], f [N]  world axes
// in-out  row (nv)
template <class T>
FS_HD void add_wrench(const auto& m, const auto& x, const auto& X, int body, const Vec3<T>& p, const Vec3<T>& n,
                      const Vec3<T>& f, auto row) {
  for (int i = body; i > 0; i = m.body[i].parent) add_joint_force(m, x, X, i, p, n, f, row);
}

// The same with its reaction: (n, f) at p on body a, (-n, -f) at p on body b. Joints that carry both have no part in
// it.
template <class T>
FS_HD void add_wrench_pair(const auto& m, const auto& x, const auto& X, int a, int b, const Vec3<T>& p,
                           const Vec3<T>& n, const Vec3<T>& f, auto row) {
  while (a != b) {
    if (a > b) {
      add_joint_force(m, x, X, a, p, n, f, row);
      a = m.body[a].parent;
    } else {
      add_joint_force(m, x, X, b, p, -n, -f, row);
      b = m.body[b].parent;
    }
  }
}

}  // namespace featherstorm
