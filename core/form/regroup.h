// Regrouping of inertia across joints. RBDA section 9.7 (dynamic equivalence).
//
// Revolute: a part of a body that is symmetric about its joint's axis moves in the same way whether it belongs to the
// body or to its parent: the mass on the axis with its first and second moments along the axis. Moving it leaves m = 0,
// h_z = 0 and, by choice of the moment along the axis, int z^2 dm = 0 in the second moments and Iyy = 0 in the
// rotational inertia, which are regrouped separately. Prismatic: the body rotates with its parent, so its rotational
// inertia is moved.
//
// More operations fold away. All maps between joint quantities stay unchanged, and so do energy and momentum of a
// floating robot. Forces transmitted by single joints change, and so does the energy that a robot on a fixed base
// passes to the world.
#pragma once
#include <vector>

#include "core/model/model.h"

namespace featherstorm {

// Moves the movable part of inertia I of a body to its parent's inertia: the moment along the axis is `along`.
template <class P> void regroup(const Body<P>& b, const P& along, RigidBodyInertia<P>& I, RigidBodyInertia<P>& parent) {
  const P o(0.0);
  if (b.shape == JointShape::Prismatic) {
    parent.I = parent.I + conjugate(b.X_T.R, I.I);
    I.I = {o, o, o, o, o, o};
  } else if (b.shape == JointShape::Revolute || b.shape == JointShape::RevoluteTilted) {
    parent = parent + apply_transpose(b.X_T, RigidBodyInertia<P>{I.m, {o, o, I.h.z()}, {along, o, o, along, o, o}});
    I = {o, {I.h.x(), I.h.y(), o}, {I.I.xx - along, I.I.xy, I.I.xz, I.I.yy - along, I.I.yz, I.I.zz}};
  }
}

template <class P> Model<P> regrouped(Model<P> m) {
  const RigidBodyInertia<P> world = m.body[0].I;
  std::vector<RigidBodyInertia<P>> other;  // inertias for the second moments
  for (const Body<P>& b : m.body) other.push_back(b.I);
  for (int i = m.nb; i >= 1; i--) {
    Body<P>& b = m.body[i];
    // int z^2 dm = (Ixx + Iyy - Izz) / 2
    const P z = (other[i].I.xx + other[i].I.yy - other[i].I.zz) * P(0.5);
    regroup(b, z, other[i], other[b.parent]);
    regroup(b, b.I.I.yy, b.I, m.body[b.parent].I);
    b.second_moments = second_moments(other[i].I);
    if (b.shape == JointShape::Revolute || b.shape == JointShape::RevoluteTilted) b.second_moments.zz = P(0.0);
  }
  m.body[0].I = world;
  return m;
}

}  // namespace featherstorm
