// Rows of the table of operations (ops.h): dynamics as linear maps of the inertial parameters.
#pragma once
#include "core/rates/regressor.h"
#include "host/table/ops/book_row.h"

namespace featherstorm {

struct OpRegressor : BookRow {
  static constexpr OpInfo<3, 0, 1> info{"regressor",
                                        "tau = Y pi + armature a: inverse dynamics by inertial parameters, nv x 10 nb",
                                        {{op_q, op_v, op_a}},
                                        {},
                                        {{op_Y}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { regressor(m, in[0], in[1], in[2], out[0]); }
};
struct OpSlotineLiRegressor : BookRow {
  static constexpr OpInfo<4, 0, 1> info{"slotine_li_regressor",
                                        "M a_r + C v_r + g = Y pi + armature a_r, C of coriolis_matrix, nv x 10 nb",
                                        {{op_q, op_v, {"v_r", {nv}}, {"a_r", {nv}}}},
                                        {},
                                        {{op_Y}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { slotine_li_regressor(m, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpSlotineLiRegressorBodyFixed : BookRow {
  static constexpr OpInfo<4, 0, 1> info{"slotine_li_regressor_body_fixed",
                                        "slotine_li_regressor with coriolis_matrix_body_fixed, nv x 10 nb",
                                        {{op_q, op_v, {"v_r", {nv}}, {"a_r", {nv}}}},
                                        {},
                                        {{op_Y}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { slotine_li_regressor<Coriolis::BodyFixed>(m, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpMomentumRegressor : BookRow {
  static constexpr OpInfo<2, 0, 1> info{
      "momentum_regressor", "M v = Y pi + armature v, nv x 10 nb", {{op_q, op_v}}, {}, {{op_Y}}, false, true};
  FEATHERSTORM_RUN { momentum_regressor(m, in[0], in[1], out[0]); }
};
struct OpEnergyRegressor : BookRow {
  static constexpr OpInfo<2, 0, 2> info{"energy_regressor",
                                        "kinetic and potential energy by inertial parameters, 10 nb each",
                                        {{op_q, op_v}},
                                        {},
                                        {{{"y_T", {10 * nb}}, {"y_V", {10 * nb}}}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { energy_regressor(m, in[0], in[1], out[0], out[1]); }
};

using RegressorOps = std::tuple<OpRegressor, OpSlotineLiRegressor, OpSlotineLiRegressorBodyFixed, OpMomentumRegressor,
                                OpEnergyRegressor>;

}  // namespace featherstorm
