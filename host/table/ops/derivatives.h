// Rows of the table of operations (ops.h): derivatives of inverse and forward dynamics by the state.
#pragma once
#include "core/derivatives/fd_linearization.h"
#include "core/derivatives/rnea_second_derivatives.h"
#include "host/table/ops/book_row.h"

namespace featherstorm {

struct OpRneaDerivatives : BookRow {
  static constexpr OpInfo<4, 0, 2> info{"rnea_derivatives",
                                        "derivatives of inverse dynamics on the tangent space, nv x nv by rows",
                                        {{op_q, op_v, op_a, op_f_ext}},
                                        {},
                                        {{{"dtau_dq", {nv, nv}}, {"dtau_dv", {nv, nv}}}}};
  FEATHERSTORM_RUN { rnea_derivatives(m, in[0], in[1], in[2], in[3], out[0], out[1]); }
};
struct OpFdDerivatives : BookRow {
  static constexpr OpInfo<4, 0, 4> info{"fd_derivatives",
                                        "forward dynamics and its derivatives on the tangent space, nv x nv by rows",
                                        {{op_q, op_v, op_tau, op_f_ext}},
                                        {},
                                        {{op_a, {"da_dq", {nv, nv}}, {"da_dv", {nv, nv}}, {"da_dtau", {nv, nv}}}}};
  FEATHERSTORM_RUN { fd_derivatives(m, in[0], in[1], in[2], in[3], out[0], out[1], out[2], out[3]); }
};
struct OpFdLinearization : BookRow {
  static constexpr OpInfo<4, 0, 3> info{"fd_linearization",
                                        "x' = A x + B tau of forward dynamics, x = (dq, v) on the tangent space",
                                        {{op_q, op_v, op_tau, op_f_ext}},
                                        {},
                                        {{op_a, {"A", {2 * nv, 2 * nv}}, {"B", {2 * nv, nv}}}}};
  FEATHERSTORM_RUN { fd_linearization(m, in[0], in[1], in[2], in[3], out[0], out[1], out[2]); }
};
struct OpRneaSecondDerivatives : BookRow {
  static constexpr OpInfo<7, 0, 2> info{"rnea_second_derivatives",
                                        "derivatives of rnea_derivatives along a direction of (q, v, a)",
                                        {{op_q, op_v, op_a, op_f_ext, op_u, op_du, {"a_direction", {nv}}}},
                                        {},
                                        {{{"by_q", {nv, nv}}, {"by_v", {nv, nv}}}}};
  FEATHERSTORM_RUN { rnea_second_derivatives(m, in[0], in[1], in[2], in[3], in[4], in[5], in[6], out[0], out[1]); }
};

using DerivativeOps = std::tuple<OpRneaDerivatives, OpFdDerivatives, OpFdLinearization, OpRneaSecondDerivatives>;

}  // namespace featherstorm
