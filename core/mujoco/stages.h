// Stages of a step of a model file's world, with arrays as inputs and outputs. A Sequence runs them one after the other
// (host/simulation/world_sequence.h). They are traced for one robot, or run on packs of instances with the robot as
// data.
//
//   equations     state, controls -> M, b, rows of constraints, their factors and slopes
//   advance       state, acceleration -> state at the end of the step
//   Runge-Kutta   the same for stage i of the classical method on the tangent space at q (core/step/rk4_step.h)
#pragma once
#include "core/mujoco/constrained.h"
#include "core/mujoco/position_slopes.h"
#include "core/rigid/rigid_constraints.h"
#include "core/sensor/frames.h"

namespace featherstorm {

// Number of velocity slopes of forces that the integrator needs: the entries of D that exist in M. If D is not
// symmetric, those above the diagonal follow.
template <class P> int slopes_of(const Model<P>& m, bool rigid) {
  if (rigid || m.world.is_discrete()) return 0;
  return has_symmetric_slopes(m, m.world) ? m.nh : 2 * m.nh;
}

// Assembles the equations of motion, except contacts.
//
//   MuJoCo's law   M a = b + J^T f, or M^ a = b^ + J^T f at the end of the step (discrete_step.h)
//   rigid law      (M + h D + h^2 K) a = b - h K v + J^T f  (position_slopes.h)
//
// in   law  null for MuJoCo's law
// in   q (nq), v (nv), act (na), applied
// out  s, e
// out  weights (weights_of), turning (7 alone_bodies)  for MuJoCo's law (constrained.h)
// out  slopes (slopes_of)  D (velocity_slopes.h)
template <class T, class Law>
FS_HD void step_equations(const auto& m, const auto& w, const Law* law, const auto& q, const auto& v, const auto& act,
                          const auto& applied, Smooth<T>& s, Equations<T>& e, auto weights, auto turning, auto slopes) {
  equations(m, w, q, v, act, applied, s, e);
  const T zero(0.0);
  if (law) {
    const T h(w.timestep);
    auto D = scratch<T>(m.nh), K = scratch<T>(m.nh);
    auto Kv = scratch<T>(m.nv);
    for (int k = 0; k < m.nh; k++) D[k] = K[k] = zero;
    add_force_slopes(m, w, v, act, applied.ctrl, s, false, D.data(), D.data());
    position_slopes(m, w, q, act, applied.ctrl, s, K.data());
    mul_h(m, K, v, Kv.data());
    for (int k = 0; k < m.nh; k++) e.mass[k] = e.mass[k] + h * (D[k] + h * K[k]);
    for (int k = 0; k < m.nv; k++) e.b[k] = e.b[k] - h * Kv[k];
    return rigid_constraint_rows(m, w, *law, v, e.rows());
  }
  end_of_step(m, w, q, v, act, applied.ctrl, s, e, weights, turning);
  if (w.is_discrete()) return;
  const bool symmetric = has_symmetric_slopes(m, w);
  for (int k = 0; k < (symmetric ? 1 : 2) * m.nh; k++) slopes[k] = zero;
  velocity_slopes(m, w, q, v, act, applied.ctrl, s, slopes, slice(slopes, symmetric ? 0 : m.nh));
}

// Stores n placements as R row by row, then r (store_placements), and n motions as w, then v.
FS_HD void store_placements(const auto& X, int n, auto out) {
  for (int i = 0; i < n; i++) store_placement(out, 12 * i, X[i]);
}
FS_HD void store_motions(const auto& V, int n, auto out) {
  for (int i = 0; i < n; i++) store_motion(out, 6 * i, V[i]);
}
// Stores frames in the world, in the layout of store_placements.
template <class T> FS_HD void store_frames(const auto& X, const auto& frames, auto out) {
  for (int i = 0; i < static_cast<int>(frames.size()); i++)
    store_placement(out, 12 * i, in_world<T>(X, cast<T>(frames[i])));
}

// State, outputs of the equations, and the acceleration a (nv) under all constraints.
template <class Array> struct AdvanceInputs {
  Array q, v, act;
  Array act_dot, actuator_length, actuator_velocity;
  Array slopes;   // (slopes_of)
  Array mass, a;  // (nh), (nv)
  Array turning;  // (7 alone)
};
template <class Array> struct AdvanceOutputs {
  Array q, v, act;
  Array a;  // (nv) acceleration that the step uses
};

// Integrates the acceleration to the end of the step.
//
// in   damps  true if a slope is not zero
// in   alone  from alone_bodies;  free(i)  above zero if body i of them rotates with its gyroscopic terms
// in   in
// out  out
template <class T>
FS_HD void advance(const auto& m, const auto& w, bool damps, const std::vector<int>& alone, const auto& free,
                   const auto& in, const auto& out) {
  const T h(w.timestep);
  for (int k = 0; k < m.nv; k++) out.a[k] = in.a[k];
  const auto upper = slice(in.slopes, has_symmetric_slopes(m, w) ? 0 : m.nh);
  if (damps) damped_acceleration(m, w, in.mass, in.slopes, upper, h, out.a);
  for (int i = 0; i < static_cast<int>(alone.size()); i++) {
    const auto turns = T(0.0) < free(i);
    const int first = m.body[alone[i]].v;
    for (int k = 0; k < 6; k++) out.a[first + k] = select(turns, T(in.turning[7 * i + 1 + k]), T(out.a[first + k]));
  }
  next_activations(w, in.actuator_length, in.actuator_velocity, in.act, in.act_dot, out.act);
  for (int k = 0; k < m.nv; k++) out.v[k] = in.v[k] + h * out.a[k];
  integrate(m, in.q, out.v, h, out.q);
}

// State at the beginning of the step; q_i = q (+) u_i and v_i at stage i; rates there; sums over the previous stages.
template <class Array> struct StageInputs {
  Array q, v, act;
  Array u_i, v_i, act_dot, a;
  Array sum_u, sum_a, sum_rate;
  Array actuator_length, actuator_velocity;  // read at stage 3 only
};
// Inputs of the next stage. At stage 3, q, v and act at the end of the step; the other outputs are not read.
template <class Array> struct StageOutputs {
  Array q, v, act;
  Array u;
  Array sum_u, sum_a, sum_rate;
};

// Computes stage i, 0 to 3, of the classical Runge-Kutta method.
template <class T>
FS_HD void runge_kutta_stage(const auto& m, const auto& w, int i, const auto& in, const auto& out) {
  const T zero(0.0), weight(rk4_weight(i)), h = T(w.timestep) * T(i == 3 ? 1.0 : rk4_time(i + 1));
  auto u = scratch<T>(m.nv), along = scratch<T>(m.nv);
  for (int k = 0; k < m.nv; k++) u[k] = i == 0 ? zero : T(in.u_i[k]);
  tangent_rate(m, u, in.v_i, along.data());
  const auto add = [&](const auto& sum, const auto& x, int n, const auto& next) {
    for (int k = 0; k < n; k++) next[k] = (i == 0 ? zero : T(sum[k])) + weight * x[k];
  };
  add(in.sum_u, along, m.nv, out.sum_u), add(in.sum_a, in.a, m.nv, out.sum_a);
  add(in.sum_rate, in.act_dot, w.na, out.sum_rate);
  for (int k = 0; k < m.nv; k++) {
    out.u[k] = h * (i == 3 ? T(out.sum_u[k]) : T(along[k]));
    out.v[k] = in.v[k] + h * (i == 3 ? T(out.sum_a[k]) : T(in.a[k]));
  }
  integrate(m, in.q, out.u, T(1.0), out.q);
  if (i == 3) return next_activations(w, in.actuator_length, in.actuator_velocity, in.act, out.sum_rate, out.act);
  for (int k = 0; k < w.na; k++) out.act[k] = in.act[k] + h * in.act_dot[k];
}

}  // namespace featherstorm
