// Rows of the table of operations (ops.h): integrators beyond step.
#pragma once
#include "core/step/rk4_step.h"
#include "host/table/ops/book_row.h"
#include "host/table/ops/stepping.h"

namespace featherstorm {

struct OpRk4Step : BookRow {
  static constexpr OpInfo<4, 6, 2> info{"rk4_step",
                                        "Runge-Kutta steps of order four under torques and PD drives",
                                        {{op_q, op_v, op_tau, op_target}},
                                        step_uniforms,
                                        {{op_q_next, op_v_next}},
                                        false,
                                        false,
                                        true};
  static constexpr int variants = 2;
  FEATHERSTORM_RUN {
    const Drive drive{in[2], in[3], u[1], u[2]};
    const auto s = step_parameters<ScalarOf<In>>(u);
    if constexpr (variant == 0) rk4_step_aba(m, in[0], in[1], drive, FEATHERSTORM_NONE, s, out[0], out[1]);
    if constexpr (variant == 1) rk4_step(m, in[0], in[1], drive, FEATHERSTORM_NONE, s, out[0], out[1]);
  }
};

using IntegrationOps = std::tuple<OpRk4Step>;

}  // namespace featherstorm
