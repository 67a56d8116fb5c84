// Computes the acceleration without constraints from a state and its controls, in MuJoCo's order and names.
//
//   position      joint numbers, placements; lengths and moments of tendons and actuators
//   velocity      rates of these lengths
//   actuation     act_dot, actuator_force, qfrc_actuator
//   passive       qfrc_spring, qfrc_damper, qfrc_gravcomp, qfrc_fluid
//   qfrc_smooth = passive + actuator + applied - bias,   M qacc_smooth = qfrc_smooth,   M and bias of mass_and_bias
//
// Each stage is an algorithm of its own folder; this file only passes their results on.
#pragma once
#include "core/actuation/actuator_forces.h"
#include "core/actuation/transmission.h"
#include "core/dynamics/forward_dynamics.h"
#include "core/mujoco/adhesion.h"
#include "core/passive/dampers.h"
#include "core/passive/fluid.h"
#include "core/passive/gravity_compensation.h"
#include "core/passive/joint_springs.h"
#include "core/passive/tendon_forces.h"
#include "core/passive/tendon_inertia.h"

namespace featherstorm {

// External inputs: controls of actuators, forces on joints (nv), and wrenches on links (6 each: force, moment about the
// centre of mass, world axes). Zeros<T>{} for none.
template <class Ctrl, class Qfrc, class Xfrc> struct Applied {
  Ctrl ctrl;
  Qfrc qfrc;
  Xfrc xfrc;
};
template <class Ctrl, class Qfrc, class Xfrc> Applied(Ctrl, Qfrc, Xfrc) -> Applied<Ctrl, Qfrc, Xfrc>;

// Numbers of one state.
template <class T> struct Smooth {
  Smooth(const auto& m, const auto& w)
      : x(m.nx),
        X(m.nb + 1),
        ten_length(w.n_tendons()),
        ten_velocity(w.n_tendons()),
        ten_J(w.n_tendons() * m.nv),
        ten_slope(w.n_tendons()),
        actuator_length(w.n_outputs),
        actuator_velocity(w.n_outputs),
        moment(w.n_outputs * m.nv),
        act_dot(w.na),
        actuator_force(w.n_outputs),
        qfrc_actuator(m.nv),
        qfrc_spring(m.nv),
        qfrc_damper(m.nv),
        qfrc_gravcomp(m.nv),
        qfrc_fluid(m.nv) {}
  Scratch<T> x;             // joint numbers at q and v
  Scratch<Placement<T>> X;  // placements of the bodies in the world
  Scratch<T> ten_length, ten_velocity, ten_J, ten_slope;
  Scratch<T> actuator_length, actuator_velocity, moment, act_dot, actuator_force;
  Scratch<T> qfrc_actuator, qfrc_spring, qfrc_damper, qfrc_gravcomp, qfrc_fluid;
};

// y = A x for `rows` rows (rates_of), and y += A^T x
FS_HD void rates_of(const auto& A, int rows, int nv, const auto& x, auto y) {
  using T = ScalarOf<decltype(y)>;
  for (int r = 0; r < rows; r++) {
    T sum(0.0);
    for (int k = 0; k < nv; k++) sum = sum + A[r * nv + k] * x[k];
    y[r] = sum;
  }
}
FS_HD void add_transposed(const auto& A, int rows, int nv, const auto& x, auto y) {
  for (int r = 0; r < rows; r++)
    for (int k = 0; k < nv; k++) y[k] = y[k] + A[r * nv + k] * x[r];
}

// Computes positions and rates.
//
// in   q (nq), v (nv)
// out  s  positions and rates
template <class T> FS_HD void smooth_kinematics(const auto& m, const auto& w, const auto& q, const auto& v,
                                                Smooth<T>& s) {
  update_joints(m, q, v, s.x);
  body_placements(m, s.x, s.X);
  tendon_kinematics(m, w, s.x, s.X, q, s.ten_length.data(), s.ten_J.data());
  rates_of(s.ten_J, w.n_tendons(), m.nv, v, s.ten_velocity.data());
  transmissions(m, w, s.x, s.X, q, s.ten_length, s.ten_J, s.actuator_length.data(), s.moment.data());
}

// Computes passive forces.
//
// in   q (nq), v (nv), s  with positions and rates
// out  s  passive forces of joints
template <class T> FS_HD void passive_forces(const auto& m, const auto& w, const auto& q, const auto& v, Smooth<T>& s) {
  auto spring = scratch<T>(w.n_tendons());
  auto damper = scratch<T>(w.n_tendons());
  joint_springs(m, w, q, s.qfrc_spring.data());
  joint_dampers(m, w, v, s.qfrc_damper.data());
  tendon_forces(w, s.ten_length, s.ten_velocity, spring.data(), damper.data(), s.ten_slope.data());
  add_transposed(s.ten_J, w.n_tendons(), m.nv, spring, s.qfrc_spring.data());
  add_transposed(s.ten_J, w.n_tendons(), m.nv, damper, s.qfrc_damper.data());
  gravity_compensation(m, w, s.x, s.X, s.qfrc_gravcomp.data());
  auto V = scratch<Motion<T>>(m.nb + 1);
  body_velocities(m, s.x, v, V);
  fluid_forces(m, w, s.x, s.X, V, s.qfrc_fluid.data());
}

// Computes the joint-space inertia matrix and the bias force, including the inertia of tendons.
//
// in   q (nq), v (nv), s  with positions
// out  mass (nh)  M packed as in crba.h
// out  bias (nv)  C = qfrc_bias [N m | N]
template <class T>
FS_HD void mass_and_bias(const auto& m, const auto& w, const auto& q, const auto& v, const Smooth<T>& s, auto mass,
                         auto bias) {
  newton_euler(m, q, v, Zeros<T>{}, Zeros<T>{}, bias);
  crba(m, q, mass);
  add_tendon_inertia<T>(m, w, s.ten_J, mass);
  add_tendon_bias<T>(m, w, s.x, s.X, v, s.ten_J, bias);
}

// Computes activation rates and actuator forces.
//
// in   v (nv), act (na), ctrl (nu), s  with positions and gravity compensation
// out  s  moments of adhesion, actuator_velocity, act_dot, actuator_force, qfrc_actuator
template <class T>
FS_HD void actuator_stage(const auto& m, const auto& w, const auto& v, const auto& act, const auto& ctrl,
                          Smooth<T>& s) {
  adhesion_moments(m, w, s.x, s.X, s.moment.data());
  rates_of(s.moment, w.n_outputs, m.nv, v, s.actuator_velocity.data());
  actuation(w, s.actuator_length, s.actuator_velocity, ctrl, act, s.act_dot.data(), s.actuator_force.data());
  actuator_joint_forces(m, w, s.moment, s.actuator_force, s.qfrc_gravcomp, s.qfrc_actuator.data());
}

// Computes the forces of joints besides the bias: passive, actuator and applied forces.
//
// in   q (nq), v (nv), act (na), applied
// out  s  all members
// out  tau (nv)  [N m | N]  qfrc_smooth + qfrc_bias
template <class T>
FS_HD void smooth_forces(const auto& m, const auto& w, const auto& q, const auto& v, const auto& act,
                         const auto& applied, Smooth<T>& s, auto tau) {
  smooth_kinematics(m, w, q, v, s);
  passive_forces(m, w, q, v, s);
  actuator_stage(m, w, v, act, applied.ctrl, s);
  for (int k = 0; k < m.nv; k++) {
    // if gravity compensation counts as actuator force, it is in qfrc_actuator already
    const T lifted = w.compensated[k] ? T(0.0) : T(s.qfrc_gravcomp[k]);
    tau[k] = s.qfrc_spring[k] + s.qfrc_damper[k] + lifted + s.qfrc_fluid[k] + s.qfrc_actuator[k] + applied.qfrc[k];
  }
  if constexpr (is_given<std::remove_cvref_t<decltype(applied.xfrc)>>)
    for (int l = 1; l < w.n_links(); l++) {
      const auto& place = w.link[l].inertial;
      const auto f = slice(applied.xfrc, 6 * l);
      const Vec3<T> p = origin_in_world<T>(s.X, place);
      add_wrench<T>(m, s.x, s.X, place.body, p, vector_at<T>(f, 3), vector_at<T>(f, 0), tau);
    }
}

}  // namespace featherstorm
