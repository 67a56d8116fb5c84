// Integration with a variable step: the embedded Runge-Kutta pair of Dormand and Prince (1980) of orders 5 and 4 on the
// manifold of configurations. RBDA section 10.2 (truncation errors) asks for such an integrator.
//
// Configurations are q (+) u as in rk4_step.h, u = 0 at the beginning of the step. With the pair's a, b, e:
//   k_i = (tangent_rate(u_i, v_i), qdd(q (+) u_i, v_i)),   (u_i, v_i) = (0, v) + h sum_{j < i} a_ij k_j,   i = 1 .. 7
//   q_next = q (+) u_7,  v_next = v_7   (order 5: a_7j = b_j);    e = h sum e_j k_j  (difference to order 4)
//   error = sqrt(mean (e_k / (absolute + relative x_k))^2),   x = |u_7| for a position, else max(|v|, |v_7|)
// A step with error <= 1 is accepted. The next step is h / max(1/10, min(5, error^0.17 / (0.9 last^0.04))) with `last`
// the error of the last accepted step (Hairer, Norsett, Wanner, section II.4).
//
// One call is one attempt: every instance of a batch has its own step and may be refused by itself, without a branch.
#pragma once
#include "core/step/rk4_step.h"

namespace featherstorm {

// The remaining part of an integration, for each instance.
template <class T> struct StepControl {
  T remaining;  // [s]  0 where the end is reached
  T step;       // [s]  length of the next attempt; 0 for all that remains
  T error;      // of the last accepted step, as a multiple of the allowed error; 1 at the beginning
};
// Tolerances of errors: positions [rad | m], velocities [rad/s | m/s].
template <class T> struct ErrorTolerance { T absolute, relative; };

// Row i < 7: a_ij of stage i + 1; row 7: the weights e of the error, with that of k_7 in the place of k_2, whose own is
// 0.
FS_HD double dormand_prince_weight(int i, int j) {
  constexpr double table[8][6] = {{},
                                  {1.0 / 5},
                                  {3.0 / 40, 9.0 / 40},
                                  {44.0 / 45, -56.0 / 15, 32.0 / 9},
                                  {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
                                  {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
                                  {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
                                  {71.0 / 57600, -1.0 / 40, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525}};
  return table[i][j];
}
// Time of stage i + 1, as a fraction of the step.
FS_HD double dormand_prince_time(int i) {
  constexpr double c[7] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
  return c[i];
}

// One step of length h, whatever its error.
// in   forward_dynamics(t, q, v, tau, qdd)  t [s] from the beginning of the step
// in   q (nq), v (nv), drive, s  as in step.h; s.dt is not read
// in   h [s], tolerance
// out  q_next (nq), v_next (nv)  may not be q, v
// Returns the error. Cost seven times that of forward_dynamics.
template <class T, class S>
FS_HD T dormand_prince_step_by(const auto& forward_dynamics, const auto& m, const auto& q, const auto& v,
                               const auto& drive, const StepParameters<S>& s, const T& h,
                               const ErrorTolerance<T>& tolerance, auto q_next, auto v_next) {
  auto u = scratch<T>(m.nv);
  auto tau = scratch<T>(m.nv);
  auto D = scratch<T>(m.nv);
  auto rate = scratch<T>(sixfold(m.nv));
  auto qdd = scratch<T>(sixfold(m.nv));
  // h sum of the first `stages` k, component c
  const auto sum = [&](int row, int stages, const auto& k, int c) {
    T x(0.0);
    for (int j = 0; j < stages; j++) x = x + k[j * m.nv + c] * T(dormand_prince_weight(row, j));
    return x * h;
  };
  for (int i = 0; i < 7; i++) {
    const int at = (i < 6 ? i : 1) * m.nv, stages = i < 6 ? i : 6;
    for (int c = 0; c < m.nv; c++) u[c] = sum(i, stages, rate, c), v_next[c] = v[c] + sum(i, stages, qdd, c);
    integrate(m, q, u.data(), T(1.0), q_next);
    joint_forces(m, q_next, v_next, drive, s, tau.data(), D.data());
    // H qdd = tau - D v - C
    for (int c = 0; c < m.nv; c++) tau[c] = tau[c] - D[c] * v_next[c];
    forward_dynamics(h * T(dormand_prince_time(i)), q_next, v_next, tau.data(), qdd.data() + at);
    tangent_rate<2>(m, u.data(), v_next, rate.data() + at);
  }
  T squares(0.0);
  for (int c = 0; c < m.nv; c++) {
    const T by_u = tolerance.absolute + tolerance.relative * abs(u[c]);
    const T by_v = tolerance.absolute + tolerance.relative * max(abs(T(v[c])), abs(T(v_next[c])));
    const T eu = sum(7, 6, rate, c) * rcp(by_u), ev = sum(7, 6, qdd, c) * rcp(by_v);
    squares = squares + eu * eu + ev * ev;
  }
  return sqrt(squares * T(m.nv == 0 ? 0.0 : 0.5 / m.nv));
}

// One attempt at a step.
// in      arguments as above
// in out  control  of the instance
// out     q_next (nq), v_next (nv)  q, v where the attempt was refused or nothing remains; may be q, v
template <class T, class S>
FS_HD void dormand_prince_by(const auto& forward_dynamics, const auto& m, const auto& q, const auto& v,
                             const auto& drive, const StepParameters<S>& s, const ErrorTolerance<T>& tolerance,
                             StepControl<T>& control, auto q_next, auto v_next) {
  auto qi = scratch<T>(m.nq);
  auto vi = scratch<T>(m.nv);
  const T zero(0.0), one(1.0), remaining = max(control.remaining, zero), last = control.error;
  const T wanted = select(zero < control.step, control.step, remaining), h = min(wanted, remaining);
  T error = dormand_prince_step_by(forward_dynamics, m, q, v, drive, s, h, tolerance, qi.data(), vi.data());
  // an error that is NaN is refused like one that is far too large
  error = select(error < T(1e10), error, T(1e10));
  const auto accepted = error <= one;
  for (int k = 0; k < m.nq; k++) q_next[k] = select(accepted, qi[k], T(q[k]));
  for (int k = 0; k < m.nv; k++) v_next[k] = select(accepted, vi[k], T(v[k]));
  // h / max(1/10, min(5, error^0.17 / (0.9 last^0.04))); after a refusal without `last`, and not longer than h
  const T power = log(max(error, T(1e-10))) * T(0.17), memory = log(max(last, T(1e-4))) * T(-0.04);
  const T shrink = exp(power + select(accepted, memory, zero)) * T(1 / 0.9);
  T next = h * rcp(max(T(0.1), min(T(5.0), shrink)));
  // a step shortened by the end does not shorten later steps
  next = select(accepted, select(h < wanted, max(next, wanted), next), min(next, h));
  control.step = select(zero < remaining, next, control.step);
  control.error = select(accepted, select(zero < remaining, max(error, T(1e-4)), last), last);
  control.remaining = select(accepted, select(wanted < remaining, remaining - h, zero), remaining);
}

// in      q (nq), v (nv), drive, f_ext, s  as in step.h, held during the step; s.dt is not read
// in      tolerance  absolute [rad | m and rad/s | m/s] > 0, relative
// in out  control    {duration, 0, 1} at the beginning; called again until nothing remains
// out     q_next (nq), v_next (nv)  may be q, v
// Cost seven times articulated_bodies.
template <class T, class S>
FS_HD void dormand_prince(const auto& m, const auto& q, const auto& v, const auto& drive, const auto& f_ext,
                          const StepParameters<S>& s, const ErrorTolerance<T>& tolerance, StepControl<T>& control,
                          auto q_next, auto v_next) {
  const auto forward = [&](const T&, auto qi, auto vi, auto tau, auto qdd) {
    articulated_bodies(m, qi, vi, tau, f_ext, qdd);
  };
  dormand_prince_by(forward, m, q, v, drive, s, tolerance, control, q_next, v_next);
}

// dormand_prince for robots with time-dependent joints (joint/timed.h), starting at time t [s], which advances with it.
template <class T, class S>
FS_HD void dormand_prince_timed(const auto& m, const auto& q, const auto& v, T& t, const auto& drive, const auto& f_ext,
                                const StepParameters<S>& s, const ErrorTolerance<T>& tolerance, StepControl<T>& control,
                                auto q_next, auto v_next) {
  const auto forward = [&](const T& passed, auto qi, auto vi, auto tau, auto qdd) {
    const T now = t + passed;
    fd_crba(m, at_time(qi, now), drifting(m, qi, vi, now), tau, f_ext, qdd);
  };
  const T before = control.remaining;
  dormand_prince_by(forward, m, q, v, drive, s, tolerance, control, q_next, v_next);
  t = t + (before - control.remaining);
}

// The driver for one instance: integrates over `duration` in at most `attempts` attempts.
// in out  q (nq), v (nv)
// Returns the control. Its `remaining` is 0 where the end was reached; its `step` is a first step for the next
// integration.
StepControl<double> integrate_adaptively(const auto& m, auto q, auto v, const auto& drive, const auto& f_ext,
                                         const StepParameters<double>& s, const ErrorTolerance<double>& tolerance,
                                         double duration, int attempts, double first_step = 0) {
  StepControl<double> control{duration, first_step, 1};
  for (int k = 0; k < attempts && control.remaining > 0; k++)
    dormand_prince(m, q, v, drive, f_ext, s, tolerance, control, q, v);
  return control;
}

}  // namespace featherstorm
