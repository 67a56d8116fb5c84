// One step of the classical Runge-Kutta method of order four on the manifold of configurations (Munthe-Kaas 1998).
//
// Configurations are q (+) u with u in the tangent space at the beginning of the step, which is a vector space:
//   k_i = (tangent_rate(u_i, v_i), qdd(q (+) u_i, v_i)),   (u_i, v_i) = (0, v) + dt a_i k_(i-1),   a = 0, 1/2, 1/2, 1
//   q_next = q (+) dt (k_1 + 2 k_2 + 2 k_3 + k_4) / 6,     v_next = v + the same of the accelerations
// Averaging velocities instead of tangent rates would be of order two wherever there is a rotation in space.
#pragma once
#include "core/dynamics/forward_dynamics.h"
#include "core/kinematics/integrate.h"
#include "core/step/joint_forces.h"

namespace featherstorm {

// The rate of u when q (+) u moves with velocity v: v itself where coordinates are plain numbers; for a rotation vector
// u and an angular velocity w in the body's axes, up to terms of order |u|^4,
//   w + u × w / 2 + u × (u × w) / 12        (the inverse of the exponential map's derivative)
// With `terms` = 2 it includes the next term of the series, -(u ×)^4 w / 720, for errors of order |u|^6.
// User-defined joints are assumed to have plain coordinates; otherwise the order falls to two.
template <int terms = 1>
FS_HD void tangent_rate(const auto& m, const auto& u, const auto& v, auto rate) {
  using T = ScalarOf<decltype(u)>;
  for (int k = 0; k < m.nv; k++) rate[k] = v[k];
  for (int i = 1; i <= m.nb; i++) {
    const int rotation = joint_traits(m.body[i].type).rotation;
    if (rotation < 0) continue;
    const int first = m.body[i].v + rotation;
    const Vec3<T> w = vector_at<T>(v, first), x = vector_at<T>(u, first), xw = cross(x, w);
    T c(1.0 / 12);
    if constexpr (terms == 2) c = c + dot(x, x) * T(1.0 / 720);  // (x ×)^4 w = -|x|^2 (x ×)^2 w
    const Vec3<T> r = w + xw * T(0.5) + cross(x, xw) * c;
    for (int k = 0; k < 3; k++) rate[first + k] = r(k);
  }
}

// Stage i of 0 to 3: when it is evaluated, in steps, and its weight in the mean of the rates.
FS_HD double rk4_time(int i) { return i == 0 ? 0 : i == 3 ? 1 : 0.5; }
FS_HD double rk4_weight(int i) { return i == 0 || i == 3 ? 1.0 / 6 : 1.0 / 3; }

// in   forward_dynamics(t, q, v, tau, qdd)  t [s] from the beginning of the step
template <class S>
FS_HD void rk4_step_by(const auto& forward_dynamics, const auto& m, const auto& q, const auto& v, const auto& drive,
                       const StepParameters<S>& s, auto q_next, auto v_next) {
  using T = ScalarOf<decltype(q)>;
  const T dt(s.dt), one(1.0);
  auto qi = scratch<T>(m.nq);
  auto vi = scratch<T>(m.nv);
  auto u = scratch<T>(m.nv);
  auto rate = scratch<T>(m.nv);
  auto qdd = scratch<T>(m.nv);
  auto tau = scratch<T>(m.nv);
  auto D = scratch<T>(m.nv);
  auto sum_u = scratch<T>(m.nv);
  auto sum_v = scratch<T>(m.nv);
  for (int k = 0; k < m.nv; k++) sum_u[k] = sum_v[k] = rate[k] = qdd[k] = T(0.0);
  for (int i = 0; i < 4; i++) {
    const double a = rk4_time(i), weight = rk4_weight(i);
    for (int k = 0; k < m.nv; k++) u[k] = rate[k] * (dt * T(a)), vi[k] = v[k] + qdd[k] * (dt * T(a));
    integrate(m, q, u.data(), one, qi.data());
    // H qdd = tau - D v - C
    joint_forces(m, qi.data(), vi.data(), drive, s, tau.data(), D.data());
    for (int k = 0; k < m.nv; k++) tau[k] = tau[k] - D[k] * vi[k];
    forward_dynamics(dt * T(a), qi.data(), vi.data(), tau.data(), qdd.data());
    tangent_rate(m, u.data(), vi.data(), rate.data());
    for (int k = 0; k < m.nv; k++) {
      sum_u[k] = sum_u[k] + rate[k] * T(weight);
      sum_v[k] = sum_v[k] + qdd[k] * T(weight);
    }
  }
  for (int k = 0; k < m.nv; k++) v_next[k] = v[k] + dt * sum_v[k];
  integrate(m, q, sum_u.data(), dt, q_next);
}

// in   q (nq), v (nv), drive, f_ext, s  as in step.h; drives and forces are held during the step
// out  q_next (nq), v_next (nv)  may be q, v
// Cost four times fd_crba. Explicit: dampers need dt < 2.8 / (D / H).
template <class S>
FS_HD void rk4_step(const auto& m, const auto& q, const auto& v, const auto& drive, const auto& f_ext,
                    const StepParameters<S>& s, auto q_next, auto v_next) {
  const auto forward = [&](const auto&, auto qi, auto vi, auto tau, auto qdd) { fd_crba(m, qi, vi, tau, f_ext, qdd); };
  rk4_step_by(forward, m, q, v, drive, s, q_next, v_next);
}

// The map of rk4_step by articulated bodies, for larger robots; arguments as there.
template <class S>
FS_HD void rk4_step_aba(const auto& m, const auto& q, const auto& v, const auto& drive, const auto& f_ext,
                        const StepParameters<S>& s, auto q_next, auto v_next) {
  const auto forward = [&](const auto&, auto qi, auto vi, auto tau, auto qdd) {
    articulated_bodies(m, qi, vi, tau, f_ext, qdd);
  };
  rk4_step_by(forward, m, q, v, drive, s, q_next, v_next);
}

// rk4_step for robots with time-dependent joints (joint/timed.h), from time t [s] on; arguments as there.
template <class S>
FS_HD void rk4_step_timed(const auto& m, const auto& q, const auto& v, const auto& t, const auto& drive,
                          const auto& f_ext, const StepParameters<S>& s, auto q_next, auto v_next) {
  const auto forward = [&](const auto& passed, auto qi, auto vi, auto tau, auto qdd) {
    const auto now = t + passed;
    fd_crba(m, at_time(qi, now), drifting(m, qi, vi, now), tau, f_ext, qdd);
  };
  rk4_step_by(forward, m, q, v, drive, s, q_next, v_next);
}

}  // namespace featherstorm
