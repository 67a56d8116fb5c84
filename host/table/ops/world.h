// The world of a model file (core/world/world.h), for robots of MJCF files. MuJoCo's documentation, chapter
// Computation.
//
// Arrays have MuJoCo's names, order and layout. The time step is that of the file.
#pragma once
#include "core/actuation/histories.h"
#include "core/collision/candidates.h"
#include "core/mujoco/step.h"
#include "core/sensor/sensors.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

inline constexpr OpArray act{"act", {n_act}, "", "activations of the actuators"};
inline constexpr OpArray ctrl{"ctrl", {n_ctrl}, "", "controls of the actuators"};
inline constexpr OpArray qfrc_applied{"qfrc_applied",      {nv},    "N m | N", "further forces at the joints",
                                      Sample::joint_force, optional};
inline constexpr OpArray xfrc_applied{
    "xfrc_applied",    {n_links, 6},
    "N, N m",          "force and moment on each of the file's bodies at its centre of mass, world axes",
    Sample::symmetric, optional};
inline constexpr OpArray row_force{"row_force", {n_rows}, "N | N m", "forces of the constraint rows"};
inline constexpr OpArray contact_link{
    "contact_link",
    {n_links, 9},
    "N, N m, m",
    "force and moment of contacts on each of the file's bodies, and the moment's point, world axes"};
inline constexpr OpArray contact_sensor{
    "contact_sensor", {n_touched}, "", "numbers of touch and contact sensors, without cutoff"};
constexpr OpArray may_be_absent(OpArray a) { return a.presence = optional, a; }
inline constexpr OpArray act_next{"act_next", {n_act}, "", "activations at the end"};

struct OpTendons {
  static constexpr OpInfo info{
      .name = "tendons",
      .summary = "lengths of the tendons, their rates and gradients",
      .equation = "ten_velocity = ten_J v",
      .source = "MuJoCo, Computation: tendons; core/actuation/tendon_kinematics.h",
      .in = {q, v},
      .out = {{"ten_length", {n_tendons}, "m", "lengths"},
              {"ten_velocity", {n_tendons}, "m/s", "rates of the lengths"},
              {"ten_J", {n_tendons, nv}, "1 | m", "gradients of the lengths along v"}},
      .needs = Needs::world,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto ten_length, auto ten_velocity, auto ten_J) {
    using T = ScalarOf<decltype(q)>;
    const auto& w = m.world;
    auto x = scratch<T>(m.nx);
    auto X = scratch<Placement<T>>(m.nb + 1);
    update_joints(m, q, v, x);
    body_placements(m, x, X);
    tendon_kinematics(m, w, x, X, q, ten_length, ten_J);
    rates_of(ten_J, w.n_tendons(), m.nv, v, ten_velocity);
  }
};

struct OpActuators {
  static constexpr OpInfo info{
      .name = "actuators",
      .summary = "lengths and forces of the actuators, rates of their activations, and their forces at the joints",
      .equation = "qfrc_actuator = moment^T actuator_force",
      .source = "MuJoCo, Computation: actuation model; core/actuation/actuator_forces.h",
      .in = {q, v, act, ctrl},
      .out = {{"actuator_length", {n_out}, "m | rad", "lengths"},
              {"actuator_velocity", {n_out}, "m/s | rad/s", "rates of the lengths"},
              {"act_dot", {n_act}, "1/s", "rates of the activations"},
              {"actuator_force", {n_out}, "N | N m", "forces along the lengths"},
              {"qfrc_actuator", {nv}, "N m | N", "forces at the joints"}},
      .needs = Needs::world,
      .cuda = false,
  };
  template <class In, class Out>
  FS_HD static void run(const auto& m, In q, In v, In act, In ctrl, Out actuator_length, Out actuator_velocity,
                        Out act_dot, Out actuator_force, Out qfrc_actuator) {
    using T = ScalarOf<decltype(q)>;
    const auto& w = m.world;
    Smooth<T> s(m, w);
    smooth_kinematics(m, w, q, v, s);
    gravity_compensation(m, w, s.x, s.X, s.qfrc_gravcomp.data());
    actuator_stage(m, w, v, act, ctrl, s);
    for (int k = 0; k < w.n_outputs; k++)
      actuator_length[k] = s.actuator_length[k], actuator_velocity[k] = s.actuator_velocity[k],
      actuator_force[k] = s.actuator_force[k];
    for (int k = 0; k < w.na; k++) act_dot[k] = s.act_dot[k];
    for (int k = 0; k < m.nv; k++) qfrc_actuator[k] = s.qfrc_actuator[k];
  }
};

struct OpPassiveForces {
  static constexpr OpInfo info{
      .name = "passive_forces",
      .summary = "forces at the joints by springs, dampers, gravity compensation and the medium",
      .equation = "qfrc_passive = their sum, without the gravity compensation that counts as actuators'",
      .source = "MuJoCo, Computation: passive forces; core/passive",
      .in = {q, v},
      .out = {{"qfrc_spring", {nv}, "N m | N", "of springs of joints and tendons"},
              {"qfrc_damper", {nv}, "N m | N", "of dampers of joints and tendons"},
              {"qfrc_gravcomp", {nv}, "N m | N", "of gravity compensation"},
              {"qfrc_fluid", {nv}, "N m | N", "of the medium"}},
      .needs = Needs::world,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto qfrc_spring, auto qfrc_damper, auto qfrc_gravcomp,
                        auto qfrc_fluid) {
    using T = ScalarOf<decltype(q)>;
    const auto& w = m.world;
    Smooth<T> s(m, w);
    smooth_kinematics(m, w, q, v, s);
    passive_forces(m, w, q, v, s);
    for (int k = 0; k < m.nv; k++) {
      qfrc_spring[k] = s.qfrc_spring[k], qfrc_damper[k] = s.qfrc_damper[k];
      qfrc_gravcomp[k] = s.qfrc_gravcomp[k], qfrc_fluid[k] = s.qfrc_fluid[k];
    }
  }
};

struct OpMassAndBias {
  static constexpr OpInfo info{
      .name = "mass_and_bias",
      .summary = "joint-space inertia matrix and bias force with the armature of tendons",
      .equation = "M = crba + J^T A J, C = bias + J^T A (dJ/dt v), A of tendons; entries of M that the tree has",
      .source = "MuJoCo, XML reference: tendon/spatial/armature; core/passive/tendon_inertia.h",
      .in = {q, v},
      .out = {{"M", {nh}, "kg m^2 | kg m | kg", "packed, of the branch-sparse lower triangle"},
              {"qfrc_bias", {nv}, "N m | N", "bias force"}},
      .needs = Needs::world,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto M, auto qfrc_bias) {
    using T = ScalarOf<decltype(q)>;
    Smooth<T> s(m, m.world);
    smooth_kinematics(m, m.world, q, v, s);
    mass_and_bias(m, m.world, q, v, s, M, qfrc_bias);
  }
};

struct OpSmoothAcceleration {
  static constexpr OpInfo info{
      .name = "smooth_acceleration",
      .summary = "accelerations under actuators, passive and applied forces, without constraints; rates of activations",
      .equation = "M qacc_smooth = qfrc_passive + qfrc_actuator + qfrc_applied + J^T xfrc_applied - C",
      .source = "MuJoCo, Computation: forward dynamics; core/mujoco/smooth.h",
      .in = {q, v, act, ctrl, qfrc_applied, xfrc_applied},
      .out = {{"qacc_smooth", {nv}, "rad/s^2 | m/s^2", "accelerations"},
              {"act_dot", {n_act}, "1/s", "rates of the activations"}},
      .needs = Needs::world,
      .condition = Condition::solves,
      .variants = 2,
      .cuda = false,
  };
  template <int variant, class In, class Qfrc, class Xfrc, class Out>
  FS_HD static void run(const auto& m, In q, In v, In act, In ctrl, Qfrc qfrc_applied, Xfrc xfrc_applied,
                        Out qacc_smooth, Out act_dot) {
    constexpr SolveBy by = variant == 0 ? SolveBy::bodies : SolveBy::factor;
    smooth_acceleration<by>(m, m.world, q, v, act, Applied{ctrl, qfrc_applied, xfrc_applied}, qacc_smooth, act_dot);
  }
};

struct OpWorldStep {
  static constexpr OpInfo info{
      .name = "smooth_step",
      .summary = "steps of the file's timestep by its integrator, without constraints",
      .equation =
          "Euler: (M + h D) a = qfrc_smooth, v_next = v + h a, q_next = q (+) h v_next; implicit, implicitfast, RK4",
      .source = "MuJoCo, Computation: numerical integration; core/mujoco/step.h",
      .in = {q, v, act, ctrl, qfrc_applied, xfrc_applied},
      .out = {q_next, v_next, act_next},
      .carried = true,
      .needs = Needs::world,
      .condition = Condition::solves,
      .variants = 2,
      .cuda = false,
  };
  template <int variant, class In, class Qfrc, class Xfrc, class Out>
  FS_HD static void run(const auto& m, In q, In v, In act, In ctrl, Qfrc qfrc_applied, Xfrc xfrc_applied, Out q_next,
                        Out v_next, Out act_next) {
    constexpr SolveBy by = variant == 0 ? SolveBy::bodies : SolveBy::factor;
    const Applied applied{ctrl, qfrc_applied, xfrc_applied};
    if (m.world.integrator == Integrator::RungeKutta)
      world_rk4_step<by>(m, m.world, q, v, act, applied, q_next, v_next, act_next);
    else smooth_step<by>(m, m.world, q, v, act, applied, q_next, v_next, act_next);
  }
};

struct OpSensors {
  static constexpr OpInfo info{
      .name = "sensors",
      .summary = "readings of the file's sensors at given accelerations and forces of constraints, without noise",
      .equation = "accelerations and forces with gravity: at rest -g and weights",
      .source = "MuJoCo, Computation: sensors; core/sensor/sensors.h",
      .in = {q, v, a, act, ctrl, t, xfrc_applied, may_be_absent(row_force), may_be_absent(contact_link),
             may_be_absent(contact_sensor)},
      .out = {{"sensordata", {n_sensed}, "", "the numbers of all sensors; those of range finders are zero"}},
      .takes_time = true,
      .needs = Needs::world,
      .cuda = false,
  };
  template <class In, class T, class Force, class Out>
  FS_HD static void run(const auto& m, In q, In v, In a, In act, In ctrl, T t, Force xfrc_applied, Force row_force,
                        Force contact_link, Force contact_sensor, Out sensordata) {
    const auto& w = m.world;
    Smooth<T> s(m, w);
    smooth_kinematics(m, w, q, v, s);
    if (reads_actuators(w)) {
      gravity_compensation(m, w, s.x, s.X, s.qfrc_gravcomp.data());
      actuator_stage(m, w, v, act, ctrl, s);
    }
    const SensedTendons tendons{s.ten_length.data(), s.ten_velocity.data(), s.ten_J.data()};
    const SensedActuators actuators{s.actuator_length.data(), s.actuator_velocity.data(), s.actuator_force.data(),
                                    s.qfrc_actuator.data()};
    sensors(m, w, s.x, s.X, SensedMotion{q, v, a, t}, tendons, actuators,
            SensedForces{xfrc_applied, row_force, contact_link, contact_sensor, Zeros<T>{}}, sensordata);
  }
};

struct OpConstraintWrenches {
  static constexpr OpInfo info{
      .name = "constraint_wrenches",
      .summary = "forces and moments of contacts, connects and welds on each of the file's bodies",
      .equation = "force, then moment about the body's centre of mass, world axes: the constraints' part of cfrc_ext",
      .source = "MuJoCo, mj_rnePostConstraint; core/sensor/constraint_wrenches.h",
      .in = {q, row_force, contact_link},
      .out = {{"wrench", {n_links, 6}, "N, N m", "on each body; zeros for the world"}},
      .needs = Needs::world,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto q, auto row_force, auto contact_link, auto wrench) {
    using T = ScalarOf<decltype(q)>;
    auto x = scratch<T>(m.nx);
    auto X = scratch<Placement<T>>(m.nb + 1);
    update_joints(m, q, Zeros<T>{}, x);
    body_placements(m, x, X);
    constraint_wrenches<T>(m.world, X, q, contact_link, row_force, wrench);
  }
};

inline constexpr OpArray history{"history", {n_history}, "", "histories of controls and sensors, as MuJoCo has them"};
inline constexpr OpArray clock{"clock", {1}, "s", "time"};
inline constexpr OpArray slack{"slack", {1}, "s", "times that are closer are the same", Sample::positive};

struct OpDelayedControls {
  static constexpr OpInfo info{
      .name = "delayed_controls",
      .summary = "the controls that actuators act on: old ones of the histories where they are delayed",
      .equation = "ctrl(clock - delay), interpolated between the samples of the history",
      .source = "MuJoCo, XML reference: actuator, delay; core/actuation/histories.h",
      .in = {history, ctrl, clock, slack},
      .out = {{"delayed", {n_ctrl}, "", "controls"}},
      .needs = Needs::world,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto history, auto ctrl, auto clock, auto slack, auto delayed) {
    using T = ScalarOf<decltype(history)>;
    delayed_controls<T>(m.world, history, ctrl, T(clock), T(slack), delayed);
  }
};

struct OpDelayedSensors {
  static constexpr OpInfo info{
      .name = "delayed_sensors",
      .summary = "numbers that sensors report: old ones of the histories where they are delayed or have an interval",
      .equation = "sensordata(clock - delay), interpolated between the samples of the history",
      .source = "MuJoCo, XML reference: sensor, delay; core/actuation/histories.h",
      .in = {history, {"sensordata", {n_sensed}, "", "what the sensors measure"}, clock, slack},
      .out = {{"reported", {n_sensed}, "", "the reported numbers"}},
      .needs = Needs::world,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto history, auto sensordata, auto clock, auto slack, auto reported) {
    using T = ScalarOf<decltype(history)>;
    delayed_sensors<T>(m.world, history, sensordata, T(clock), T(slack), reported);
  }
};

struct OpAdvancedHistories {
  static constexpr OpInfo info{
      .name = "advanced_histories",
      .summary = "the histories of controls and sensors after a step that began at `clock`",
      .equation = "each with a sample at `clock` in place of its oldest",
      .source = "MuJoCo, XML reference: actuator and sensor, nsample; core/actuation/histories.h",
      .in = {history, ctrl, {"sensordata", {n_sensed}, "", "what the sensors measured"}, clock, slack},
      .out = {{"history_next", {n_history}, "", "histories"}},
      .needs = Needs::world,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto history, auto ctrl, auto sensordata, auto clock, auto slack,
                        auto history_next) {
    using T = ScalarOf<decltype(history)>;
    advanced_histories<T>(m.world, history, ctrl, sensordata, T(clock), T(slack), history_next);
  }
};

struct OpContacts {
  static constexpr OpInfo info{
      .name = "contacts",
      .summary = "where the file's geoms touch: the slots of all pairs of geoms, in the order of `contact_pairs`",
      .equation = "dist <= margin + gap in a slot with a contact; else dist = 1e10, pos and frame are zero",
      .source = "MuJoCo, Computation: collision detection; core/collision/candidates.h",
      .in = {q},
      .out = {{"dist", {n_slots}, "m", "distance between the surfaces, negative where they penetrate"},
              {"pos", {n_slots, 3}, "m", "point in the middle between the surfaces, world axes"},
              {"frame", {n_slots, 9}, "", "by rows the normal, from the first geom to the second, and two tangents"}},
      .needs = Needs::world,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto q, auto dist, auto pos, auto frame) {
    using T = ScalarOf<decltype(q)>;
    const int n = slots_of(m.world.contacts);
    auto x = scratch<T>(m.nx);
    auto X = scratch<Placement<T>>(m.nb + 1);
    auto found = scratch<Candidate<T>>(n);
    update_joints(m, q, Zeros<T>{}, x);
    body_placements(m, x, X);
    contact_candidates(m, m.world, X, found.data());
    for (int k = 0; k < n; k++) {
      const auto& [contact, axes] = found[k];
      const auto there = contact.distance < T(no_contact);
      dist[k] = contact.distance;
      for (int i = 0; i < 3; i++) pos[3 * k + i] = select(there, contact.point(i), T(0.0));
      for (int i = 0; i < 9; i++) frame[9 * k + i] = select(there, axes.e[i / 3](i % 3), T(0.0));
    }
  }
};

struct Worlds {
  static constexpr std::string_view title = "The world of a model file";
  using Rows =
      List<OpTendons, OpActuators, OpPassiveForces, OpMassAndBias, OpSmoothAcceleration, OpWorldStep, OpSensors,
           OpConstraintWrenches, OpContacts, OpDelayedControls, OpDelayedSensors, OpAdvancedHistories>;
};

}  // namespace featherstorm::table
