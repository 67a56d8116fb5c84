// Tendons of a model file: lengths that are weighted sums of joint positions, or run from site to site and around things.
//
//   fixed     length = sum of coefficient q_j
//   spatial   length = sum over its parts of the distances between points, each divided by the divisor of the last pulley before
//             it; where an object to wrap around stands between two sites, the shortest path that does not cut it
//
// Names of MuJoCo in brackets.
#pragma once
#include <vector>

#include "core/world/frame.h"
#include "core/world/polynomial.h"

namespace featherstorm {

// What a tendon passes, in order [wrap].
enum class TendonPartKind : unsigned char { Joint, Pulley, Site, Sphere, Cylinder };

// How a tendon passes an object [sidesite]: the shorter way round; around it, the way that the side site says; inside it, as where the
// side site lies within the object; or around or inside, which depends on the state, where the side site moves against the object.
enum class TendonSide : unsigned char { None, Around, Inside, AroundOrInside };

template <class P> struct TendonPart {
  TendonPartKind kind = TendonPartKind::Joint;
  int q = 0, v = 0;                      // Joint: its coordinates
  P number{};                            // Joint: coefficient; Pulley: divisor; Sphere, Cylinder: radius [m]
  Frame<P> place{};                      // Site; Sphere: centre; Cylinder: axis z
  TendonSide passes = TendonSide::None;  // Sphere, Cylinder
  Frame<P> side{};                       // read where it passes Around, or AroundOrInside
};

template <class P> struct Tendon {
  bool spatial = false;
  std::vector<TendonPart<P>> part;
  bool elastic = false;            // whether it has a spring
  Polynomial<P> stiffness;         // [N/m], or per unit of a fixed tendon's length
  P slack_lower{}, slack_upper{};  // lengths between which the spring is slack [lengthspring]
  bool damped = false;
  Polynomial<P> damping;
  bool inert = false;          // whether it has an armature
  P armature{};                // inertia moved along the tendon [kg]
  bool force_limited = false;  // of all its actuators together [actfrcrange]
  P force_lower{}, force_upper{};
};

template <class P, class S> TendonPart<P> cast(const TendonPart<S>& t) {
  return {t.kind, t.q, t.v, P(t.number), cast<P>(t.place), t.passes, cast<P>(t.side)};
}
template <class P, class S> Tendon<P> cast(const Tendon<S>& t) {
  Tendon<P> r{
      t.spatial,          {},      t.elastic,     cast<P>(t.stiffness), P(t.slack_lower), P(t.slack_upper), t.damped,
      cast<P>(t.damping), t.inert, P(t.armature), t.force_limited,      P(t.force_lower), P(t.force_upper)};
  for (const TendonPart<S>& part : t.part) r.part.push_back(cast<P>(part));
  return r;
}

}  // namespace featherstorm
