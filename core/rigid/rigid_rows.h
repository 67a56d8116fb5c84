// Rows under the rigid law. A row asks for a velocity w* at the end of the step, and may miss it slightly under a
// force.
//
//   w = J v_next,   v_next = v + h (a0 + M^-1 J^T f),   M that of core/mujoco/position_slopes.h
//   R f = w* / h - w / h      if the row has a force: the row yields by R f
//
// Let omega = 2 pi frequency, zeta the damping ratio, and A the row's own element of J M^-1 J^T. r is the row's
// violation; for a contact it is the gap, negative inside. The following is a spring and damper whose force is taken at
// the end of the step:
//
//   R = A / (h omega (2 zeta + h omega)),   w* = -r omega / (2 zeta + h omega)
//
// It cannot oscillate for any h. While a row is apart, it may just close within the step: w* = -r / h. A contact that
// hits faster than `rebound` leaves with e times that speed, and R = 0, because a rebound does not yield. No
// penetration is removed faster than `push`.
//
// In the notation of a model file's rows (core/constraint/rows.h): r0 = J a0 - aref with aref = (w* - J v) / h, so the
// force of a row solves A f + r0 + R f = 0. MuJoCo's law stores D = 1 / R. The rigid law stores `scale` = (A + R) / A
// instead, because only the solver knows A; scale is 0 for an absent row.
#pragma once
#include <numbers>

#include "core/constraint/row_pattern.h"
#include "core/scalar/scalar.h"

namespace featherstorm {

// Parameters of the law, the same for all rows.
template <class P> struct RigidLaw {
  P frequency{60};     // contacts, limits and equalities [Hz]
  P damping_ratio{1};  // zeta
  P hold_soft{1e-3};   // R / A of rows that hold: friction and equalities
  P restitution{0};    // e of contacts
  P rebound{0.1};      // slowest rebound [m/s]
  P push{1};           // fastest removal of a penetration [m/s]
  P look_ahead{0.05};  // contacts farther apart are ignored [m]
  P tolerance{1e-6};   // errors of a velocity below this are accepted [m/s]
  int sweeps = 8;      // over all rows
  int polishes = 2;    // direct solutions of the acting rows, each kept if it is better
};
template <class P, class S> RigidLaw<P> cast(const RigidLaw<S>& l) {
  return {P(l.frequency), P(l.damping_ratio), P(l.hold_soft), P(l.restitution), P(l.rebound),
          P(l.push),      P(l.look_ahead),    P(l.tolerance), l.sweeps,         l.polishes};
}

// Target of a row.
template <class T> struct RigidRow {
  T aref;   // (w* - J v) / h [m/s^2]
  T scale;  // (A + R) / A
};

// Spring that acts at the end of the step: (A + R) / A, and the fraction of a violation removed per second.
template <class S> struct RigidSpring { S scale, rate; };
template <class P, class S> FS_HD RigidSpring<S> rigid_spring(const RigidLaw<P>& l, const S& h) {
  const S omega(P(2 * std::numbers::pi) * l.frequency), d = S(P(2) * l.damping_ratio) + h * omega;
  return {S(1.0) + rcp(h * omega * d), omega * rcp(d)};
}

// A contact's normal, or a limit. Rebounds only if `rebounds`.
// in  gap [m | rad], velocity: its rate at the beginning of the step
template <class T, class P, class S>
FS_HD RigidRow<T> rigid_unilateral(const RigidLaw<P>& l, const S& timestep, bool rebounds, const T& gap,
                                   const T& velocity) {
  const RigidSpring<S> s = rigid_spring(l, timestep);
  const T zero(0.0), h(timestep), per_second = rcp(h);
  const T apart = -(gap * per_second), inside = min(-(gap * T(s.rate)), T(l.push));
  T target = select(zero < gap, apart, inside), scale(s.scale);
  if (rebounds) {
    const T bounce = -(velocity * T(l.restitution));
    const auto bounces = T(l.rebound) < select(gap + h * velocity < zero, bounce, zero);
    target = select(bounces, bounce, target), scale = select(bounces, T(1.0), scale);
  }
  return {(target - velocity) * per_second, scale};
}

// A bilateral row. Its A is that of a body that nothing else holds. Next to other rows, a spring with this A may be
// much too soft. The row is therefore as stiff as friction.
template <class T, class P, class S>
FS_HD RigidRow<T> rigid_equality(const RigidLaw<P>& l, const S& timestep, const T& violation, const T& velocity) {
  const RigidSpring<S> s = rigid_spring(l, timestep);
  const T push(l.push), target = max(min(-(violation * T(s.rate)), push), -push);
  return {(target - velocity) * rcp(T(timestep)), T(1.0) + T(l.hold_soft)};
}

// Friction: zero velocity at the end of the step.
template <class T, class P, class S>
FS_HD RigidRow<T> rigid_friction(const RigidLaw<P>& l, const S& timestep, const T& velocity) {
  return {-(velocity * rcp(T(timestep))), T(1.0) + T(l.hold_soft)};
}

// Returns a number above zero if a gap may close within the step, at accelerations up to `greatest_acceleration`
// [m/s^2].
inline constexpr double greatest_acceleration = 200;
template <class T, class S> FS_HD T rigid_nearness(const S& timestep, const T& gap, const T& velocity) {
  const T h(timestep);
  return T(greatest_acceleration) * h * h - (gap + h * velocity);
}

}  // namespace featherstorm
