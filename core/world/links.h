// Bodies of a model file (links) and the effects on them other than joints. Several links may form one body of the
// tree.
//
// Names of MuJoCo are in brackets.
#pragma once
#include <vector>

#include "core/world/frame.h"
#include "core/world/polynomial.h"

namespace featherstorm {

// Ellipsoid of a link in the medium, for forces by added mass, drag and lift [geom_fluid].
template <class P> struct FluidEllipsoid {
  Frame<P> place{};    // frame of the geom
  P semiaxis[3] = {};  // [m]
  P interaction{};     // 0 or 1
  P blunt_drag{}, slender_drag{}, angular_drag{}, kutta_lift{}, magnus_lift{};
  P virtual_mass[3] = {}, virtual_inertia[3] = {};
};

template <class P> struct WorldLink {
  Frame<P> place{};          // the link's own axes [xpos, xmat]
  Frame<P> inertial{};       // its principal axes at its centre of mass [xipos, ximat]
  P mass{};                  // [kg]
  P moment[3] = {};          // moments of inertia about the principal axes [kg m^2]
  int parent = 0;            // parent link; 0 for link 0, the world
  P gravity_compensation{};  // fraction of its weight that is compensated [gravcomp]
  bool in_medium = false;    // true: drag on its inertia box, if it has no ellipsoids
  std::vector<FluidEllipsoid<P>> ellipsoid;
};

// Medium around the links [option density, viscosity, wind].
template <class P> struct Medium {
  P density{}, viscosity{};
  Vec3<P> wind = zero3<P>();
};

// Spring of a joint, with a reference that may differ from q0 [stiffness, springref].
template <class P> struct JointSpring {
  int body = 0;  // body of the joint
  Polynomial<P> stiffness;
  P reference[7] = {};  // reference of its q
};

template <class P, class S> FluidEllipsoid<P> cast(const FluidEllipsoid<S>& e) {
  FluidEllipsoid<P> r{cast<P>(e.place)};
  r.interaction = P(e.interaction), r.blunt_drag = P(e.blunt_drag), r.slender_drag = P(e.slender_drag);
  r.angular_drag = P(e.angular_drag), r.kutta_lift = P(e.kutta_lift), r.magnus_lift = P(e.magnus_lift);
  for (int k = 0; k < 3; k++) {
    r.semiaxis[k] = P(e.semiaxis[k]);
    r.virtual_mass[k] = P(e.virtual_mass[k]), r.virtual_inertia[k] = P(e.virtual_inertia[k]);
  }
  return r;
}
template <class P, class S> WorldLink<P> cast(const WorldLink<S>& l) {
  WorldLink<P> r{cast<P>(l.place), cast<P>(l.inertial),       P(l.mass),   {},
                 l.parent,         P(l.gravity_compensation), l.in_medium, {}};
  for (int k = 0; k < 3; k++) r.moment[k] = P(l.moment[k]);
  for (const FluidEllipsoid<S>& e : l.ellipsoid) r.ellipsoid.push_back(cast<P>(e));
  return r;
}
template <class P, class S> Medium<P> cast(const Medium<S>& m) {
  return {P(m.density), P(m.viscosity), cast<P>(m.wind)};
}
template <class P, class S> JointSpring<P> cast(const JointSpring<S>& s) {
  JointSpring<P> r{s.body, cast<P>(s.stiffness), {}};
  for (int k = 0; k < 7; k++) r.reference[k] = P(s.reference[k]);
  return r;
}

}  // namespace featherstorm
