// Slopes of actuator forces with respect to velocity, for implicit steps: slope = -d force / d velocity.
//
// The slope is 0 for a force at its limit, as in MuJoCo. Temperatures, supply limits and the change of the bristles'
// decay are ignored.
#pragma once
#include "core/actuation/activation.h"

namespace featherstorm {

// Returns d muscle_gain / d velocity
template <class T> FS_HD T muscle_gain_slope(const auto& a, const T& length, const T& velocity) {
  const auto& prm = a.gains;
  const MuscleScale<T> s = muscle_scale(a, prm, length);
  const T one(1.0), zero(0.0), two(2.0), unit = s.optimal * T(prm[6]), V = over(velocity, unit), y = T(prm[8]) - one;
  const T lengthening = select(V <= y, over(T(two * (y - V)), y), zero);
  const T slope = select(V <= zero, select(V <= -one, zero, two * (V + one)), lengthening);
  return -s.force * force_over_length(s.length, T(prm[4]), T(prm[5])) * over(slope, unit);
}

// Slope of a motor's controller, circuit and bristles.
template <class T> FS_HD T dc_motor_slope(const auto& a, const T& h) {
  const T R = max(T(a.gains[0]), T(1e-15)), K(a.gains[1]), kd(a.gains[6]);
  const bool controlled = (a.inputs & (input_position | input_velocity | input_feedforward)) != 0;
  const T voltage = controlled ? kd * R * rcp(K) - K : T(0.0);  // -dV / d velocity
  T slope = K * (voltage + K) * rcp(R);
  if (a.current >= 0) slope = slope * (T(1.0) - exp(-h * rcp(T(a.dynamics[0]))));
  return a.bristle >= 0 ? slope + T(a.dynamics[6]) : slope;
}

// Computes all slopes.
//
// in   length, velocity, force (n_outputs); act, rate (na)  from actuation
// in   ctrl (nu)
// out  slope (n_outputs)  all are written
FS_HD void actuator_slopes(const auto& w, const auto& length, const auto& velocity, const auto& force, const auto& act,
                           const auto& rate, const auto& ctrl, auto slope) {
  using T = ScalarOf<decltype(length)>;
  const T zero(0.0);
  for (int k = 0; k < w.n_outputs; k++) slope[k] = zero;
  for (const auto& a : w.actuator) {
    if (a.disabled) continue;
    const int o = a.output;
    T s(0.0);
    if (a.bias == Bias::Affine || a.bias == Bias::So3) s = -T(a.biases[2]);
    if (a.gain == Gain::DcMotor) s = s + dc_motor_slope(a, T(w.timestep));
    if (a.gain == Gain::Affine || a.gain == Gain::Muscle) {
      const int last = a.act + a.acts - 1;
      T u(0.0);
      if (a.activation == Activation::None) u = ctrl[a.control];
      else u = a.act_early ? next_activation(w, a, last, velocity, act, T(rate[last])) : T(act[last]);
      s = s - u * (a.gain == Gain::Affine ? T(a.gains[2]) : muscle_gain_slope(a, T(length[o]), T(velocity[o])));
    }
    if (a.force_limited && a.gain == Gain::So3) {
      const Vec3<T> f{force[o], force[o + 1], force[o + 2]};
      s = select(T(a.force_upper) * T(a.force_upper) <= dot(f, f), zero, s);
    } else if (a.force_limited) {
      s = select(T(a.force_lower) < force[o] && force[o] < T(a.force_upper), s, zero);
    }
    for (int k = 0; k < a.outputs; k++) slope[o + k] = s;
  }
}

}  // namespace featherstorm
