// DC motors: a controller that sets a voltage, the circuit, heat, cogging and bristle friction (LuGre).
//
//   V = R/K (kp (p - l) + kd (v - l') + ki x + ff) + K l', clamped to the supply's voltage, + a voltage given as
//   control
//   i' = (V/R - K/R l' - i) / te       current; without te: i = (V - K l') / R
//   T' = (R i^2 - T/RT) / C            temperature above ambient; R grows by alpha per degree
//   z' = l' - s0 |l'| / g(l') z        bristles, g(v) = FC + (FS - FC) exp(-(v/vS)^2)
//   force = K i (within limits) + A sin(N l + phi) - s0 z - s1 z'
//
// l is the actuator's length. Absent parts have no number in act. Parameters:
//
//   gains     R, K, alpha, T0, kp, ki, kd, supply
//   dynamics  te, greatest |i'|, RT, C, ambient temperature, s0, s1, slew rate, greatest |x|
//   biases    A, N, phi, FC, FS, vS
#pragma once
#include "core/actuation/muscle.h"
#include "core/actuation/setpoints.h"

namespace featherstorm {

// Returns the rate, but 0 if it leads x further beyond -limit or limit. Applies only if limit is positive.
template <class T> FS_HD T halted_rate(const T& rate, const T& x, const T& limit) {
  const T zero(0.0), r = select(limit <= x, min(rate, zero), select(x <= -limit, max(rate, zero), rate));
  return select(zero < limit, r, rate);
}

// Returns V for slewed controls. R is that at the reference temperature here, as in MuJoCo.
template <class T>
FS_HD T terminal_voltage(const auto& a, const auto& u, const T& length, const T& velocity, const auto& act) {
  const Setpoints<T> s = setpoints_of<T>(a, u);
  if ((a.inputs & (input_position | input_velocity | input_feedforward)) == 0) return s.voltage;
  const T R(a.gains[0]), K(a.gains[1]), kp(a.gains[4]), ki(a.gains[5]), kd(a.gains[6]);
  const T x = a.integral >= 0 ? T(act[a.integral]) : T(0.0);
  const T torque = kp * (s.position - length) + kd * (s.velocity - velocity) + ki * x + s.feedforward;
  return within_given(T(R * rcp(K) * torque + K * velocity), T(a.gains[7])) + s.voltage;
}

// Returns R at the temperature in act.
template <class T> FS_HD T resistance(const auto& a, const auto& act) {
  const T R(a.gains[0]);
  if (a.temperature < 0) return R;
  return R * (T(1.0) + T(a.gains[2]) * (act[a.temperature] + T(a.dynamics[4]) - T(a.gains[3])));
}

// Returns -s0 |v| / g(v), the decay rate of the bristles.
template <class T> FS_HD T bristle_decay(const auto& a, const T& velocity) {
  const T FC(a.biases[3]), FS(a.biases[4]), ratio = over(velocity, T(a.biases[5]));
  return -T(a.dynamics[5]) * over(abs(velocity), T(FC + (FS - FC) * exp(-ratio * ratio)));
}

// Computes the rates of a motor.
//
// in      length, velocity  of the actuator
// in      dt [s]  time step
// in-out  u (nu)  the position setpoint becomes the slewed one
// out     rate    of the motor's numbers in act
template <class T>
FS_HD void dc_motor_rates(const auto& a, const T& length, const T& velocity, const auto& act, const T& dt, auto u,
                          auto rate) {
  const auto& d = a.dynamics;
  if (a.slew >= 0) {
    const T before = act[a.slew], now = slewed_setpoint(a, T(u[a.control]), before, T(d[7]), dt);
    rate[a.slew] = (now - before) * rcp(dt);
    u[a.control] = now;
  }
  if (a.integral >= 0) rate[a.integral] = halted_rate(T(u[a.control] - length), T(act[a.integral]), T(d[8]));
  const T V = terminal_voltage(a, u, length, velocity, act), R = resistance<T>(a, act), K(a.gains[1]);
  const T steady = (V - K * velocity) * rcp(R);
  if (a.temperature >= 0) {
    const T i = a.current >= 0 ? T(act[a.current]) : steady;
    rate[a.temperature] = (R * i * i - act[a.temperature] * rcp(T(d[2]))) * rcp(T(d[3]));
  }
  if (a.bristle >= 0) rate[a.bristle] = velocity + bristle_decay(a, velocity) * act[a.bristle];
  if (a.current >= 0) rate[a.current] = within_given(T((steady - act[a.current]) * rcp(T(d[0]))), T(d[1]));
}

// Returns the bristle state after a step of constant velocity: z e^(a h) + v (e^(a h) - 1) / a.
template <class T> FS_HD T next_bristle(const auto& motor, const T& z, const T& velocity, const T& h) {
  const T a = bristle_decay(motor, velocity), e = exp(a * h);
  const auto still = abs(a) <= T(1e-15);
  return e * z + velocity * select(still, h, (e - T(1.0)) * rcp(select(still, T(1.0), a)));
}

// Returns K, or K/R if act has no current.
template <class T> FS_HD T dc_motor_gain(const auto& a, const auto& act) {
  const T K(a.gains[1]);
  return a.current >= 0 ? K : over(K, resistance<T>(a, act));
}

// Returns cogging and friction, which the force limits do not affect.
template <class T> FS_HD T dc_motor_losses(const auto& a, const T& length, const auto& act, const auto& rate) {
  T s, c, force;
  sincos(T(T(a.biases[1]) * length + T(a.biases[2])), s, c);
  force = T(a.biases[0]) * s;
  if (a.bristle >= 0) force = force - T(a.dynamics[5]) * act[a.bristle] - T(a.dynamics[6]) * rate[a.bristle];
  return force;
}

}  // namespace featherstorm
