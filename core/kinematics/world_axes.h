// Joint axes and inertias in one frame for all bodies: world axes, with the origin at the origin of body 1. In this
// frame sweeps over pairs of joints are dot products, and no digits are lost when the robot is far from the world's
// origin.
#pragma once
#include "core/kinematics/kinematics.h"

namespace featherstorm {

// The unit vector e_k as an array.
template <class T> struct UnitArray {
  int k;
  FS_HD T operator[](int i) const { return T(i == k ? 1.0 : 0.0); }
};

// S_k of a joint: the motion that its freedom k gives, in the axes of its body.
template <class T> FS_HD Motion<T> axis(const auto& joint, int k) {
  return zero_motion<T>() + joint.velocity(UnitArray<T>{k});
}

// in   x  joint numbers that update_joint has set for all bodies
// out  X (nb + 1)  placement of each body in the common frame; X[0] that of the world's frame
// out  S (nv)      motion of the bodies beyond the joint for each coordinate, common frame
FS_HD void world_axes(const auto& m, const auto& x, auto& X, auto& S) {
  using T = ScalarOf<decltype(x)>;
  X[0] = identity_placement<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      if (i == 1) X[0].r = -(zero3<T>() + J.origin());
      X[i] = beyond(X[b.parent], J);
      for (int k = 0; k < J.nv; k++) S[b.v + k] = apply_inverse(X[i], axis<T>(J, k));
    });
  }
}

// The same along the axes of body 1 where it has a free joint; the base's axes are constants then, and X[0] has the
// world's axes. Both frames stand still while the robot moves.
FS_HD void base_axes(const auto& m, const auto& x, auto& X, auto& S) {
  using T = ScalarOf<decltype(x)>;
  X[0] = identity_placement<T>();
  for (int i = 1; i <= m.nb; i++) {
    const auto& b = m.body[i];
    with_joint(m, i, x, [&](const auto& J) {
      if (i == 1 && b.shape == JointShape::Free) X[0].R = transposed(J.placement().R);
      if (i == 1) X[0].r = -(X[0].R * (zero3<T>() + J.origin()));
      X[i] = i == 1 && b.shape == JointShape::Free ? identity_placement<T>() : beyond(X[b.parent], J);
      for (int k = 0; k < J.nv; k++) S[b.v + k] = apply_inverse(X[i], axis<T>(J, k));
    });
  }
}

// X^T I X in the common frame.
template <class T, class P> FS_HD RigidBodyInertia<T> in_world_axes(const Placement<T>& X,
                                                                    const RigidBodyInertia<P>& I) {
  return apply_transpose(X, cast<T>(I));
}

// Number of freedoms of the joint of body i.
FS_HD int freedoms(const auto& m, int i) { return (i < m.nb ? m.body[i + 1].v : static_cast<int>(m.nv)) - m.body[i].v; }

}  // namespace featherstorm
