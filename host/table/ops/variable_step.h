// Integration beyond fixed steps of time-independent robots: variable steps (RBDA section 10.2), and dynamics,
// derivatives and steps of robots with time-dependent joints (RBDA section 3.4), for which every instance has a time
// of its own.
//
// One repetition of dormand_prince is one attempt at a step. After `repeat` attempts, `remaining` is the time that
// each instance still has to the end; once it is zero, further attempts change nothing.
//
// User-defined joints, which include time-dependent joints, have no CUDA kernels that take the model as data, only
// traced kernels.
#pragma once
#include "core/derivatives/timed_derivatives.h"
#include "core/step/dormand_prince.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpDormandPrince {
  static constexpr OpInfo info{
      .name = "dormand_prince",
      .summary =
          "an attempt at a step of order 5 with its length by the error: from {time to go, 0 or a first step, 1}",
      .equation = "Runge-Kutta of orders 5 and 4, step length by error^(1/5)",
      .source = "Dormand and Prince 1980; RBDA section 10.2",
      .in = {q,
             v,
             {"remaining", {1}, "s", "time to go", constant(0.01)},
             {"step", {1}, "s", "length of the next attempt; 0: choose", constant(0.002)},
             {"error", {1}, "", "scaled error of the last accepted step; 1 at first", constant(1)},
             tau,
             target},
      .uniform = {{"tolerances", {2}, "", "absolute and relative tolerance, not both 0", Sample::positive},
                  kp,
                  kd,
                  limit_stiffness,
                  limit_damping,
                  friction_velocity},
      .out = {q_next,
              v_next,
              {"remaining_next", {1}, "s", "time to go after the attempt"},
              {"step_next", {1}, "s", "length of the next attempt"},
              {"error_next", {1}, "", "scaled error of the last accepted step"}},
      .carried = true,
      .condition = Condition::solves_twice,
  };
  template <class In, class U, class T, class Out>
  FS_HD static void run(const auto& m, In q, In v, T remaining, T step, T error, In tau, In target, U tolerances, U kp,
                        U kd, T limit_stiffness, T limit_damping, T friction_velocity, Out q_next, Out v_next,
                        Out remaining_next, Out step_next, Out error_next) {
    const Drive drive{tau, target, kp, kd};
    const StepParameters<T> s{T(0.0), limit_stiffness, limit_damping, friction_velocity};
    StepControl<T> c{remaining, step, error};
    dormand_prince(m, q, v, drive, none(q), s, ErrorTolerance<T>{tolerances[0], tolerances[1]}, c, q_next, v_next);
    remaining_next[0] = c.remaining, step_next[0] = c.step, error_next[0] = c.error;
  }
};

struct OpRneaTimed {
  static constexpr OpInfo info{
      .name = "rnea_timed",
      .summary = "rnea of robots with time-dependent joints, at time t",
      .equation = "tau = M a + C(q, v, t)",
      .source = "RBDA section 3.4",
      .in = {q, v, a, f_ext, t},
      .out = {tau},
      .takes_time = true,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto f_ext, auto t, auto tau) {
    newton_euler(m, at_time(q, t), drifting(m, q, v, t), a, f_ext, tau);
  }
};

struct OpFdTimed {
  static constexpr OpInfo info{
      .name = "fd_timed",
      .summary = "aba of robots with time-dependent joints, at time t",
      .equation = "a = M^-1 (tau - C(q, v, t))",
      .source = "RBDA section 3.4",
      .in = {q, v, tau, f_ext, t},
      .out = {a},
      .takes_time = true,
      .condition = Condition::solves,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto tau, auto f_ext, auto t, auto a) {
    articulated_bodies(m, at_time(q, t), drifting(m, q, v, t), tau, f_ext, a);
  }
};

struct OpForwardKinematicsTimed {
  static constexpr OpInfo info{
      .name = "forward_kinematics_timed",
      .summary = "forward_kinematics of robots with time-dependent joints, at time t",
      .equation = "X_i = X_parent X_J(q_i, t) X_T",
      .source = "RBDA section 3.4",
      .in = {q, t},
      .out = {pose},
      .takes_time = true,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto q, auto t, auto pose) { forward_kinematics(m, at_time(q, t), pose); }
};

struct OpRneaTimedDerivatives {
  static constexpr OpInfo info{
      .name = "rnea_timed_derivatives",
      .summary = "derivatives of rnea_timed on the tangent space at fixed time, nv x nv by rows, and by time",
      .equation = "d tau = dtau_dq dq + dtau_dv dv + M da + dtau_dt dt",
      .source = "RBDA section 3.4",
      .in = {q, v, a, f_ext, t},
      .out = {dtau_dq, dtau_dv, {"dtau_dt", {nv}, "N m/s", "d tau / d t"}},
      .takes_time = true,
      .cost = Cost::quadratic,
      .condition = Condition::cancels,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto f_ext, auto t, auto dtau_dq, auto dtau_dv,
                        auto dtau_dt) {
    rnea_timed_derivatives(m, q, v, a, t, f_ext, dtau_dq, dtau_dv, dtau_dt);
  }
};

struct OpFdTimedDerivatives {
  static constexpr OpInfo info{
      .name = "fd_timed_derivatives",
      .summary = "fd_timed and its derivatives on the tangent space at fixed time, nv x nv by rows, and by time",
      .equation = "da_dx = -M^-1 dtau_dx",
      .source = "RBDA section 3.4",
      .in = {q, v, tau, f_ext, t},
      .out = {a, da_dq, da_dv, da_dtau, {"da_dt", {nv}, "rad/s^3", "d a / d t"}},
      .takes_time = true,
      .cost = Cost::cubic,
      .condition = Condition::solves,
      .cuda = false,
  };
  template <class In, class T, class Out>
  FS_HD static void run(const auto& m, In q, In v, In tau, In f_ext, T t, Out a, Out da_dq, Out da_dv, Out da_dtau,
                        Out da_dt) {
    fd_timed_derivatives(m, q, v, tau, t, f_ext, a, da_dq, da_dv, da_dtau, da_dt);
  }
};

struct OpRk4StepTimed {
  static constexpr OpInfo info{
      .name = "rk4_step_timed",
      .summary = "rk4_step of robots with time-dependent joints, from time t on",
      .equation = "rk4_step from time t on",
      .source = "RBDA section 3.4; Munthe-Kaas 1998",
      .in = {q, v, t, tau, target},
      .uniform = step_uniforms,
      .out = {q_next, v_next, {"t_next", {1}, "s", "time at the end"}},
      .carried = true,
      .takes_time = true,
      .cost = Cost::cubic,
      .condition = Condition::solves,
      .cuda = false,
  };
  template <class In, class U, class T, class Out>
  FS_HD static void run(const auto& m, In q, In v, T t, In tau, In target, T dt, U kp, U kd, T limit_stiffness,
                        T limit_damping, T friction_velocity, Out q_next, Out v_next, Out t_next) {
    const Drive drive{tau, target, kp, kd};
    const auto s = step_parameters(dt, limit_stiffness, limit_damping, friction_velocity);
    rk4_step_timed(m, q, v, t, drive, none(q), s, q_next, v_next);
    t_next[0] = t + s.dt;
  }
};

struct VariableStep {
  static constexpr std::string_view title = "Variable steps and time-dependent joints";
  using Rows = List<OpDormandPrince, OpRneaTimed, OpFdTimed, OpForwardKinematicsTimed, OpRneaTimedDerivatives,
                    OpFdTimedDerivatives, OpRk4StepTimed>;
};

}  // namespace featherstorm::table
