// Step whose springs, dampers and constraints act at its end [integrator discrete]:
//
//   a = M^^-1 (b^ + J^T f),   v_next = v + h a
//   M^ = M + h D + h^2 K,   b^ = b - h K v
//   K  slopes of springs of joints and tendons, and of actuators with respect to length; not below 0
//   D  slopes of dampers, of actuators with respect to velocity, and of the medium's drag; not below 0
//
// A free body without children rotates with its gyroscopic terms too, if no row, and no tendon or actuator with a
// slope, acts on it: (M^ + h dC/dv) a = b^ for this body alone. MuJoCo's documentation, chapter Computation, "Numerical
// integration".
#pragma once
#include "core/actuation/discrete_slopes.h"
#include "core/mujoco/velocity_slopes.h"

namespace featherstorm {

// Slopes with respect to the lengths of tendons and actuators, and to their rates.
template <class T> struct LengthSlopes {
  LengthSlopes(const auto& w) : tendon_K(w.n_tendons()), tendon_D(w.n_tendons()), K(w.n_outputs), D(w.n_outputs) {}
  Scratch<T> tendon_K, tendon_D, K, D;
};
template <class T>
FS_HD void length_slopes(const auto& m, const auto& w, const auto& act, const auto& ctrl, const Smooth<T>& s,
                         LengthSlopes<T>& slopes) {
  const T zero(0.0);
  for (int t = 0; t < w.n_tendons(); t++) {
    const auto& tendon = w.tendon[t];
    slopes.tendon_K[t] = slopes.tendon_D[t] = zero;
    if (tendon.elastic) {
      const T x = tendon_stretch<T>(tendon, s.ten_length[t]);
      slopes.tendon_K[t] = select(zero < abs(x), max(T(slope_of(tendon.stiffness, x)), zero), zero);
    }
    if (tendon.damped) slopes.tendon_D[t] = max(T(s.ten_slope[t]), zero);
  }
  auto u = scratch<T>(w.nu);
  clamp_controls(w, ctrl, u.data());
  auto rate = scratch<T>(w.na);
  activation_rates(w, s.actuator_length, s.actuator_velocity, act, u.data(), rate.data());
  discrete_slopes(w, s.actuator_length, s.actuator_velocity, s.actuator_force, act, rate, u.data(), slopes.K.data(),
                  slopes.D.data());
  clear_saturated_slopes(m, w, s.actuator_force, s.qfrc_actuator, slopes.K.data());
  clear_saturated_slopes(m, w, s.actuator_force, s.qfrc_actuator, slopes.D.data());
}

// Computes M^ and b^.
//
// in      q (nq), v (nv), s  from smooth_forces; slopes
// in-out  mass (nh), b (nv)  M and b; M^ and b^
// out     diagonal (nh)  M^, with only the diagonals of terms along lengths
template <class T>
FS_HD void to_end_of_step(const auto& m, const auto& w, const auto& q, const auto& v, const Smooth<T>& s,
                          const LengthSlopes<T>& slopes, auto mass, auto b, auto diagonal) {
  const T zero(0.0), h(w.timestep);
  auto K = scratch<T>(m.nh), D = scratch<T>(m.nh);
  for (int k = 0; k < m.nh; k++) K[k] = D[k] = zero;
  auto damping = scratch<T>(m.nv), Kv = scratch<T>(m.nv);
  damper_slopes(m, w, v, damping.data());
  for (int k = 0; k < m.nv; k++) D[m.at(k, k)] = max(T(damping[k]), zero);
  for (const auto& spring : w.spring)
    with_stretches<T>(m, spring, q, [&](int first, int n, const T* u) {
      const T p = max(T(slope_of(spring.stiffness, stretch_of(n, u))), zero);
      for (int k = first; k < first + n; k++) K[m.at(k, k)] = K[m.at(k, k)] + p;
    });
  if (w.has_medium) {
    auto whole = scratch<int>(m.nb + 1);
    for (int i = 0; i <= m.nb; i++) whole[i] = 0;
    for_each_fluid_slope(m, w, v, s, whole, true, [&](int row, int column, const T& slope) {
      if (column <= row) D[m.at(row, column)] = D[m.at(row, column)] + slope;
    });
  }
  for (int k = 0; k < m.nh; k++) diagonal[k] = mass[k] + h * (D[k] + h * K[k]);
  const auto add = [&](const auto& J, int row, const T& stiffness, const T& resistance) {
    for (int i = 0; i < m.nv; i++) {
      const int at = m.at(i, i);
      diagonal[at] = diagonal[at] + h * (resistance + h * stiffness) * J[row * m.nv + i] * J[row * m.nv + i];
      for (int j = i; j >= 0; j = m.dof_parent[j]) {
        const T square = J[row * m.nv + i] * J[row * m.nv + j];
        K[m.at(i, j)] = K[m.at(i, j)] + stiffness * square;
        D[m.at(i, j)] = D[m.at(i, j)] + resistance * square;
      }
    }
  };
  if (w.implicit_lengths) {
    for (int t = 0; t < w.n_tendons(); t++) add(s.ten_J, t, T(slopes.tendon_K[t]), T(slopes.tendon_D[t]));
    for (int o = 0; o < w.n_outputs; o++) add(s.moment, o, T(slopes.K[o]), T(slopes.D[o]));
  }
  for (int k = 0; k < m.nh; k++) mass[k] = mass[k] + h * (D[k] + h * K[k]);
  mul_h(m, K, v, Kv.data());
  for (int k = 0; k < m.nv; k++) b[k] = b[k] - h * Kv[k];
}

// Returns the bodies that may rotate with their gyroscopic terms.
inline std::vector<int> alone_bodies(const auto& m, const auto& w) {
  std::vector<int> found;
  for (int i = 1; i <= m.nb && w.is_discrete(); i++)
    if (stands_alone(m, i)) found.push_back(i);
  return found;
}

// Computes the acceleration of bodies on which nothing else acts.
//
// in   q (nq), v (nv), mass (nh), b (nv)  M^ and b^
// in   alone  from alone_bodies
// out  a (nv)  for these bodies; other entries are not used
template <class T>
FS_HD void turning_acceleration(const auto& m, const auto& q, const auto& v, const auto& mass, const auto& b,
                                const std::vector<int>& alone, const T& h, auto a) {
  auto by_q = scratch<T>(m.nv * m.nv), by_v = scratch<T>(m.nv * m.nv), L = scratch<T>(m.nh), U = scratch<T>(m.nh);
  rnea_derivatives(m, q, v, Zeros<T>{}, Zeros<T>{}, by_q.data(), by_v.data());
  for (int k = 0; k < m.nh; k++) L[k] = U[k] = mass[k];
  for (const int i : alone)
    for (int k = m.body[i].v; k < m.body[i].v + 6; k++)
      for (int l = k; l >= 0; l = m.dof_parent[l]) {
        U[m.at(k, l)] = U[m.at(k, l)] + h * by_v[l * m.nv + k];
        L[m.at(k, l)] = L[m.at(k, l)] + h * by_v[k * m.nv + l];
      }
  tree_lu(m, L.data(), U.data());
  for (int k = 0; k < m.nv; k++) a[k] = b[k];
  solve_tree_lu(m, L, U, a);
}

// Returns 1 for each candidate of alone_bodies on which no row, and no tendon or actuator with a slope, acts, else 0.
//
// in   rows, J (rows nv), D (rows)  of constraints
template <class T>
FS_HD void untouched(const auto& m, const auto& w, const Smooth<T>& s, const LengthSlopes<T>& slopes, int rows,
                     const auto& J, const auto& D, const std::vector<int>& alone, auto free) {
  const T zero(0.0), one(1.0);
  for (std::size_t i = 0; i < alone.size(); i++) {
    const int first = m.body[alone[i]].v;
    T is(1.0);
    const auto check = [&](const auto& A, int row, const T& weight) {
      T most(0.0);
      for (int k = first; k < first + 6; k++) most = max(most, abs(T(A[row * m.nv + k])));
      is = select(zero < most && zero < weight, zero, is);
    };
    for (int r = 0; r < rows; r++) check(J, r, T(D[r]));
    for (int t = 0; t < w.n_tendons() && w.implicit_lengths; t++)
      check(s.ten_J, t, T(slopes.tendon_K[t] + slopes.tendon_D[t]));
    for (int o = 0; o < w.n_outputs && w.implicit_lengths; o++) check(s.moment, o, T(slopes.K[o] + slopes.D[o]));
    free[i] = select(zero < is, one, zero);
  }
}

}  // namespace featherstorm
