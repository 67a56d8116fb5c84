// Rows of the table of operations (ops.h): inertia and Coriolis matrices, gravity and Jacobians: their rates.
#pragma once
#include "core/rates/coriolis_matrix.h"
#include "core/rates/crba_rate.h"
#include "core/rates/rates.h"
#include "host/table/ops/book_row.h"

namespace featherstorm {

struct OpCrbaRate : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"crba_rate", "dM/dt, packed", {{op_q, op_v}}, {}, {{{"M_rate", {nh}}}}};
  FEATHERSTORM_RUN { crba_rate(m, in[0], in[1], out[0]); }
};
struct OpCoriolisMatrix : BookRow {
  static constexpr OpInfo<2, 0, 1> info{
      "coriolis_matrix", "Coriolis matrix of the Christoffel symbols, nv x nv", {{op_q, op_v}}, {}, {{op_C}}};
  FEATHERSTORM_RUN { coriolis_matrix<Coriolis::Christoffel>(m, in[0], in[1], out[0]); }
};
struct OpCoriolisMatrixBodyFixed : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"coriolis_matrix_body_fixed",
                                        "Coriolis matrix of Garofalo, Ott and Albu-Schaeffer, nv x nv",
                                        {{op_q, op_v}},
                                        {},
                                        {{op_C}},
                                        false,
                                        true};  // C v alone is the same for regrouped inertias
  FEATHERSTORM_RUN { coriolis_matrix<Coriolis::BodyFixed>(m, in[0], in[1], out[0]); }
};
struct OpCoriolisMatrixMassCentre : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"coriolis_matrix_mass_centre",
                                        "Coriolis matrix of Liu and Jain, at the mass centres, nv x nv",
                                        {{op_q, op_v}},
                                        {},
                                        {{op_C}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { coriolis_matrix<Coriolis::MassCentre>(m, in[0], in[1], out[0]); }
};
struct OpCoriolisMatrixRate : BookRow {
  static constexpr OpInfo<4, 0, 1> info{"coriolis_matrix_rate",
                                        "derivative of coriolis_matrix along a direction of (q, v)",
                                        {{op_q, op_v, op_u, op_du}},
                                        {},
                                        {{{"C_rate", {nv, nv}}}}};
  FEATHERSTORM_RUN { coriolis_matrix_rate(m, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpGravityTorquesRate : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"gravity_torques_rate",
                                        "derivative of gravity torques along a direction of q",
                                        {{op_q, op_u}},
                                        {},
                                        {{{"tau_rate", {nv}}}}};
  FEATHERSTORM_RUN { gravity_torques_rate(m, in[0], in[1], out[0]); }
};
struct OpJacobianRate : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"jacobian_rate",
                                        "derivative of a frame's Jacobian along a direction of q, 6 x nv",
                                        {{op_q, op_u}},
                                        {},
                                        {{{"J_rate", {6, nv}}}},
                                        true};
  FEATHERSTORM_RUN { jacobian_rate(m, in[0], in[1], frame, out[0]); }
};
struct OpJacobianSecondRate : BookRow {
  static constexpr OpInfo<4, 0, 1> info{"jacobian_second_rate",
                                        "derivative of jacobian_rate at v along a direction of (q, v), 6 x nv",
                                        {{op_q, op_v, op_u, op_du}},
                                        {},
                                        {{{"J_second_rate", {6, nv}}}},
                                        true};
  FEATHERSTORM_RUN { jacobian_second_rate(m, in[0], in[1], in[2], in[3], frame, out[0]); }
};

using MatrixOps = std::tuple<OpCrbaRate, OpCoriolisMatrix, OpCoriolisMatrixBodyFixed, OpCoriolisMatrixMassCentre,
                             OpCoriolisMatrixRate, OpGravityTorquesRate, OpJacobianRate, OpJacobianSecondRate>;

}  // namespace featherstorm
