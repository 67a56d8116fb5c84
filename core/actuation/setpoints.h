// Setpoints of servos: which controls they are, how fast they may move, and which turn of an angle is meant.
#pragma once
#include "core/world/world.h"

namespace featherstorm {

// Bits of Actuator.inputs for Pid and DcMotor; their controls come in this order [mjtCtrlInput].
inline constexpr unsigned input_position = 1, input_velocity = 2, input_feedforward = 4, input_voltage = 8;
// Values of it for So3 [mjtCtrlChart]: a rotation vector, three controls, or a quaternion w x y z, four.
inline constexpr unsigned chart_rotation_vector = 1, chart_quaternion = 2;

template <class T> struct Setpoints { T position, velocity, feedforward, voltage; };

// The setpoints of an actuator, 0 for those that it does not have.
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

// x within -limit and limit, if limit is positive.
template <class T> FS_HD T within_given(const T& x, const T& limit) {
  return select(T(0.0) < limit, max(min(x, limit), -limit), x);
}

// x to the nearest integer, halves away from zero.
template <class T> FS_HD T nearest_integer(const T& x) {
  using std::floor;
  const T n = floor(abs(x) + T(0.5));
  return select(x < T(0.0), -n, n);
}

// How much the length of a periodic actuator grows in one turn: 2 pi |gear|, of rotation.
template <class T> FS_HD T period_of(const auto& a) {
  const int k = a.transmission == Transmission::Site ? 3 : 0;
  return T(6.283185307179586) *
         sqrt(T(a.gear[k] * a.gear[k] + a.gear[k + 1] * a.gear[k + 1] + a.gear[k + 2] * a.gear[k + 2]));
}

// The setpoint that is some turns from u and nearest to x; u itself for actuators that are not periodic.
template <class T> FS_HD T nearest_setpoint(const auto& a, const T& u, const T& x) {
  if (!a.periodic) return u;
  const T period = period_of<T>(a);
  return u - period * nearest_integer(T((u - x) * rcp(period)));
}

// The setpoint that can be reached from `before` in a step when it moves by at most `rate` [1/s].
template <class T> FS_HD T slewed_setpoint(const auto& a, const T& u, const T& before, const T& rate, const T& dt) {
  const T step = rate * dt;
  return max(min(nearest_setpoint(a, u, before), before + step), before - step);
}

}  // namespace featherstorm
