// One step of a model file's world without constraints, by the integrator that the file selects.
//
//   Euler           (M + h D) a = qfrc_smooth,  D the slopes of the coordinates' dampers, 0 if implicit damping is off
//   Implicit(Fast)  (M + h D) a = qfrc_smooth,  D the slopes of all smooth forces, or of most (velocity_slopes.h)
//   v_next = v + h a,   q_next = q (+) h v_next,   act_next
//   RungeKutta      the classical method of order four on the tangent space at q (core/step/rk4_step.h)
//
// h is the world's timestep.
#pragma once
#include "core/kinematics/integrate.h"
#include "core/mujoco/velocity_slopes.h"
#include "core/step/rk4_step.h"

namespace featherstorm {

// Method that solves (M + D) a = tau - C: by factorising M, or by articulated bodies.
enum class SolveBy { factor, bodies };

// Computes accelerations. If tendons have inertia, M is factorised in either case.
//
// in   q (nq), v (nv), s  with positions
// in   tau (nv)  [N m | N]
// in   D (nv)  added to the diagonal of M; Zeros<T>{} for none
// out  a (nv)  [rad/s^2 | m/s^2]  may be tau
template <SolveBy by, class D, class T>
FS_HD void accelerations(const auto& m, const auto& w, const auto& q, const auto& v, const Smooth<T>& s,
                         const auto& tau, const D& d, auto a) {
  if (w.has_inert_tendons()) {
    auto H = scratch<T>(m.nh);
    auto b = scratch<T>(m.nv);
    mass_and_bias(m, w, q, v, s, H.data(), b.data());
    for (int k = 0; k < m.nv; k++) b[k] = tau[k] - b[k], H[m.at(k, k)] = H[m.at(k, k)] + d[k];
    ltdl(m, H.data());
    solve<Factor::LTDL>(m, H.data(), b.data());
    for (int k = 0; k < m.nv; k++) a[k] = b[k];
    return;
  }
  if constexpr (by == SolveBy::bodies) {
    auto x = scratch<T>(m.nx);
    auto p = scratch<Force<T>>(m.nb + 1);
    forces_on_bodies(m, q, v, Zeros<T>{}, Zeros<T>{}, x, p);
    solve_articulated_bodies(m, x, d, tau, p, a);
  } else {
    auto H = scratch<T>(m.nh);
    auto b = scratch<T>(m.nv);
    auto diagonal = scratch<T>(m.nv);
    newton_euler(m, q, v, Zeros<T>{}, Zeros<T>{}, b.data());
    for (int k = 0; k < m.nv; k++) b[k] = tau[k] - b[k], diagonal[k] = d[k];
    to_body_axes(m, q, b.data());
    crba<BodyAxes>(m, q, H.data());
    if constexpr (is_given<D>) add_diagonal_in_body_axes(m, q, diagonal.data(), H.data());
    ltdl(m, H.data());
    solve<Factor::LTDL>(m, H.data(), b.data());
    from_body_axes(m, q, b.data());
    for (int k = 0; k < m.nv; k++) a[k] = b[k];
  }
}

// Computes the acceleration without constraints.
//
// in   q (nq), v (nv), act (na), applied
// out  a (nv)  qacc_smooth;  act_dot (na)
template <SolveBy by>
FS_HD void smooth_acceleration(const auto& m, const auto& w, const auto& q, const auto& v, const auto& act,
                               const auto& applied, auto a, auto act_dot) {
  using T = ScalarOf<decltype(q)>;
  Smooth<T> s(m, w);
  auto tau = scratch<T>(m.nv);
  smooth_forces(m, w, q, v, act, applied, s, tau.data());
  accelerations<by>(m, w, q, v, s, tau.data(), Zeros<T>{}, a);
  for (int k = 0; k < w.na; k++) act_dot[k] = s.act_dot[k];
}

// Computes the acceleration of an implicit step.
//
// in   q (nq), v (nv), act (na), ctrl (nu); s, tau (nv)  from smooth_forces
// out  a (nv)  acceleration that the integrator uses
template <SolveBy by, class T>
FS_HD void implicit_acceleration(const auto& m, const auto& w, const auto& q, const auto& v, const auto& act,
                                 const auto& ctrl, const Smooth<T>& s, const auto& tau, auto a) {
  const T h(w.timestep);
  if (w.integrator == Integrator::Euler) {
    if (!w.implicit_damping) return accelerations<by>(m, w, q, v, s, tau, Zeros<T>{}, a);
    auto D = scratch<T>(m.nv);
    damper_slopes(m, w, v, D.data());
    for (int k = 0; k < m.nv; k++) D[k] = h * D[k];
    return accelerations<by>(m, w, q, v, s, tau, D.data(), a);
  }
  auto H = scratch<T>(m.nh);
  auto lower = scratch<T>(m.nh);
  auto upper = scratch<T>(m.nh);
  auto b = scratch<T>(m.nv);
  mass_and_bias(m, w, q, v, s, H.data(), b.data());
  for (int k = 0; k < m.nv; k++) b[k] = tau[k] - b[k];
  for (int k = 0; k < m.nh; k++) lower[k] = upper[k] = T(0.0);
  velocity_slopes(m, w, q, v, act, ctrl, s, lower.data(), upper.data());
  solve_with_slopes(m, w, H, lower, upper, h, b.data());
  for (int k = 0; k < m.nv; k++) a[k] = b[k];
}

// Takes one step of Euler, Implicit or ImplicitFast.
//
// in   q (nq), v (nv), act (na), applied
// out  q_next (nq), v_next (nv), act_next (na)  may be q, v, act
template <SolveBy by>
FS_HD void smooth_step(const auto& m, const auto& w, const auto& q, const auto& v, const auto& act, const auto& applied,
                       auto q_next, auto v_next, auto act_next) {
  using T = ScalarOf<decltype(q)>;
  const T h(w.timestep);
  Smooth<T> s(m, w);
  auto tau = scratch<T>(m.nv);
  smooth_forces(m, w, q, v, act, applied, s, tau.data());
  implicit_acceleration<by>(m, w, q, v, act, applied.ctrl, s, tau.data(), tau.data());
  next_activations(w, s.actuator_length, s.actuator_velocity, act, s.act_dot, act_next);
  for (int k = 0; k < m.nv; k++) v_next[k] = v[k] + h * tau[k];
  integrate(m, q, v_next, h, q_next);
}

// Takes one step of the classical Runge-Kutta method, with the same arguments.
template <SolveBy by>
FS_HD void world_rk4_step(const auto& m, const auto& w, const auto& q, const auto& v, const auto& act,
                          const auto& applied, auto q_next, auto v_next, auto act_next) {
  using T = ScalarOf<decltype(q)>;
  const T h(w.timestep), zero(0.0);
  auto qi = scratch<T>(m.nq);
  auto vi = scratch<T>(m.nv);
  auto ai = scratch<T>(w.na);
  auto a = scratch<T>(m.nv);
  auto rate = scratch<T>(w.na);
  auto u = scratch<T>(m.nv);  // q_i = q (+) u
  auto along = scratch<T>(m.nv);
  auto sum_u = scratch<T>(m.nv);
  auto sum_a = scratch<T>(m.nv);
  auto sum_rate = scratch<T>(w.na);
  auto length = scratch<T>(w.n_outputs);
  auto velocity = scratch<T>(w.n_outputs);
  for (int k = 0; k < m.nq; k++) qi[k] = q[k];
  for (int k = 0; k < m.nv; k++) vi[k] = v[k], sum_u[k] = sum_a[k] = a[k] = u[k] = along[k] = zero;
  for (int k = 0; k < w.na; k++) ai[k] = act[k], sum_rate[k] = rate[k] = zero;
  for (int i = 0; i < 4; i++) {
    const T ahead(rk4_time(i)), weight(rk4_weight(i));
    if (i > 0) {
      // from the beginning of the step, with the rates of the previous stage
      for (int k = 0; k < m.nv; k++) u[k] = h * ahead * along[k], vi[k] = v[k] + h * ahead * a[k];
      integrate(m, q, u.data(), T(1.0), qi.data());
      for (int k = 0; k < w.na; k++) ai[k] = act[k] + h * ahead * rate[k];
    }
    Smooth<T> s(m, w);
    auto tau = scratch<T>(m.nv);
    smooth_forces(m, w, qi.data(), vi.data(), ai.data(), applied, s, tau.data());
    accelerations<by>(m, w, qi.data(), vi.data(), s, tau.data(), Zeros<T>{}, a.data());
    for (int k = 0; k < w.na; k++) rate[k] = s.act_dot[k], sum_rate[k] = sum_rate[k] + weight * rate[k];
    tangent_rate(m, u, vi, along.data());
    for (int k = 0; k < m.nv; k++) sum_u[k] = sum_u[k] + weight * along[k], sum_a[k] = sum_a[k] + weight * a[k];
    for (int k = 0; k < w.n_outputs; k++) length[k] = s.actuator_length[k], velocity[k] = s.actuator_velocity[k];
  }
  next_activations(w, length, velocity, act, sum_rate, act_next);
  for (int k = 0; k < m.nv; k++) v_next[k] = v[k] + h * sum_a[k];
  integrate(m, q, sum_u.data(), h, q_next);
}

}  // namespace featherstorm
