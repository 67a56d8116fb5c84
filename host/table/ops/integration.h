// Steps of fixed length.
#pragma once
#include "core/step/rk4_step.h"
#include "core/step/step.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpStep {
  static constexpr OpInfo info{
      .name = "step",
      .summary = "semi-implicit Euler steps under torques and PD drives",
      .equation = "(M + dt D) a = tau + kp (target - q) - C - D v,  v_next = v + dt a,  q_next = q (+) v_next dt",
      .source = "core/step/step.h",
      .in = {q, v, tau, target},
      .uniform = step_uniforms,
      .out = {q_next, v_next},
      .carried = true,
      .condition = Condition::solves,
      .variants = 2,
      .common = true,
  };
  template <int variant, class In, class U, class T, class Out>
  FS_HD static void run(const auto& m, In q, In v, In tau, In target, T dt, U kp, U kd, T limit_stiffness,
                        T limit_damping, T friction_velocity, Out q_next, Out v_next) {
    const Drive drive{tau, target, kp, kd};
    const auto s = step_parameters(dt, limit_stiffness, limit_damping, friction_velocity);
    if constexpr (variant == 0) step_aba(m, q, v, drive, none(q), s, q_next, v_next);
    if constexpr (variant == 1) step(m, q, v, drive, none(q), s, q_next, v_next);
  }
};

struct OpRk4Step {
  static constexpr OpInfo info{
      .name = "rk4_step",
      .summary = "Runge-Kutta steps of order four under torques and PD drives",
      .equation = "v_next = v + dt (a1 + 2 a2 + 2 a3 + a4)/6,  q_next = q (+) dt (k1 + 2 k2 + 2 k3 + k4)/6",
      .source = "Munthe-Kaas 1998",
      .in = {q, v, tau, target},
      .uniform = step_uniforms,
      .out = {q_next, v_next},
      .carried = true,
      .condition = Condition::solves,
      .variants = 2,
  };
  template <int variant, class In, class U, class T, class Out>
  FS_HD static void run(const auto& m, In q, In v, In tau, In target, T dt, U kp, U kd, T limit_stiffness,
                        T limit_damping, T friction_velocity, Out q_next, Out v_next) {
    const Drive drive{tau, target, kp, kd};
    const auto s = step_parameters(dt, limit_stiffness, limit_damping, friction_velocity);
    if constexpr (variant == 0) rk4_step_aba(m, q, v, drive, none(q), s, q_next, v_next);
    if constexpr (variant == 1) rk4_step(m, q, v, drive, none(q), s, q_next, v_next);
  }
};

struct Integration {
  static constexpr std::string_view title = "Steps in time";
  using Rows = List<OpStep, OpRk4Step>;
};

}  // namespace featherstorm::table
