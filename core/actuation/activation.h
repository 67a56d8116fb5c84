// Activations of actuators: the rate of act as a function of the controls, and act after a step.
//
//   None                  no act
//   Integrator            act' = u
//   Filter, FilterExact   act' = (u - act) / tau; FilterExact is integrated exactly for a constant u
//   Muscle, DcMotor       muscle.h, dc_motor.h
//   Pid                   a rate-limited setpoint, and the integral of the position error
//
// If a control is NaN or beyond 1e10, MuJoCo sets all controls to zero and warns. Here such controls are used as given.
#pragma once
#include "core/actuation/dc_motor.h"
#include "core/spatial/quaternion.h"

namespace featherstorm {

// Clamps controls.
//
// in   ctrl (nu)
// out  u (nu)  within its ranges
FS_HD void clamp_controls(const auto& w, const auto& ctrl, auto u) {
  using T = ScalarOf<decltype(ctrl)>;
  for (int k = 0; k < w.nu; k++) {
    const auto& c = w.control[k];
    u[k] = c.limited ? max(min(T(ctrl[k]), T(c.upper)), T(c.lower)) : T(ctrl[k]);
  }
}

// Rates of the position setpoint and of the integral of a Pid.
template <class T>
FS_HD void pid_rates(const auto& a, const T& length, const auto& act, const T& dt, auto u, auto rate) {
  if (a.slew >= 0) {
    const T before = act[a.slew], now = slewed_setpoint(a, T(u[a.control]), before, T(a.dynamics[1]), dt);
    rate[a.slew] = (now - before) * rcp(dt);
    u[a.control] = now;
  }
  if (a.integral >= 0) {
    const T error = nearest_setpoint(a, T(u[a.control]), length) - length;
    rate[a.integral] = halted_rate(error, T(act[a.integral]), T(a.dynamics[0]));
  }
}

// Computes the rates of all activations.
//
// in      length, velocity (n_outputs)  of actuators
// in      act (na)
// in-out  u (nu)     clamped controls; rate-limited ones become the setpoints reached in the step
// out     rate (na)  d act / dt; all are written, also for disabled actuators
FS_HD void activation_rates(const auto& w, const auto& length, const auto& velocity, const auto& act, auto u,
                            auto rate) {
  using T = ScalarOf<decltype(act)>;
  const T dt(w.timestep);
  for (int k = 0; k < w.na; k++) rate[k] = T(0.0);
  for (const auto& a : w.actuator) {
    const int last = a.act + a.acts - 1;
    switch (a.activation) {
      case Activation::None: break;
      case Activation::Integrator:
        for (int k = 0; k < a.controls; k++) rate[last - a.controls + 1 + k] = u[a.control + k];
        break;
      case Activation::Filter:
      case Activation::FilterExact:
        rate[last] = over(T(nearest_setpoint(a, T(u[a.control]), T(act[last])) - act[last]), T(a.dynamics[0]));
        break;
      case Activation::Muscle: rate[last] = muscle_rate(a.dynamics, T(u[a.control]), T(act[last])); break;
      case Activation::DcMotor: dc_motor_rates(a, T(length[a.output]), T(velocity[a.output]), act, dt, u, rate); break;
      case Activation::Pid: pid_rates(a, T(length[a.output]), act, dt, u, rate); break;
    }
  }
}

// Returns number k of act after a step, for a constant rate `rate` [mj_nextActivation].
template <class T>
FS_HD T next_activation(const auto& w, const auto& a, int k, const auto& velocity, const auto& act, const T& rate) {
  const T h(w.timestep), x = act[k];
  const auto filtered = [&] {  // exact for act' = (u - act) / tau
    const T tau = max(T(a.dynamics[0]), T(1e-15));
    return x + rate * tau * (T(1.0) - exp(-h * rcp(tau)));
  };
  if (a.activation == Activation::DcMotor) {
    if (k == a.current) return filtered();
    if (k == a.bristle) return next_bristle(a, x, T(velocity[a.output]), h);
    return k == a.integral ? within_given(T(x + rate * h), T(a.dynamics[8])) : x + rate * h;
  }
  const T next = a.activation == Activation::FilterExact ? filtered() : x + rate * h;
  return a.act_limited ? max(min(next, T(a.act_upper)), T(a.act_lower)) : next;
}

// Computes act after a step.
//
// in   length, velocity (n_outputs)  at the beginning of the step
// in   act, rate (na)
// out  next (na)  act after a step; setpoints of angles are shifted next to the length, rotation vectors are at most pi
//      long
FS_HD void next_activations(const auto& w, const auto& length, const auto& velocity, const auto& act, const auto& rate,
                            auto next) {
  using T = ScalarOf<decltype(act)>;
  for (int k = 0; k < w.na; k++) next[k] = act[k];
  for (const auto& a : w.actuator) {
    const int last = a.act + a.acts - 1;
    for (int k = a.act; k <= last; k++)
      next[k] = next_activation(w, a, k, velocity, act, a.disabled ? T(0.0) : T(rate[k]));
    if (a.activation == Activation::Pid || a.acts == 0) continue;
    if (a.gain == Gain::So3 && a.activation == Activation::Integrator) {
      // u (|u| - 2 pi n) / |u|
      const Vec3<T> u{next[a.act], next[a.act + 1], next[a.act + 2]};
      const T pi(3.141592653589793), angle = sqrt(dot(u, u));
      const T turns = T(2.0) * pi * nearest_integer(T(angle * T(0.15915494309189535)));
      const auto far = pi < angle;
      const T scale = select(far, (angle - turns) * rcp(select(far, angle, T(1.0))), T(1.0));
      for (int k = 0; k < 3; k++) next[a.act + k] = u(k) * scale;
    } else {
      next[last] = nearest_setpoint(a, T(next[last]), T(length[a.output]));
    }
  }
}

}  // namespace featherstorm
