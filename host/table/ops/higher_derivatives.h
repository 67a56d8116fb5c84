// Rows for further derivatives: of forward and hybrid dynamics, along directions and by parameters, and rates along a
// motion (Garofalo et al.; Kim section 4). Tensors of nv^3 numbers are not rows: a row gives their product with one
// direction, and a unit vector gives a slice (state_tensors.h puts slices together).
#pragma once
#include "core/derivatives/fd_parameter_derivatives.h"
#include "core/derivatives/fd_second_derivatives.h"
#include "core/hybrid/hybrid_derivatives.h"
#include "core/rates/elastic_joints.h"
#include "core/rates/higher_rates.h"
#include "core/rates/state_tensors.h"
#include "host/table/ops/book_row.h"

namespace featherstorm {

inline constexpr OpArray op_jerk{"jerk", {nv}}, op_snap{"snap", {nv}};

struct OpFdSecondDerivatives : BookRow {
  static constexpr OpInfo<7, 0, 3> info{
      "fd_second_derivatives",
      "derivatives of da/dq, da/dv, da/dtau of fd_derivatives along a direction of (q, v, tau), nv x nv by rows",
      {{op_q, op_v, op_tau, op_f_ext, op_u, op_du, {"tau_direction", {nv}}}},
      {},
      {{{"by_q", {nv, nv}}, {"by_v", {nv, nv}}, {"by_tau", {nv, nv}}}}};
  static constexpr bool host_only = true;  // 23 s of nvcc for one precision
  FEATHERSTORM_RUN {
    fd_second_derivatives(m, in[0], in[1], in[2], in[3], in[4], in[5], in[6], out[0], out[1], out[2]);
  }
};
struct OpFdParameterDerivatives : BookRow {
  static constexpr OpInfo<4, 0, 2> info{
      "fd_parameter_derivatives",
      "forward dynamics and its derivatives by the inertial parameters of all bodies (order of regressor), nv x 10 nb",
      {{op_q, op_v, op_tau, op_f_ext}},
      {},
      {{op_a, {"da_dpi", {nv, 10 * nb}}}},
      false,
      true};
  FEATHERSTORM_RUN { fd_parameter_derivatives(m, in[0], in[1], in[2], in[3], out[0], out[1]); }
};
struct OpHybridDerivatives : BookRow {
  static constexpr OpInfo<5, 1, 5> info{
      "hybrid_derivatives",
      "hybrid_dynamics and derivatives of its results y (tau where a is prescribed, else a) by q, v and what is given, "
      "nv x nv by rows",
      {{op_q, op_v, op_a, op_tau, op_f_ext}},
      {{{"prescribed", {nv}}}},
      {{op_a, op_tau, {"y_q", {nv, nv}}, {"y_v", {nv, nv}}, {"y_x", {nv, nv}}}}};
  FEATHERSTORM_RUN {
    hybrid_derivatives_select(m, u[0], in[0], in[1], in[2], in[3], in[4], out[0], out[1], out[2], out[3], out[4]);
  }
};
struct OpInverseInertiaRate : BookRow {
  static constexpr OpInfo<2, 0, 2> info{
      "inverse_inertia_rate",
      "M^-1 and its derivative along a direction of q, nv x nv; unit vectors give the slices of dM^-1/dq",
      {{op_q, op_u}},
      {},
      {{{"M_inverse", {nv, nv}}, {"M_inverse_rate", {nv, nv}}}}};
  FEATHERSTORM_RUN { inverse_inertia_rate(m, in[0], in[1], out[0], out[1]); }
};
struct OpCoriolisMatrixRateBodyFixed : BookRow {
  static constexpr OpInfo<4, 0, 1> info{"coriolis_matrix_rate_body_fixed",
                                        "derivative of coriolis_matrix_body_fixed along a direction of (q, v)",
                                        {{op_q, op_v, op_u, op_du}},
                                        {},
                                        {{{"C_rate", {nv, nv}}}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { coriolis_matrix_rate<Coriolis::BodyFixed>(m, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpCoriolisMatrixRateMassCentre : BookRow {
  static constexpr OpInfo<4, 0, 1> info{"coriolis_matrix_rate_mass_centre",
                                        "derivative of coriolis_matrix_mass_centre along a direction of (q, v)",
                                        {{op_q, op_v, op_u, op_du}},
                                        {},
                                        {{{"C_rate", {nv, nv}}}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { coriolis_matrix_rate<Coriolis::MassCentre>(m, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpCrbaSecondRate : BookRow {
  static constexpr OpInfo<3, 0, 1> info{
      "crba_second_rate", "d^2M/dt^2 along a motion, packed", {{op_q, op_v, op_a}}, {}, {{{"M_second_rate", {nh}}}}};
  FEATHERSTORM_RUN { crba_second_rate(m, in[0], in[1], in[2], out[0]); }
};
struct OpGravityTorquesSecondRate : BookRow {
  static constexpr OpInfo<3, 0, 1> info{"gravity_torques_second_rate",
                                        "second rate of the gravity torques along a motion",
                                        {{op_q, op_v, op_a}},
                                        {},
                                        {{{"tau_second_rate", {nv}}}}};
  FEATHERSTORM_RUN { gravity_torques_second_rate(m, in[0], in[1], in[2], out[0]); }
};
struct OpCoriolisMatrixSecondRate : BookRow {
  static constexpr OpInfo<4, 0, 1> info{"coriolis_matrix_second_rate",
                                        "second rate of coriolis_matrix along a motion, nv x nv; jerk is da/dt",
                                        {{op_q, op_v, op_a, op_jerk}},
                                        {},
                                        {{{"C_second_rate", {nv, nv}}}}};
  static constexpr bool host_only = true;  // 13 s of nvcc for one precision
  FEATHERSTORM_RUN { coriolis_matrix_second_rate(m, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpRneaRate : BookRow {
  static constexpr OpInfo<4, 0, 2> info{"rnea_rate",
                                        "inverse dynamics and its rate along a motion; jerk is da/dt",
                                        {{op_q, op_v, op_a, op_jerk}},
                                        {},
                                        {{op_tau, {"tau_rate", {nv}}}}};
  FEATHERSTORM_RUN { rnea_rate(m, in[0], in[1], in[2], in[3], out[0], out[1]); }
};
struct OpRneaSecondRate : BookRow {
  static constexpr OpInfo<5, 0, 3> info{"rnea_second_rate",
                                        "inverse dynamics with two rates along a motion; snap is d^2a/dt^2",
                                        {{op_q, op_v, op_a, op_jerk, op_snap}},
                                        {},
                                        {{op_tau, {"tau_rate", {nv}}, {"tau_second_rate", {nv}}}}};
  FEATHERSTORM_RUN { rnea_second_rate(m, in[0], in[1], in[2], in[3], in[4], out[0], out[1], out[2]); }
};
struct OpElasticFeedforward : BookRow {
  static constexpr OpInfo<5, 2, 3> info{
      "elastic_feedforward",
      "elastic joints: deflection, velocity and torque of motors that give the links a motion",
      {{op_q, op_v, op_a, op_jerk, op_snap}},
      {{{"stiffness", {nv}}, {"motor_inertia", {nv}}}},
      {{{"deflection", {nv}}, {"motor_velocity", {nv}}, {"motor_tau", {nv}}}}};
  FEATHERSTORM_RUN { elastic_feedforward(m, in[0], in[1], in[2], in[3], in[4], u[0], u[1], out[0], out[1], out[2]); }
};

using HigherDerivativeOps = std::tuple<OpFdSecondDerivatives, OpFdParameterDerivatives, OpHybridDerivatives,
                                       OpInverseInertiaRate, OpCoriolisMatrixRateBodyFixed,
                                       OpCoriolisMatrixRateMassCentre, OpCrbaSecondRate, OpGravityTorquesSecondRate,
                                       OpCoriolisMatrixSecondRate, OpRneaRate, OpRneaSecondRate, OpElasticFeedforward>;

}  // namespace featherstorm
