// Tendons of a model file. A tendon's length is a weighted sum of joint positions (fixed), or the length of a path
// through sites and around objects (spatial).
//
//   fixed     length = sum of coefficient q_j
//   spatial   length = sum over its parts of the distances between points, each divided by the divisor of the last
//             pulley before it; if an object to wrap around stands between two sites, the shortest path that does not
//             cut it
//
// Names of MuJoCo are in brackets.
#pragma once
#include <vector>

#include "core/world/frame.h"
#include "core/world/polynomial.h"

namespace featherstorm {

// Elements of a tendon's path, in order [wrap].
enum class TendonPartKind : unsigned char { Joint, Pulley, Site, Sphere, Cylinder };

// Side on which a tendon passes an object [sidesite]. None: the shorter way. Around: the way that the side site
// selects. Inside: through it, for a side site within the object. AroundOrInside: the state decides, if the side site
// moves relative to the object.
enum class TendonSide : unsigned char { None, Around, Inside, AroundOrInside };

template <class P> struct TendonPart {
  TendonPartKind kind = TendonPartKind::Joint;
  int q = 0, v = 0;                      // Joint: its coordinates
  P number{};                            // Joint: coefficient; Pulley: divisor; Sphere, Cylinder: radius [m]
  Frame<P> place{};                      // Site; Sphere: centre; Cylinder: axis z
  TendonSide passes = TendonSide::None;  // Sphere, Cylinder
  Frame<P> side{};                       // side site, used by Around and AroundOrInside
};

template <class P> struct Tendon {
  bool spatial = false;
  std::vector<TendonPart<P>> part;
  bool elastic = false;            // true if it has a spring
  Polynomial<P> stiffness;         // [N/m], or per unit of a fixed tendon's length
  P slack_lower{}, slack_upper{};  // the spring is slack between these lengths [lengthspring]
  bool damped = false;
  Polynomial<P> damping;
  bool inert = false;          // true if it has an armature
  P armature{};                // inertia moved along the tendon [kg]
  bool force_limited = false;  // limits the sum of all its actuators [actfrcrange]
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
