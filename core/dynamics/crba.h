// Composite-rigid-body algorithm. RBDA Table 6.2, with the branch-sparse packed result of section 6.4.
//
//   H(i, j) = S_i^T I^c_i ^iX_j S_j   for every joint j on the path from i to the root
#pragma once
#include "core/model/joints.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// S_l^T F with F = I S_k, an entry of a joint's own block. The linear block of a free joint is m 1, along any axes.
template <class J, class T>
FS_HD T own_entry(const J& joint, int, int l, const Force<T>& F, const RigidBodyInertia<T>&) {
  return joint.project(l, F);
}
template <class T>
FS_HD T own_entry(const FreeAt<T>& joint, int k, int l, const Force<T>& F, const RigidBodyInertia<T>& I) {
  if (k < 3) return l == k ? I.m : T(0.0);
  return joint.project(l, F);
}

// in   q (nq)
// out  H (nh)  packed lower triangle of the joint-space inertia matrix (model.h), armature included
// Cost O(n depth). With BodyAxes the freedoms of free joints without armature are along the axes of their
// bodies (joints.h).
template <class Axes = PredecessorAxes, class M, class Q, class Out> FS_HD void crba(const M& m, const Q& q, Out H) {
  using T = ScalarOf<Q>;
  auto x = scratch<T>(m.nx);
  auto Ic = scratch<RigidBodyInertia<T>>(m.nb + 1);
  for (int i = 1; i <= m.nb; i++) {
    update_position<Axes>(m, i, q, x);
    Ic[i] = cast<T>(m.body[i].I);
  }
  remark<T>("joint-space inertia, inward: composite inertias, H");
  for (int i = m.nb; i >= 1; i--) {
    const auto& b = m.body[i];
    Force<T> F[6];
    int dofs = 0;
    with_joint(m, i, x, [&](const auto& J) {
      dofs = J.nv;
      // F = I^c_i S_i, H_ii = S_i^T F
      for (int k = 0; k < J.nv; k++) {
        F[k] = J.force_of_axis(k, Ic[i]);
        for (int l = 0; l <= k; l++) H[m.at(b.v + k, b.v + l)] = own_entry(J, k, l, F[k], Ic[i]);
        H[m.at(b.v + k, b.v + k)] += m.armature[b.v + k];
      }
      if (b.parent == 0) return;
      // I^c_parent += X^T I^c_i X, and F to the parent
      Ic[b.parent] += apply_transpose(J, Ic[i]);
      for (int k = 0; k < J.nv; k++) F[k] = apply_transpose(J, F[k]);
    });
    // H_ij = F^T S_j on the way to the root
    auto carry = [&](auto n) {
      for (int j = b.parent; j > 0; j = m.body[j].parent) {
        const auto& bj = m.body[j];
        with_joint(m, j, x, [&](const auto& J) {
          for (int k = 0; k < n; k++)
            for (int l = 0; l < J.nv; l++) H[m.at(b.v + k, bj.v + l)] = J.project(l, F[k]);
          if (bj.parent > 0)
            for (int k = 0; k < n; k++) F[k] = apply_transpose(J, F[k]);
        });
      }
    };
    if (dofs == 1) carry(std::integral_constant<int, 1>{});
    else carry(dofs);
  }
}

// H += diag(d) for the matrix of crba<BodyAxes>, d in the coordinates of v: R^T diag(d) R for the linear part of free joints.
template <class M, class Q, class D, class Out>
FS_HD void add_diagonal_in_body_axes(const M& m, const Q& q, const D& d, Out H) {
  using T = ScalarOf<Q>;
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    if (!turns_with_body(b)) continue;
    const Mat3<T> R = matrix(quaternion_at<T>(slice(q, b.q), 3));
    for (int k = 0; k < 3; k++)
      for (int l = 0; l <= k; l++)
        for (int c = 0; c < 3; c++)
          H[m.at(b.v + k, b.v + l)] = H[m.at(b.v + k, b.v + l)] + R(c, k) * d[b.v + c] * R(c, l);
  }
  for (int k = 0; k < m.nv; k++) {
    const auto& b = m.body[m.dof_body[k]];
    if (!turns_with_body(b) || k >= b.v + 3) H[m.at(k, k)] = H[m.at(k, k)] + d[k];
  }
}

}  // namespace featherstorm
