// Rows of integrators beyond fixed steps of time-independent robots: variable steps (RBDA section 10.2), and dynamics,
// derivatives and steps of robots with time-dependent joints (RBDA section 3.4), to which every instance brings its
// time.
//
// A pass of dormand_prince is one attempt at a step; `repeat` passes are as many attempts, after which `remaining` says
// of each instance whether it has reached the end. Where nothing remains a pass changes nothing.
//
// User-defined joints, and so those that depend on time, have no CUDA kernels that take the model as data; traced ones
// do.
#pragma once
#include "core/derivatives/timed_derivatives.h"
#include "core/step/dormand_prince.h"
#include "host/table/ops/book_row.h"
#include "host/table/ops/stepping.h"

namespace featherstorm {

inline constexpr OpArray op_t{"t", {1}}, op_remaining{"remaining", {1}},
    op_step{"step", {1}}, op_error{"error", {1}};

struct OpDormandPrince : BookRow {
  static constexpr OpInfo<7, 6, 5> info{
      "dormand_prince",
      "an attempt at a step of order 5 with its length by the error: from {time to go, 0 or a first step, 1}",
      {{op_q, op_v, op_remaining, op_step, op_error, op_tau, op_target}},
      {{{"tolerances", {2}},  // absolute, relative
        {"kp", {nv}},
        {"kd", {nv}},
        {"limit_stiffness", {1}},
        {"limit_damping", {1}},
        {"friction_velocity", {1}}}},
      {{op_q_next,
        op_v_next,
        {"remaining_next", {1}},
        {"step_next", {1}},
        {"error_next", {1}}}},
      false,
      false,
      true};
  FEATHERSTORM_RUN {
    using T = ScalarOf<In>;
    const Drive drive{in[5], in[6], u[1], u[2]};
    const StepParameters<T> s{T(0.0), u[3][0], u[4][0], u[5][0]};
    StepControl<T> c{in[2][0], in[3][0], in[4][0]};
    dormand_prince(m, in[0], in[1], drive, FEATHERSTORM_NONE, s, ErrorTolerance<T>{u[0][0], u[0][1]}, c, out[0],
                   out[1]);
    out[2][0] = c.remaining, out[3][0] = c.step, out[4][0] = c.error;
  }
};

// What the rows of robots with time-dependent joints have in common.
struct TimedRow : BookRow {
  static constexpr bool takes_time = true;
  static constexpr bool host_only = true;
};
struct OpRneaTimed : TimedRow {
  static constexpr OpInfo<5, 0, 1> info{"rnea_timed",
                                        "rnea_forces of robots with time-dependent joints, at time t",
                                        {{op_q, op_v, op_a, op_f_ext, op_t}},
                                        {},
                                        {{op_tau}}};
  FEATHERSTORM_RUN {
    newton_euler(m, at_time(in[0], in[4][0]), drifting(m, in[0], in[1], in[4][0]), in[2], in[3], out[0]);
  }
};
struct OpFdTimed : TimedRow {
  static constexpr OpInfo<5, 0, 1> info{"fd_timed",
                                        "aba_forces of robots with time-dependent joints, at time t",
                                        {{op_q, op_v, op_tau, op_f_ext, op_t}},
                                        {},
                                        {{op_a}}};
  FEATHERSTORM_RUN { aba(m, at_time(in[0], in[4][0]), drifting(m, in[0], in[1], in[4][0]), in[2], in[3], out[0]); }
};
struct OpForwardKinematicsTimed : TimedRow {
  static constexpr OpInfo<2, 0, 1> info{"forward_kinematics_timed",
                                        "forward_kinematics of robots with time-dependent joints, at time t",
                                        {{op_q, op_t}},
                                        {},
                                        {{{"pose", {nf, 12}}}}};
  FEATHERSTORM_RUN { forward_kinematics(m, at_time(in[0], in[1][0]), out[0]); }
};
struct OpRneaTimedDerivatives : TimedRow {
  static constexpr OpInfo<5, 0, 3> info{
      "rnea_timed_derivatives",
      "derivatives of rnea_timed on the tangent space at fixed time, nv x nv by rows, and by time",
      {{op_q, op_v, op_a, op_f_ext, op_t}},
      {},
      {{{"dtau_dq", {nv, nv}}, {"dtau_dv", {nv, nv}}, {"dtau_dt", {nv}}}}};
  FEATHERSTORM_RUN { rnea_timed_derivatives(m, in[0], in[1], in[2], in[4][0], in[3], out[0], out[1], out[2]); }
};
struct OpFdTimedDerivatives : TimedRow {
  static constexpr OpInfo<5, 0, 5> info{
      "fd_timed_derivatives",
      "fd_timed and its derivatives on the tangent space at fixed time, nv x nv by rows, and by time",
      {{op_q, op_v, op_tau, op_f_ext, op_t}},
      {},
      {{op_a, {"da_dq", {nv, nv}}, {"da_dv", {nv, nv}}, {"da_dtau", {nv, nv}}, {"da_dt", {nv}}}}};
  FEATHERSTORM_RUN {
    fd_timed_derivatives(m, in[0], in[1], in[2], in[4][0], in[3], out[0], out[1], out[2], out[3], out[4]);
  }
};
struct OpRk4StepTimed : TimedRow {
  static constexpr OpInfo<5, 6, 3> info{"rk4_step_timed",
                                        "rk4_step of robots with time-dependent joints, from time t on",
                                        {{op_q, op_v, op_t, op_tau, op_target}},
                                        step_uniforms,
                                        {{op_q_next, op_v_next, {"t_next", {1}}}},
                                        false,
                                        false,
                                        true};
  FEATHERSTORM_RUN {
    using T = ScalarOf<In>;
    const Drive drive{in[3], in[4], u[1], u[2]};
    const auto s = step_parameters<T>(u);
    const T t = in[2][0];
    rk4_step_timed(m, in[0], in[1], t, drive, FEATHERSTORM_NONE, s, out[0], out[1]);
    out[2][0] = t + s.dt;
  }
};

using VariableStepOps = std::tuple<OpDormandPrince, OpRneaTimed, OpFdTimed, OpForwardKinematicsTimed,
                                   OpRneaTimedDerivatives, OpFdTimedDerivatives, OpRk4StepTimed>;

}  // namespace featherstorm
