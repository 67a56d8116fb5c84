// What the rigid law asks of a row: a velocity at the end of the step, and how far the row may miss it under a force.
//
//   w = J v_next,   v_next = v + h (a0 + M^-1 J^T f),   M that of core/mujoco/position_slopes.h
//   R f = w* / h - w / h      where the row has a force: one that may give way by R f
//
// With omega = 2 pi frequency, zeta the damping ratio, A the row's own element of J M^-1 J^T and r its violation (of a contact
// its gap, below zero inside), this is the spring and damper whose force is taken at the end of the step:
//
//   R = A / (h omega (2 zeta + h omega)),   w* = -r omega / (2 zeta + h omega)
//
// It cannot oscillate whatever h is. Apart, a row may close within the step, no more: w* = -r / h. What hits faster than
// `rebound` leaves with e times that speed, and R = 0: a rebound does not give way. Nothing is pushed out faster than `push`.
//
// In the letters of a model file's rows (core/constraint/rows.h): r0 = J a0 - aref with aref = (w* - J v) / h, so that a force of a
// row solves A f + r0 + R f = 0. Where D = 1 / R stands for MuJoCo's law, here stands `scale` = (A + R) / A, as A is known to the
// solver alone; 0 where the row is not there.
#pragma once
#include <numbers>

#include "core/constraint/row_pattern.h"
#include "core/scalar/scalar.h"

namespace featherstorm {

// Numbers of the law, the same for all rows.
template <class P> struct RigidLaw {
  P frequency{60};     // of contacts, limits and equalities [Hz]
  P damping_ratio{1};  //
  P hold_soft{1e-3};   // R / A of what is held, by friction or an equality
  P restitution{0};    // e of contacts
  P rebound{0.1};      // slowest rebound [m/s]
  P push{1};           // fastest removal of a penetration [m/s]
  P look_ahead{0.05};  // contacts that are further apart are not looked at [m]
  P tolerance{1e-6};   // error of a velocity that is left alone [m/s]
  int sweeps = 8;      // over the rows
  int polishes = 2;    // direct solutions of the rows that act, each kept where it is better
};
template <class P, class S> RigidLaw<P> cast(const RigidLaw<S>& l) {
  return {P(l.frequency), P(l.damping_ratio), P(l.hold_soft), P(l.restitution), P(l.rebound),
          P(l.push),      P(l.look_ahead),    P(l.tolerance), l.sweeps,         l.polishes};
}

// What is asked of a row.
template <class T> struct RigidRow {
  T aref;   // (w* - J v) / h [m/s^2]
  T scale;  // (A + R) / A
};

// Of springs that act at the end of the step: (A + R) / A, and what of a violation is removed a second.
template <class S> struct RigidSpring { S scale, rate; };
template <class P, class S> FS_HD RigidSpring<S> rigid_spring(const RigidLaw<P>& l, const S& h) {
  const S omega(P(2 * std::numbers::pi) * l.frequency), d = S(P(2) * l.damping_ratio) + h * omega;
  return {S(1.0) + rcp(h * omega * d), omega * rcp(d)};
}

// A contact's normal, or a limit, without rebound.
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

// A row that holds both ways. Its A is that of a body that nothing else holds: beside other rows a spring made of it may be much too
// soft, so it is as hard as friction.
template <class T, class P, class S>
FS_HD RigidRow<T> rigid_equality(const RigidLaw<P>& l, const S& timestep, const T& violation, const T& velocity) {
  const RigidSpring<S> s = rigid_spring(l, timestep);
  const T push(l.push), target = max(min(-(violation * T(s.rate)), push), -push);
  return {(target - velocity) * rcp(T(timestep)), T(1.0) + T(l.hold_soft)};
}

// Friction: at rest at the end of the step.
template <class T, class P, class S>
FS_HD RigidRow<T> rigid_friction(const RigidLaw<P>& l, const S& timestep, const T& velocity) {
  return {-(velocity * rcp(T(timestep))), T(1.0) + T(l.hold_soft)};
}

// Whether a gap may close within the step, at accelerations up to `greatest_acceleration`: above zero where it may.
inline constexpr double greatest_acceleration = 200;
template <class T, class S> FS_HD T rigid_nearness(const S& timestep, const T& gap, const T& velocity) {
  const T h(timestep);
  return T(greatest_acceleration) * h * h - (gap + h * velocity);
}

}  // namespace featherstorm
