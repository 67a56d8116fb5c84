// Slopes of smooth forces with respect to velocity, for implicit steps: D = -d qfrc_smooth / dv in (M + h D) a = ...
//
//   Euler           dampers of coordinates, or nothing; diagonal
//   ImplicitFast    dampers, tendons, actuators, and the symmetric part of the medium's slopes; symmetric
//   Implicit        the same with the medium's full slopes, and the bias C
//
// A free body without children is treated as by Implicit in both methods. For tendons and actuators, only entries that
// exist in M are kept; all other forces have no further entries. MuJoCo's documentation, chapter Computation,
// "Numerical integration".
#pragma once
#include "core/actuation/actuator_slopes.h"
#include "core/derivatives/rnea_derivatives.h"
#include "core/linear/tree_lu.h"
#include "core/mujoco/smooth.h"
#include "core/passive/fluid_slopes.h"

namespace featherstorm {

// Returns true if a body floats freely and no joint attaches another body to it.
FS_HD bool stands_alone(const auto& m, int i) {
  if (m.body[i].shape != JointShape::Free || m.body[i].parent != 0) return false;
  for (int k = i + 1; k <= m.nb; k++)
    if (m.body[k].parent == i) return false;
  return true;
}

// Returns true if the slopes of all that moves with body i are used in full, not symmetrised.
FS_HD bool takes_whole_slopes(const auto& m, const auto& w, int i) {
  return w.integrator == Integrator::Implicit || (w.integrator == Integrator::ImplicitFast && stands_alone(m, i));
}

// Returns true if D is symmetric.
FS_HD bool has_symmetric_slopes(const auto& m, const auto& w) {
  for (int i = 1; i <= m.nb; i++)
    if (takes_whole_slopes(m, w, i)) return false;
  return true;
}

// Clears the slopes of actuators whose joint or tendon is at its effort limit.
//
// in      force (n_outputs), tau (nv)  of actuators, within their limits
// in-out  slope (n_outputs)
FS_HD void clear_saturated_slopes(const auto& m, const auto& w, const auto& force, const auto& tau, auto slope) {
  using T = ScalarOf<decltype(slope)>;
  const T zero(0.0), close(1.0 + 1e-12);  // a tendon's forces are scaled, and their sum is rounded
  for (const auto& a : w.actuator) {
    const int o = a.output, v = m.body[a.body].v;
    const bool at_joint = a.transmission == Transmission::Joint || a.transmission == Transmission::JointInParent;
    if (at_joint && w.effort_limited[v]) {
      const T f = tau[v];
      slope[o] = select(T(w.effort_lower[v]) < f && f < T(w.effort_upper[v]), T(slope[o]), zero);
    } else if (a.transmission == Transmission::Tendon && w.tendon[a.tendon].force_limited) {
      const auto& tendon = w.tendon[a.tendon];
      T sum(0.0);
      for (const auto& other : w.actuator)
        if (other.transmission == Transmission::Tendon && other.tendon == a.tendon) sum = sum + force[other.output];
      sum = sum * close;
      slope[o] = select(T(tendon.force_lower) < sum && sum < T(tendon.force_upper), T(slope[o]), zero);
    }
  }
}

// Calls add(row, column, slope) for the medium's entries that exist in M, both halves.
//
// in   v (nv), s  from smooth_forces
// in   whole, drag_alone  as in add_fluid_slopes
template <class T>
FS_HD void for_each_fluid_slope(const auto& m, const auto& w, const auto& v, const Smooth<T>& s, const auto& whole,
                                bool drag_alone, const auto& add) {
  auto V = scratch<Motion<T>>(m.nb + 1);
  auto B = scratch<Resistance<T>>(m.nb + 1);
  auto X = scratch<Placement<T>>(m.nb + 1);
  auto S = scratch<Motion<T>>(m.nv);
  body_velocities(m, s.x, v, V);
  for (int i = 0; i <= m.nb; i++) B[i] = no_resistance<T>();
  add_fluid_slopes<T>(m, w, s.X, V, whole, B, drag_alone);
  world_axes(m, s.x, X, S);
  for (int i = 1; i <= m.nb; i++) B[i] = apply_transpose(X[i], B[i]);
  for (int i = m.nb; i >= 1; i--) {
    // -S_l^T B S_k and -S_k^T B S_l, with B the sum over joint i's body and its descendants; k of joint i, l up to k
    const int first = m.body[i].v;
    for (int k = first; k < first + freedoms(m, i); k++) {
      const Force<T> column = B[i] * S[k], row = transpose_times(B[i], S[k]);
      for (int l = k; l >= 0; l = m.dof_parent[l]) {
        add(l, k, T(-dot(S[l], column)));
        if (l != k) add(k, l, T(-dot(S[l], row)));
      }
    }
    if (m.body[i].parent > 0) B[m.body[i].parent] += B[i];
  }
}

// Adds the slopes of the medium and of the bias.
template <class T>
FS_HD void add_body_slopes(const auto& m, const auto& w, const auto& q, const auto& v, const Smooth<T>& s, auto lower,
                           auto upper) {
  auto whole = scratch<int>(m.nb + 1);
  bool any = false;
  for (int i = 0; i <= m.nb; i++) whole[i] = i > 0 && takes_whole_slopes(m, w, i), any = any || whole[i] != 0;
  const auto add = [&](int row, int column, const T& slope) {
    if (column <= row) lower[m.at(row, column)] = lower[m.at(row, column)] + slope;
    else if (any) upper[m.at(column, row)] = upper[m.at(column, row)] + slope;
  };
  if (w.has_medium) for_each_fluid_slope(m, w, v, s, whole, false, add);
  if (!any) return;
  auto by_q = scratch<T>(m.nv * m.nv);
  auto by_v = scratch<T>(m.nv * m.nv);
  rnea_derivatives(m, q, v, Zeros<T>{}, Zeros<T>{}, by_q.data(), by_v.data());
  for (int k = 0; k < m.nv; k++) {
    if (whole[m.dof_body[k]] == 0) continue;
    for (int l = k; l >= 0; l = m.dof_parent[l]) {
      add(l, k, by_v[l * m.nv + k]);
      if (l != k) add(k, l, by_v[k * m.nv + l]);
    }
  }
}

// Adds the slopes of dampers, tendons and actuators.
//
// in      v (nv), act (na), ctrl (nu), s  from smooth_forces
// in      both  true if upper is given
// in-out  lower, upper (nh)  added to
template <class T>
FS_HD void add_force_slopes(const auto& m, const auto& w, const auto& v, const auto& act, const auto& ctrl,
                            const Smooth<T>& s, bool both, auto lower, auto upper) {
  auto slope = scratch<T>(m.nv);
  damper_slopes(m, w, v, slope.data());
  for (int k = 0; k < m.nv; k++) lower[m.at(k, k)] = lower[m.at(k, k)] + slope[k];
  const auto add = [&](const auto& J, int rows, const auto& slopes) {
    for (int r = 0; r < rows; r++)
      for (int i = 0; i < m.nv; i++)
        for (int j = i; j >= 0; j = m.dof_parent[j]) {
          const T part = slopes[r] * J[r * m.nv + i] * J[r * m.nv + j];
          lower[m.at(i, j)] = lower[m.at(i, j)] + part;
          if (both && j != i) upper[m.at(i, j)] = upper[m.at(i, j)] + part;
        }
  };
  auto slopes = scratch<T>(w.n_outputs);
  actuator_slopes(w, s.actuator_length, s.actuator_velocity, s.actuator_force, act, s.act_dot, ctrl, slopes.data());
  clear_saturated_slopes(m, w, s.actuator_force, s.qfrc_actuator, slopes.data());
  add(s.ten_J, w.n_tendons(), s.ten_slope);
  add(s.moment, w.n_outputs, slopes);
}

// Computes all slopes.
//
// in      q (nq), v (nv), act (na), ctrl (nu), s  from smooth_forces
// in-out  lower, upper (nh)  D packed as in tree_lu.h, added to; if D is symmetric upper is unchanged
template <class T>
FS_HD void velocity_slopes(const auto& m, const auto& w, const auto& q, const auto& v, const auto& act,
                           const auto& ctrl, const Smooth<T>& s, auto lower, auto upper) {
  if (w.integrator == Integrator::Euler) {
    if (!w.implicit_damping) return;
    auto slope = scratch<T>(m.nv);
    damper_slopes(m, w, v, slope.data());
    for (int k = 0; k < m.nv; k++) lower[m.at(k, k)] = lower[m.at(k, k)] + slope[k];
    return;
  }
  add_force_slopes(m, w, v, act, ctrl, s, !has_symmetric_slopes(m, w), lower, upper);
  add_body_slopes(m, w, q, v, s, lower, upper);
}

// x = (M + h D)^-1 x
//
// in  mass, lower, upper (nh)  M, and D from velocity_slopes
FS_HD void solve_with_slopes(const auto& m, const auto& w, const auto& mass, const auto& lower, const auto& upper,
                             const auto& h, auto x) {
  using T = ScalarOf<decltype(x)>;
  auto H = scratch<T>(m.nh);
  for (int k = 0; k < m.nh; k++) H[k] = mass[k] + h * lower[k];
  if (has_symmetric_slopes(m, w)) {
    ltdl(m, H.data());
    return solve<Factor::LTDL>(m, H.data(), x);
  }
  auto U = scratch<T>(m.nh);
  for (int k = 0; k < m.nh; k++) U[k] = mass[k] + h * upper[k];
  tree_lu(m, H.data(), U.data());
  solve_tree_lu(m, H, U, x);
}

}  // namespace featherstorm
