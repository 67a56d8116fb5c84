// A link and its descendants: inertia, centre of mass, momentum.
//
//   m c = sum m_i c_i,   p = sum m_i v_i,   L = sum I_i w_i + (c_i - c) x m_i v_i
//
// Sums run inward from body to body, each in its own axes, to the body of the link:
//
//   h_i = I_i v_i,   h_parent += X^T h_i;   L = n - c x p with h = (n; p)
#pragma once
#include "core/model/joints.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// Returns true if link `above` is `link` or one of its ancestors. Links are numbered from the world outward.
FS_HD bool carries(const auto& w, int above, int link) {
  while (link > above) link = w.link[link].parent;
  return link == above;
}

// Inertia of one link about the origin of its body, body axes.
template <class P> FS_HD RigidBodyInertia<P> link_inertia(const WorldLink<P>& l) {
  const P o(0.0);
  const Sym3<P> principal{l.moment[0], o, o, l.moment[1], o, l.moment[2]};
  return rigid_body_inertia(l.mass, l.inertial.X.r, conjugate(l.inertial.X.R, principal));
}

// Splits a link and its descendants by bodies of the tree.
// out  I (nb + 1)        inertia of each body's part about its origin, body axes; 0 for bodies without a part
// out  carried (nb + 1)  1 for bodies that move with the link or relative to it, else 0
template <class P> FS_HD void subtree_inertias(const auto& m, const auto& w, int link, auto& I, auto& carried) {
  for (int i = 0; i <= m.nb; i++) I[i] = zero_inertia<P>(), carried[i] = 0;
  for (int l = link; l < static_cast<int>(w.link.size()); l++) {
    if (!carries(w, link, l)) continue;
    const int i = w.link[l].inertial.body;
    I[i] += link_inertia(w.link[l]);
    carried[i] = 1;
  }
  // a body without a link stands between two joints of one link
  for (int i = m.nb; i > w.link[link].inertial.body; i--)
    if (carried[i]) carried[m.body[i].parent] = 1;
}

// Calls visit(i) for the bodies that `base` carries, from the last to the first. `base` itself is excluded.
FS_HD void inward(const auto& m, const auto& carried, int base, const auto& visit) {
  for (int i = m.nb; i > base; i--)
    if (carried[i]) visit(i);
}

template <class T> struct SubtreeMass {
  T inverse;       // 1 / mass; large if the mass is zero
  Vec3<T> first;   // moment about the origin of the link's body, its axes [kg m]
  Vec3<T> centre;  // centre of mass, from that origin
};
// Computes the mass of a subtree. If all masses are 0, the centre is the one given for the link itself.
template <class T>
FS_HD SubtreeMass<T> subtree_mass(const auto& m, const auto& w, const auto& x, int link, const auto& I,
                                  const auto& carried) {
  const T least(1e-15);  // mjMINVAL
  const auto& own = w.link[link].inertial;
  auto mass = scratch<T>(m.nb + 1);
  auto mc = scratch<Vec3<T>>(m.nb + 1);
  for (int i = 0; i <= m.nb; i++) mass[i] = T(I[i].m), mc[i] = cast<T>(I[i].h);
  inward(m, carried, own.body, [&](int i) {
    const int p = m.body[i].parent;
    with_joint(m, i, x, [&](const auto& J) { mc[p] = mc[p] + (J.rotate(mc[i]) + J.origin() * mass[i]); });
    mass[p] = mass[p] + mass[i];
  });
  const T total = mass[own.body];
  SubtreeMass<T> s{rcp(max(total, least)), mc[own.body], zero3<T>()};
  for (int k = 0; k < 3; k++) s.centre(k) = select(total < least, T(own.X.r(k)), s.first(k) * s.inverse);
  return s;
}

// Mass times centre of mass of a link and its descendants, from the origin of its body, in its axes [kg m].
template <class T> FS_HD Vec3<T> subtree_first_moment(const auto& m, const auto& w, const auto& x, int link) {
  using P = typename std::remove_cvref_t<decltype(m)>::Number;
  auto I = scratch<RigidBodyInertia<P>>(m.nb + 1);
  auto carried = scratch<int>(m.nb + 1);
  subtree_inertias<P>(m, w, link, I, carried);
  return subtree_mass<T>(m, w, x, link, I, carried).first;
}

// Returns the centre of mass [m], world. Cost O(descendants of the link).
//
// in   x (nx), X (nb + 1)
template <class T> FS_HD Vec3<T> subtree_centre(const auto& m, const auto& w, const auto& x, const auto& X, int link) {
  using P = typename std::remove_cvref_t<decltype(m)>::Number;
  auto I = scratch<RigidBodyInertia<P>>(m.nb + 1);
  auto carried = scratch<int>(m.nb + 1);
  subtree_inertias<P>(m, w, link, I, carried);
  const Placement<T>& base = X[w.link[link].inertial.body];
  return base.r + base.R * subtree_mass<T>(m, w, x, link, I, carried).centre;
}

template <class T> struct SubtreeMotion {
  Vec3<T> velocity;  // velocity of the centre of mass [m/s], world axes
  Vec3<T> momentum;  // angular, about the centre of mass [kg m^2/s], world axes
};
// Computes the motion of a subtree.
//
// in   x (nx), X, V (nb + 1)  placements; velocities in the bodies' own axes
template <class T>
FS_HD SubtreeMotion<T> subtree_motion(const auto& m, const auto& w, const auto& x, const auto& X, const auto& V,
                                      int link) {
  using P = typename std::remove_cvref_t<decltype(m)>::Number;
  auto I = scratch<RigidBodyInertia<P>>(m.nb + 1);
  auto carried = scratch<int>(m.nb + 1);
  auto h = scratch<Force<T>>(m.nb + 1);
  subtree_inertias<P>(m, w, link, I, carried);
  const SubtreeMass<T> s = subtree_mass<T>(m, w, x, link, I, carried);
  const int base = w.link[link].inertial.body;
  for (int i = base; i <= m.nb; i++) h[i] = I[i] * V[i];
  inward(m, carried, base,
         [&](int i) { with_joint(m, i, x, [&](const auto& J) { h[m.body[i].parent] += apply_transpose(J, h[i]); }); });
  const Mat3<T>& R = X[base].R;
  return {R * (h[base].f * s.inverse), R * (h[base].n - cross(s.centre, h[base].f))};
}

}  // namespace featherstorm
