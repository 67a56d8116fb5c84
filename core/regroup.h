// Regrouping of inertia across revolute joints. RBDA section 9.7 (dynamic equivalence).
//
// A part of a body that is symmetric about its joint's axis moves in the same way whether it belongs to the body or to its
// parent: the mass on the axis with its first and second moments along the axis. Moving it leaves
// m = 0, h_z = 0 and int z^2 dm = 0 in the body, so that more operations fold away; every map of joint quantities, and energy
// and momentum of a floating robot is unchanged; forces transmitted by single joints are not, nor is the energy of what a
// robot on a fixed base passes on to the world.
#pragma once
#include "core/model.h"

namespace featherstorm {

template <class P> Model<P> regrouped(Model<P> m) {
  for (int i = m.nb; i >= 1; i--) {
    Body<P>& b = m.body[i];
    if (b.shape != JointShape::Revolute && b.shape != JointShape::RevoluteTilted) continue;
    // second moment along the axis: a = int z^2 dm = (Ixx + Iyy - Izz) / 2
    const P a = (b.I.I.xx + b.I.I.yy - b.I.I.zz) * P(0.5), o(0.0);
    const RigidBodyInertia<P> moved{b.I.m, {o, o, b.I.h.z()}, {a, o, o, a, o, o}};
    b.I = {o, {b.I.h.x(), b.I.h.y(), o}, {b.I.I.xx - a, b.I.I.xy, b.I.I.xz, b.I.I.yy - a, b.I.I.yz, b.I.I.zz}};
    b.second_moments = second_moments(b.I.I);
    b.second_moments.zz = o;
    Body<P>& parent = m.body[b.parent];
    if (b.parent == 0) continue;
    parent.I = parent.I + apply_transpose(b.X_T, moved);
    parent.second_moments = second_moments(parent.I.I);
  }
  return m;
}

}  // namespace featherstorm
