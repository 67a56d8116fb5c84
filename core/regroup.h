// Regrouping of inertia across revolute joints. RBDA section 9.7 (dynamic equivalence).
//
// A part of a body that is symmetric about its joint's axis moves in the same way whether it belongs to the body or to its
// parent: the mass on the axis with its first and second moments along the axis. Moving it leaves
// m = 0, h_z = 0 and int z^2 dm = 0 in the body, so that more operations fold away; every map of joint quantities, and energy
// and momentum of a floating robot is unchanged; forces transmitted by single joints are not, nor is the energy of what a
// robot on a fixed base passes on to the world.
#pragma once
#include <cmath>
#include <vector>

#include "core/model.h"

namespace featherstorm {

// A body for the choice of origins: its axis z and its origin r in its parent's frame, and whether the origin may slide.
struct Axis {
  int parent = 0;
  bool slides = false;
  Vec3<double> r, z;
};
// How far to slide the origin of each body along its axis so that fewest components of origins in parents are not zero.
std::vector<double> slides(const std::vector<Axis>& axes);

// The same robot with the origins of bodies behind revolute joints slid along their axes, where placements are constants.
template <class P> Model<P> slid(Model<P> m) {
  std::vector<Axis> axes(m.nb + 1);
  for (int i = 1; i <= m.nb; i++) {
    const Body<P>& b = m.body[i];
    Axis& a = axes[i];
    a.parent = b.parent;
    a.slides = b.shape == JointShape::Revolute || b.shape == JointShape::RevoluteTilted;
    for (int k = 0; k < 3; k++) a.r(k) = lane(b.X_T.r(k), 0), a.z(k) = lane(b.X_T.R(k, 2), 0);
    if (!a.r.allFinite() || !a.z.allFinite()) return m;
  }
  const std::vector<double> t = slides(axes);
  for (int i = 1; i <= m.nb; i++) {
    Body<P>& b = m.body[i];
    const Vec3<double> r = axes[i].r + axes[i].z * t[i] - Vec3<double>(0, 0, t[b.parent]);
    for (int k = 0; k < 3; k++) b.X_T.r(k) = P(std::abs(r(k)) < 1e-9 ? 0.0 : r(k));
    b.I = shift(Vec3<P>{P(0.0), P(0.0), P(-t[i])}, b.I);
    b.second_moments = second_moments(b.I.I);
  }
  for (Frame<P>& f : m.frame) f.X.r.z() = f.X.r.z() - P(t[f.body]);
  return m;
}

template <class P> Model<P> regrouped(Model<P> m) {
  const P o(0.0);
  // the rotational inertias that second moments are taken of
  std::vector<Sym3<P>> other;
  for (const Body<P>& b : m.body) other.push_back(b.I.I);
  for (int i = m.nb; i >= 1; i--) {
    Body<P>& b = m.body[i];
    Body<P>& parent = m.body[b.parent];
    if (b.shape == JointShape::Prismatic) {
      parent.I.I = parent.I.I + conjugate(b.X_T.R, b.I.I);
      other[b.parent] = other[b.parent] + conjugate(b.X_T.R, other[i]);
      b.I.I = other[i] = {o, o, o, o, o, o};
    }
    if (b.shape == JointShape::Revolute || b.shape == JointShape::RevoluteTilted) {
      const P a = b.I.I.yy, z = (other[i].xx + other[i].yy - other[i].zz) * P(0.5);
      const RigidBodyInertia<P> moved{b.I.m, {o, o, b.I.h.z()}, {a, o, o, a, o, o}};
      b.I = {o, {b.I.h.x(), b.I.h.y(), o}, {b.I.I.xx - a, b.I.I.xy, b.I.I.xz, o, b.I.I.yz, b.I.I.zz}};
      parent.I = parent.I + apply_transpose(b.X_T, moved);
      other[b.parent] = other[b.parent] + apply_transpose(b.X_T, RigidBodyInertia<P>{moved.m, moved.h, {z, o, o, z, o, o}}).I;
      other[i] = {other[i].xx - z, other[i].xy, other[i].xz, other[i].yy - z, other[i].yz, other[i].zz};
    }
    b.second_moments = second_moments(other[i]);
    if (b.shape == JointShape::Revolute || b.shape == JointShape::RevoluteTilted) b.second_moments.zz = o;
  }
  return m;
}

}  // namespace featherstorm
