// Constraints of a model file that need no collision detection: equalities, dry friction, limits. Each has one or more
// rows,
//
//   J a + B J v + K d r + bias = 0   softened by R,   r = position - margin
//
// K, B, d and R follow from solref, solimp and the inverse inertia along the row (core/constraint/impedance.h). Every
// row is always present in the arrays; limits that are not reached are turned off by their numbers. Names of MuJoCo are
// in brackets.
#pragma once
#include <vector>

#include "core/spatial/quaternion.h"
#include "core/world/frame.h"

namespace featherstorm {

// Softness of a row.
template <class P> struct Softness {
  // time constant [s] and damping ratio if both are positive, else -stiffness [1/s^2] and -damping [1/s]  [solref]
  P reference[2] = {};
  // impedance at distance 0 and at `width`; width, midpoint and power of the curve in between  [solimp]
  P impedance[5] = {};
  int power = 0;  // the power if it is 1 or 2, which needs no exponential; 0: any other
};

// Contribution of a joint to the orientation of one link in the axes of another: the quaternion of its own rotation.
// The axes are given in the other link's frame with all rotations at the identity.
template <class P> struct JointTurn {
  bool ball = false;  // true: quaternion at q, w first; false: the angle q - zero
  int q = 0;
  P zero{};                                                // [rad]
  Vec3<P> axis[3] = {zero3<P>(), zero3<P>(), zero3<P>()};  // all three for a ball; the first for a hinge
};

enum class EqualityKind : unsigned char { Connect, Weld, Joint, Tendon };

template <class P> struct Equality {
  EqualityKind kind = EqualityKind::Connect;
  bool active = true;  // true if it has rows [eq_active0]
  Softness<P> softness;
  P inverse_inertia[2] = {};  // value for its rows at qpos0; Weld: for translation [1/kg], for rotation [1/(kg m^2)]

  // Connect, Weld: origins to coincide; Weld: orientations too. Rows of rotation are along axes of place[1].
  Frame<P> place[2];
  int link[2] = {};                           // links that carry these frames
  std::vector<JointTurn<P>> turn;             // quaternion of place[0] in the axes of place[1]: the rotations in order
  Quaternion<P> aligned{P{}, P{}, P{}, P{}};  // multiplied by this one
  P torque_scale{};                           // length that converts rotation to distance [m] [torquescale]

  // Joint, Tendon: y - y0 = c0 + c1 (x - x0) + ... + c4 (x - x0)^4; without x: y - y0 = c0
  bool coupled = false;      // true if there is an x
  int q[2] = {}, v[2] = {};  // Joint: coordinates of y and x
  int tendon[2] = {};        // Tendon: y and x
  P zero[2] = {};            // y0, x0
  P coefficient[5] = {};
};

// Dry friction of a coordinate or along a tendon [frictionloss].
template <class P> struct DryFriction {
  bool of_tendon = false;
  int index = 0;  // number of the coordinate in v, or of the tendon
  Softness<P> softness;
  P inverse_inertia{};
  P loss{};  // greatest force [N m | N]
};

enum class LimitKind : unsigned char { Coordinate, Ball, Tendon };

// A range. It has two rows, position - lower and upper - position. A ball joint has one, upper - angle.
template <class P> struct Limit {
  LimitKind kind = LimitKind::Coordinate;
  int q = 0, v = 0;  // Coordinate, Ball
  int tendon = 0;
  Softness<P> softness;
  P inverse_inertia{};
  P lower{}, upper{};
  P margin{};  // distance to a limit below which its row is active
};

// All constraints, in the order of their rows.
template <class P> struct Constraints {
  std::vector<Equality<P>> equality;
  std::vector<DryFriction<P>> friction;  // coordinates, then tendons
  std::vector<Limit<P>> limit;           // joints, then tendons
  bool safe_reference = true;            // time constants are at least two time steps [refsafe]
  // true: rows use their inverse inertia at the present position; inverse_inertia is then 1 [diagexact]
  bool exact_inertia = false;
};

template <class P> int rows_of(const Equality<P>& e) {
  if (!e.active) return 0;
  switch (e.kind) {
    case EqualityKind::Connect: return 3;
    case EqualityKind::Weld: return 6;
    case EqualityKind::Joint:
    case EqualityKind::Tendon: return 1;
  }
  return 0;
}
template <class P> int rows_of(const Limit<P>& l) { return l.kind == LimitKind::Ball ? 1 : 2; }
template <class P> int rows_of_equalities(const Constraints<P>& c) {
  int n = 0;
  for (const Equality<P>& e : c.equality) n += rows_of(e);
  return n;
}
template <class P> int rows_of_friction(const Constraints<P>& c) { return static_cast<int>(c.friction.size()); }
template <class P> int rows_of_limits(const Constraints<P>& c) {
  int n = 0;
  for (const Limit<P>& l : c.limit) n += rows_of(l);
  return n;
}
template <class P> int rows_of(const Constraints<P>& c) {
  return rows_of_equalities(c) + rows_of_friction(c) + rows_of_limits(c);
}

template <class P, class S> FS_HD Softness<P> cast(const Softness<S>& s) {
  Softness<P> r;
  for (int k = 0; k < 2; k++) r.reference[k] = P(s.reference[k]);
  for (int k = 0; k < 5; k++) r.impedance[k] = P(s.impedance[k]);
  r.power = s.power;
  return r;
}
template <class P, class S> JointTurn<P> cast(const JointTurn<S>& t) {
  return {t.ball, t.q, P(t.zero), {cast<P>(t.axis[0]), cast<P>(t.axis[1]), cast<P>(t.axis[2])}};
}
template <class P, class S> Equality<P> cast(const Equality<S>& e) {
  Equality<P> r;
  r.kind = e.kind, r.active = e.active, r.softness = cast<P>(e.softness);
  r.aligned = {P(e.aligned.w), P(e.aligned.x), P(e.aligned.y), P(e.aligned.z)};
  r.torque_scale = P(e.torque_scale), r.coupled = e.coupled;
  for (const JointTurn<S>& t : e.turn) r.turn.push_back(cast<P>(t));
  for (int k = 0; k < 2; k++) {
    r.inverse_inertia[k] = P(e.inverse_inertia[k]), r.place[k] = cast<P>(e.place[k]), r.link[k] = e.link[k];
    r.q[k] = e.q[k], r.v[k] = e.v[k], r.tendon[k] = e.tendon[k], r.zero[k] = P(e.zero[k]);
  }
  for (int k = 0; k < 5; k++) r.coefficient[k] = P(e.coefficient[k]);
  return r;
}
template <class P, class S> DryFriction<P> cast(const DryFriction<S>& f) {
  return {f.of_tendon, f.index, cast<P>(f.softness), P(f.inverse_inertia), P(f.loss)};
}
template <class P, class S> Limit<P> cast(const Limit<S>& l) {
  return {l.kind, l.q, l.v, l.tendon, cast<P>(l.softness), P(l.inverse_inertia), P(l.lower), P(l.upper), P(l.margin)};
}
template <class P, class S> Constraints<P> cast(const Constraints<S>& c) {
  Constraints<P> r;
  for (const auto& x : c.equality) r.equality.push_back(cast<P>(x));
  for (const auto& x : c.friction) r.friction.push_back(cast<P>(x));
  for (const auto& x : c.limit) r.limit.push_back(cast<P>(x));
  r.safe_reference = c.safe_reference, r.exact_inertia = c.exact_inertia;
  return r;
}

}  // namespace featherstorm
