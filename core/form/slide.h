// Origins of bodies slid along the axes of their joints: the half of the Denavit-Hartenberg choice that model building
// leaves open.
//
// Any point on its axis is a valid origin for a revolute joint. On parallel axes each origin can be placed beside the
// previous one; on axes that are not parallel it can be placed on their common normal. Then most origins have one or
// two components in the parent's frame instead of three, and every component costs operations in every transform.
//
// An origin far from its body costs digits. About an origin at distance t a body of mass m has moments of m t^2; the
// moments of the body itself, or of a robot of size l, are small differences of these. This costs 2 log10(t / l)
// digits. Therefore no origin slides farther than the robot's own size. If axes are almost parallel, their common
// normal is kilometres away, and origins stay as given. Nothing is rounded except the rounding errors of zeros. Data
// about the bodies' own origins (forces on bodies, loops, contacts) are not converted: this is only for maps of joint
// and frame quantities.
#pragma once
#include <cmath>
#include <vector>

#include "core/model/model.h"

namespace featherstorm {

// A body for the choice: its axis z and its origin r in its parent's frame [m], and whether the origin may slide along
// z.
struct Axis {
  int parent = 0;
  bool slides = false;
  Vec3<double> r, z;
};
// The slide of each origin [m] for the fewest nonzero components; bodies of the world are not counted. Entry 0 is the
// world's. None slides farther than the greatest distance of an origin from its parent's.
std::vector<double> slides(const std::vector<Axis>& axes);

// Position of origin i in its parent's frame after both have slid; components that are zero up to rounding are exactly
// zero.
Vec3<double> slid_origin(const Axis& axis, double slide, double parent_slide);

// The same robot with its origins slid, where placements are constants; frames stay the same but have other positions
// in their bodies.
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
    if (t[i] == 0 && t[b.parent] == 0) continue;
    const Vec3<double> r = slid_origin(axes[i], t[i], t[b.parent]);
    for (int k = 0; k < 3; k++) b.X_T.r(k) = P(r(k));
    if (t[i] == 0) continue;
    b.I = shift(Vec3<P>{P(0.0), P(0.0), P(-t[i])}, b.I);
    b.second_moments = second_moments(b.I.I);
  }
  for (Frame<P>& f : m.frame) f.X.r.z() = f.X.r.z() - P(t[f.body]);
  return m;
}

}  // namespace featherstorm
