// Slopes of actuator forces with respect to length and velocity, for a step that takes forces at its end [integrator
// discrete].
//
//   p = max(0, -d force / d length),   v = max(0, -d force / d velocity);   both 0 for a force at its limit
//
// The activation's own change is ignored, and so are the bristles' decay and the change of heat.
#pragma once
#include "core/actuation/actuator_slopes.h"
#include "core/scalar/dual.h"

namespace featherstorm {

template <class T> struct ForceSlopes { T length, velocity; };  // d force / d length, d force / d velocity

// Slopes of a motor: circuit and controller, cogging, bristles. V is the controller's voltage, with slope 0 at the
// supply's limit.
template <class T>
FS_HD ForceSlopes<T> dc_motor_force_slopes(const auto& w, const auto& a, const T& length, const T& velocity,
                                           const auto& act, const auto& rate, const auto& u) {
  const T zero(0.0), K(a.gains[1]), h(w.timestep), R = max(resistance<T>(a, act), T(1e-15));
  T by_length(0.0), by_velocity(0.0);
  if ((a.inputs & (input_position | input_velocity | input_feedforward)) != 0) {
    const T R0(a.gains[0]), most(a.gains[7]);
    const T V = terminal_voltage(a, u, length, velocity, act) - setpoints_of<T>(a, u).voltage;
    const auto limited = zero < most && most <= abs(V);
    by_length = select(limited, zero, -(T(a.gains[4]) * R0 * rcp(K)));
    by_velocity = select(limited, zero, K - T(a.gains[6]) * R0 * rcp(K));
  }
  ForceSlopes<T> s{K * by_length * rcp(R), K * (by_velocity - K) * rcp(R)};
  T force;  // force of the circuit
  if (a.current >= 0) {
    const int k = a.current;
    const T x = a.act_early ? next_activation(w, a, k, Zeros<T>{}, act, T(rate[k])) : T(act[k]), most(a.dynamics[1]);
    force = K * x;
    const auto limited = zero < most && most <= abs(T(rate[k]));
    const T share = a.act_early ? select(limited, zero, T(1.0) - exp(-h * rcp(T(a.dynamics[0])))) : zero;
    s.length = s.length * share, s.velocity = s.velocity * share;
  } else {
    force = dc_motor_gain<T>(a, act) * (terminal_voltage(a, u, length, velocity, act) - K * velocity);
  }
  if (a.force_limited) {
    const auto free = T(a.force_lower) < force && force < T(a.force_upper);
    s.length = select(free, s.length, zero), s.velocity = select(free, s.velocity, zero);
  }
  T sine, cosine;
  sincos(T(T(a.biases[1]) * length + T(a.biases[2])), sine, cosine);
  s.length = s.length + T(a.biases[0]) * T(a.biases[1]) * cosine;
  if (a.bristle >= 0) s.velocity = s.velocity - T(a.dynamics[6]);
  return s;
}

// Computes all slopes.
//
// in   length, velocity, force (n_outputs); act, rate (na)  from actuation
// in   u (nu)  controls within their ranges
// out  by_length, by_velocity (n_outputs)  p and v; all are written
FS_HD void discrete_slopes(const auto& w, const auto& length, const auto& velocity, const auto& force, const auto& act,
                           const auto& rate, const auto& u, auto by_length, auto by_velocity) {
  using T = ScalarOf<decltype(length)>;
  const T zero(0.0);
  for (int k = 0; k < w.n_outputs; k++) by_length[k] = by_velocity[k] = zero;
  for (const auto& a : w.actuator) {
    if (a.disabled) continue;
    const int o = a.output;
    const T l = length[o], v = velocity[o];
    ForceSlopes<T> s{zero, zero};
    if (a.gain == Gain::DcMotor) s = dc_motor_force_slopes(w, a, l, v, act, rate, u);
    if (a.bias == Bias::Affine) s.length = s.length + T(a.biases[1]), s.velocity = s.velocity + T(a.biases[2]);
    if (a.bias == Bias::So3) s.length = s.length - T(a.gains[0]), s.velocity = s.velocity + T(a.biases[2]);
    if (a.bias == Bias::Muscle) s.length = s.length + muscle_bias(a, Dual<T>(l, T(1.0))).d;
    if (a.gain == Gain::Affine || a.gain == Gain::Muscle) {
      T by_l(a.gains[1]), by_v(a.gains[2]);
      if (a.gain == Gain::Muscle) {
        by_l = muscle_gain(a, Dual<T>(l, T(1.0)), Dual<T>(v)).d, by_v = muscle_gain_slope(a, l, v);
      }
      const int last = a.act + a.acts - 1;
      T x(0.0);
      if (a.activation == Activation::None) x = u[a.control];
      else x = a.act_early ? next_activation(w, a, last, velocity, act, T(rate[last])) : T(act[last]);
      s.length = s.length + by_l * x, s.velocity = s.velocity + by_v * x;
    }
    s = {max(-s.length, zero), max(-s.velocity, zero)};
    if (a.force_limited && a.gain == Gain::So3) {
      const Vec3<T> f{force[o], force[o + 1], force[o + 2]};
      // its norm is scaled to the limit, up to rounding
      const auto held = T(a.force_upper) * T(a.force_upper) * T(1.0 - 1e-6) <= dot(f, f);
      s = {select(held, zero, s.length), select(held, zero, s.velocity)};
    } else if (a.force_limited && a.gain != Gain::DcMotor) {
      const auto free = T(a.force_lower) < force[o] && force[o] < T(a.force_upper);
      s = {select(free, s.length, zero), select(free, s.velocity, zero)};
    }
    for (int k = 0; k < a.outputs; k++) by_length[o + k] = s.length, by_velocity[o + k] = s.velocity;
  }
}

}  // namespace featherstorm
