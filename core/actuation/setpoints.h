// Setpoints of servos: their controls, their slew rates, and the nearest equivalent of an angle.
#pragma once
#include "core/world/world.h"

namespace featherstorm {

// Bits of Actuator.inputs for Pid and DcMotor. Their controls have this order [mjtCtrlInput].
inline constexpr unsigned input_position = 1, input_velocity = 2, input_feedforward = 4, input_voltage = 8;
// Values of Actuator.inputs for So3 [mjtCtrlChart]: a rotation vector has three controls, a quaternion w x y z four.
inline constexpr unsigned chart_rotation_vector = 1, chart_quaternion = 2;

template <class T> struct Setpoints { T position, velocity, feedforward, voltage; };

// Returns the setpoints of an actuator, 0 for absent ones.
template <class T> FS_HD Setpoints<T> setpoints_of(const auto& a, const auto& u) {
  int k = a.control;
  const auto next = [&](unsigned input) { return (a.inputs & input) != 0 ? T(u[k++]) : T(0.0); };
  Setpoints<T> s;
  s.position = next(input_position);
  s.velocity = next(input_velocity);
  s.feedforward = next(input_feedforward);
  s.voltage = next(input_voltage);
  return s;
}

// Clamps x to +-limit, if limit is positive.
template <class T> FS_HD T within_given(const T& x, const T& limit) {
  return select(T(0.0) < limit, max(min(x, limit), -limit), x);
}

// Rounds x to the nearest integer, halves away from zero.
template <class T> FS_HD T nearest_integer(const T& x) {
  using std::floor;
  const T n = floor(abs(x) + T(0.5));
  return select(x < T(0.0), -n, n);
}

// Returns the change of a periodic actuator's length in one turn: 2 pi |gear|, for the rotational gear.
template <class T> FS_HD T period_of(const auto& a) {
  const int k = a.transmission == Transmission::Site ? 3 : 0;
  return T(6.283185307179586) *
         sqrt(T(a.gear[k] * a.gear[k] + a.gear[k + 1] * a.gear[k + 1] + a.gear[k + 2] * a.gear[k + 2]));
}

// Returns u shifted by whole turns to be nearest to x, or u itself for actuators that are not periodic.
template <class T> FS_HD T nearest_setpoint(const auto& a, const T& u, const T& x) {
  if (!a.periodic) return u;
  const T period = period_of<T>(a);
  return u - period * nearest_integer(T((u - x) * rcp(period)));
}

// Returns the setpoint reached from `before` in a step of dt, moving by at most `rate` [1/s].
template <class T> FS_HD T slewed_setpoint(const auto& a, const T& u, const T& before, const T& rate, const T& dt) {
  const T step = rate * dt;
  return max(min(nearest_setpoint(a, u, before), before + step), before - step);
}

}  // namespace featherstorm
