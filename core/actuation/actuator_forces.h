// Forces of actuators, and the resulting forces at the joints.
//
//   force = gain(length, velocity) (u or act) + bias(length, velocity)
//   tau = moment^T force + gravity compensation that counts as actuator force, within the joints' effort limits
#pragma once
#include "core/actuation/activation.h"
#include "core/scalar/scratch.h"

namespace featherstorm {

// kp log(R^-1 R_target) + constant + kv velocity, the three outputs of an orientation servo in the moving frame's axes
template <class T>
FS_HD void so3_forces(const auto& w, const auto& a, const auto& length, const auto& velocity, const auto& act,
                      const auto& rate, const auto& u, auto force) {
  Quaternion<T> target;
  if (a.inputs == chart_quaternion) {
    const T p[4] = {u[a.control], u[a.control + 1], u[a.control + 2], u[a.control + 3]};
    const T n = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
    const auto none = n < T(1e-15);
    const T s = rcp(select(none, T(1.0), n));
    target = {select(none, T(1.0), p[0] * s), p[1] * s, p[2] * s, p[3] * s};
  } else {
    Vec3<T> r;
    for (int k = 0; k < 3; k++) {
      if (a.activation == Activation::None) r(k) = u[a.control + k];
      else if (a.act_early) r(k) = next_activation(w, a, a.act + k, velocity, act, T(rate[a.act + k]));
      else r(k) = act[a.act + k];
    }
    target = quaternion_exp(r);
  }
  const int o = a.output;
  const Quaternion<T> now = quaternion_exp(Vec3<T>{length[o], length[o + 1], length[o + 2]});
  const Vec3<T> error = quaternion_log(conjugated(now) * target);
  for (int k = 0; k < 3; k++)
    force[o + k] = T(a.gains[0]) * error(k) + T(a.biases[0]) + T(a.biases[2]) * velocity[o + k];
}

// Force of an actuator with one output, before limits.
template <class T>
FS_HD T actuator_force(const auto& w, const auto& a, const auto& length, const auto& velocity, const auto& act,
                       const auto& rate, const auto& u) {
  const T l = length[a.output], v = velocity[a.output];
  const int last = a.act + a.acts - 1;
  const auto activation = [&] {
    return a.act_early ? next_activation(w, a, last, velocity, act, T(rate[last])) : T(act[last]);
  };
  T gain(0.0), force(0.0);
  switch (a.gain) {
    case Gain::Fixed: gain = T(a.gains[0]); break;
    case Gain::Affine: gain = T(a.gains[0]) + T(a.gains[1]) * l + T(a.gains[2]) * v; break;
    case Gain::Muscle: gain = muscle_gain(a, l, v); break;
    case Gain::DcMotor: gain = dc_motor_gain<T>(a, act); break;
    case Gain::So3:
    case Gain::Pid: break;
  }
  if (a.gain == Gain::Pid) {
    // kp p + kv v + ff + ki x; the remaining terms are an affine bias
    const Setpoints<T> s = setpoints_of<T>(a, u);
    force = s.feedforward - T(a.biases[1]) * nearest_setpoint(a, s.position, l) - T(a.biases[2]) * s.velocity;
    if (a.integral >= 0) force = force + T(a.gains[0]) * activation();
  } else if (a.gain == Gain::DcMotor && a.current < 0) {
    force = gain * terminal_voltage(a, u, l, v, act);
  } else if (a.acts == 0) {
    force = gain * nearest_setpoint(a, T(u[a.control]), l);
  } else {
    force = gain * nearest_setpoint(a, T(activation()), l);
  }
  switch (a.bias) {
    case Bias::None:
    case Bias::So3: break;
    case Bias::Affine: force = force + T(a.biases[0]) + T(a.biases[1]) * l + T(a.biases[2]) * v; break;
    case Bias::Muscle: force = force + muscle_bias(a, l); break;
    case Bias::DcMotor:  // back-EMF; with a current in act, its rate includes the back-EMF
      if (a.current < 0) force = force - gain * T(a.gains[1]) * v;
      break;
  }
  return force;
}

// Scales the actuator forces of a tendon whose sum exceeds the tendon's limits.
template <class T> FS_HD void limit_tendon_forces(const auto& w, auto force) {
  for (int t = 0; t < w.n_tendons(); t++) {
    const auto& tendon = w.tendon[t];
    if (!tendon.force_limited) continue;
    const auto pulls = [&](const auto& a) { return a.transmission == Transmission::Tendon && a.tendon == t; };
    T sum(0.0);
    for (const auto& a : w.actuator)
      if (pulls(a)) sum = sum + force[a.output];
    const T lower(tendon.force_lower), upper(tendon.force_upper), zero(0.0), one(1.0);
    const auto given = zero < abs(sum);
    const T inverse = rcp(select(given, sum, one));
    const T scale = select(given, select(sum < lower, lower * inverse, select(upper < sum, upper * inverse, one)), one);
    for (const auto& a : w.actuator)
      if (pulls(a)) force[a.output] = force[a.output] * scale;
  }
}

// Clamps a force to its range: each output, or the norm of the three outputs of an orientation servo.
template <class T> FS_HD void limit_force(const auto& a, auto force) {
  if (!a.force_limited) return;
  const T lower(a.force_lower), upper(a.force_upper), one(1.0);
  if (a.gain == Gain::So3) {
    const Vec3<T> f{force[a.output], force[a.output + 1], force[a.output + 2]};
    const T n = sqrt(dot(f, f));
    const auto beyond = upper < n;
    const T scale = select(beyond, upper * rcp(select(beyond, n, one)), one);
    for (int k = 0; k < 3; k++) force[a.output + k] = f(k) * scale;
  } else {
    for (int k = a.output; k < a.output + a.outputs; k++) force[k] = max(min(T(force[k]), upper), lower);
  }
}

// Computes all forces, within their limits.
//
// in   length, velocity (n_outputs), act (na)
// in   rate (na), u (nu)  from activation_rates
// out  force (n_outputs)  [N, N m, or scaled by gear]; all are written
FS_HD void actuator_forces(const auto& w, const auto& length, const auto& velocity, const auto& act, const auto& rate,
                           const auto& u, auto force) {
  using T = ScalarOf<decltype(length)>;
  for (int k = 0; k < w.n_outputs; k++) force[k] = T(0.0);
  for (const auto& a : w.actuator) {
    if (a.disabled) continue;
    if (a.gain == Gain::So3) so3_forces<T>(w, a, length, velocity, act, rate, u, force);
    else force[a.output] = actuator_force<T>(w, a, length, velocity, act, rate, u);
  }
  limit_tendon_forces<T>(w, force);
  for (const auto& a : w.actuator) limit_force<T>(a, force);
  for (const auto& a : w.actuator)
    if (a.bias == Bias::DcMotor && !a.disabled)
      force[a.output] = force[a.output] + dc_motor_losses(a, T(length[a.output]), act, rate);
}

// Computes forces from controls: MuJoCo's mj_fwdActuation without its last step.
// in   length, velocity (n_outputs)  from transmissions
// in   ctrl (nu), act (na)
// out  rate (na)  d act / dt
// out  force (n_outputs)
FS_HD void actuation(const auto& w, const auto& length, const auto& velocity, const auto& ctrl, const auto& act,
                     auto rate, auto force) {
  using T = ScalarOf<decltype(length)>;
  auto u = scratch<T>(w.nu);
  clamp_controls(w, ctrl, u.data());
  activation_rates(w, length, velocity, act, u.data(), rate);
  actuator_forces(w, length, velocity, act, rate, u, force);
}

// Computes the actuator forces at the joints.
//
// in   moment (n_outputs nv)  from transmissions
// in   force (n_outputs)
// in   gravity (nv)  forces of gravity compensation, read for coordinates in w.compensated; Zeros<T>{} for none
// out  tau (nv)  [N m | N]  all are written; 0 without actuators, as in MuJoCo
// Cost O(n_outputs nv).
FS_HD void actuator_joint_forces(const auto& m, const auto& w, const auto& moment, const auto& force,
                                 const auto& gravity, auto tau) {
  using T = ScalarOf<decltype(tau)>;
  for (int k = 0; k < m.nv; k++) tau[k] = T(0.0);
  if (w.actuator.empty()) return;
  for (int i = 0; i < w.n_outputs; i++)
    for (int k = 0; k < m.nv; k++) tau[k] = tau[k] + moment[i * m.nv + k] * force[i];
  for (int k = 0; k < m.nv; k++) {
    if (w.compensated[k]) tau[k] = tau[k] + gravity[k];
    if (w.effort_limited[k]) tau[k] = max(min(T(tau[k]), T(w.effort_upper[k])), T(w.effort_lower[k]));
  }
}

}  // namespace featherstorm
