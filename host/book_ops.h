// Rows of the table of operations (ops.h) for what the books have beyond simulation: derivatives, rates, regressors,
// operational space, floating bases.
//
// Their run-time-model kernels are few, to keep builds short: for the base instruction set, which wider processors use
// too, and for the largest CUDA models, which smaller ones use too. Assembled and compiled kernels are as for any row.
#pragma once
#include <tuple>

#include "core/centroidal.h"
#include "core/fd_linearization.h"
#include "core/crba_rate.h"
#include "core/floating_base.h"
#include "core/hybrid_select.h"
#include "core/operational_inertia.h"
#include "core/regressor.h"
#include "core/rk4_step.h"
#include "core/rnea_second_derivatives.h"
#include "host/op_row.h"

namespace featherstorm {

// What the rows below have in common.
struct BookRow {
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  static constexpr bool host_only = false;  // without CUDA kernels, which would take the compiler minutes
};
inline constexpr OpArray op_u{"q_direction", Size::v}, op_du{"v_direction", Size::v}, op_C{"C", Size::vv},
    op_J{"J", Size::jacobian}, op_Y{"Y", Size::vb10}, op_x{"x", Size::v}, op_y{"y", Size::v}, op_b{"b", Size::v};

// ---- derivatives by the state ----

struct OpRneaDerivatives : BookRow {
  static constexpr OpInfo<4, 0, 2> info{"rnea_derivatives",
                                        "derivatives of inverse dynamics on the tangent space, nv x nv by rows",
                                        {{op_q, op_v, op_a, op_f_ext}},
                                        {},
                                        {{{"dtau_dq", Size::vv}, {"dtau_dv", Size::vv}}}};
  FEATHERSTORM_RUN { rnea_derivatives(m, in[0], in[1], in[2], in[3], out[0], out[1]); }
};
struct OpFdDerivatives : BookRow {
  static constexpr OpInfo<4, 0, 4> info{
      "fd_derivatives",
      "forward dynamics and its derivatives on the tangent space, nv x nv by rows",
      {{op_q, op_v, op_tau, op_f_ext}},
      {},
      {{op_a, {"da_dq", Size::vv}, {"da_dv", Size::vv}, {"da_dtau", Size::vv}}}};
  FEATHERSTORM_RUN { fd_derivatives(m, in[0], in[1], in[2], in[3], out[0], out[1], out[2], out[3]); }
};
struct OpFdLinearization : BookRow {
  static constexpr OpInfo<4, 0, 3> info{"fd_linearization",
                                        "x' = A x + B tau of forward dynamics, x = (dq, v) on the tangent space",
                                        {{op_q, op_v, op_tau, op_f_ext}},
                                        {},
                                        {{op_a, {"A", Size::v2v2}, {"B", Size::v2v}}}};
  FEATHERSTORM_RUN { fd_linearization(m, in[0], in[1], in[2], in[3], out[0], out[1], out[2]); }
};
struct OpRneaSecondDerivatives : BookRow {
  static constexpr OpInfo<7, 0, 2> info{
      "rnea_second_derivatives",
      "derivatives of rnea_derivatives along a direction of (q, v, a)",
      {{op_q, op_v, op_a, op_f_ext, op_u, op_du, {"a_direction", Size::v}}},
      {},
      {{{"by_q", Size::vv}, {"by_v", Size::vv}}}};
  static constexpr bool host_only = true;
  FEATHERSTORM_RUN {
    rnea_second_derivatives(m, in[0], in[1], in[2], in[3], in[4], in[5], in[6], out[0], out[1]);
  }
};

// ---- matrices and their rates ----

struct OpCrbaRate : BookRow {
  static constexpr OpInfo<2, 0, 1> info{
      "crba_rate", "dM/dt, packed", {{op_q, op_v}}, {}, {{{"M_rate", Size::h}}}};
  FEATHERSTORM_RUN { crba_rate(m, in[0], in[1], out[0]); }
};
struct OpCoriolisMatrix : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"coriolis_matrix",
                                        "Coriolis matrix of the Christoffel symbols, nv x nv",
                                        {{op_q, op_v}},
                                        {},
                                        {{op_C}}};
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
  static constexpr OpInfo<2, 0, 1> info{
      "coriolis_matrix_mass_centre",
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
                                        {{{"C_rate", Size::vv}}}};
  FEATHERSTORM_RUN { coriolis_matrix_rate(m, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpGravityTorquesRate : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"gravity_torques_rate",
                                        "derivative of gravity torques along a direction of q",
                                        {{op_q, op_u}},
                                        {},
                                        {{{"tau_rate", Size::v}}}};
  FEATHERSTORM_RUN { gravity_torques_rate(m, in[0], in[1], out[0]); }
};
struct OpJacobianRate : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"jacobian_rate",
                                        "derivative of a frame's Jacobian along a direction of q, 6 x nv",
                                        {{op_q, op_u}},
                                        {},
                                        {{{"J_rate", Size::jacobian}}},
                                        true};
  FEATHERSTORM_RUN { jacobian_rate(m, in[0], in[1], frame, out[0]); }
};
struct OpJacobianSecondRate : BookRow {
  static constexpr OpInfo<4, 0, 1> info{"jacobian_second_rate",
                                        "derivative of jacobian_rate at v along a direction of (q, v), 6 x nv",
                                        {{op_q, op_v, op_u, op_du}},
                                        {},
                                        {{{"J_second_rate", Size::jacobian}}},
                                        true};
  FEATHERSTORM_RUN { jacobian_second_rate(m, in[0], in[1], in[2], in[3], frame, out[0]); }
};

// ---- momentum and centre of mass ----

struct OpCentroidalMomentumMatrix : BookRow {
  static constexpr OpInfo<1, 0, 1> info{"centroidal_momentum_matrix",
                                        "momentum about the centre of mass as a map of v, 6 x nv, angular first",
                                        {{op_q}},
                                        {},
                                        {{{"A", Size::jacobian}}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { centroidal_momentum_matrix(m, in[0], out[0]); }
};
struct OpCentroidalMomentumRate : BookRow {
  static constexpr OpInfo<2, 0, 2> info{"centroidal_momentum_rate",
                                        "dA/dt of the centroidal momentum matrix, and dA/dt v",
                                        {{op_q, op_v}},
                                        {},
                                        {{{"A_rate", Size::jacobian}, {"h_rate", Size::six}}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { centroidal_momentum_rate(m, in[0], in[1], out[0], out[1]); }
};
struct OpComJacobian : BookRow {
  static constexpr OpInfo<1, 0, 1> info{"com_jacobian",
                                        "Jacobian of the centre of mass, 3 x nv, world axes",
                                        {{op_q}},
                                        {},
                                        {{{"J", Size::v3}}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { com_jacobian(m, in[0], out[0]); }
};

// ---- operational space ----

struct OpOperationalSpace : BookRow {
  static constexpr OpInfo<2, 2, 5> info{
      "operational_space",
      "equation of motion of a frame: J M^-1 J^T, its inverse, velocity and gravity force, consistent inverse of J",
      {{op_q, op_v}},
      {{{"regularisation", Size::one}, {"tolerance", Size::one}}},
      {{{"Phi", Size::matrix6},
        {"Lambda", Size::matrix6},
        {"mu", Size::six},
        {"p", Size::six},
        {"J_inverse", Size::jacobian}}},
      true};
  FEATHERSTORM_RUN {
    operational_space(m, in[0], in[1], frame, u[0][0], u[1][0], out[0], out[1], out[2], out[3], out[4]);
  }
};
struct OpOperationalInertia : BookRow {
  static constexpr OpInfo<1, 0, 1> info{"operational_inertia",
                                        "J M^-1 J^T of a frame, 6 x 6, world axes, angular first",
                                        {{op_q}},
                                        {},
                                        {{{"Phi", Size::matrix6}}},
                                        true};
  static constexpr int variants = 2;
  FEATHERSTORM_RUN {
    using T = ScalarOf<In>;
    if constexpr (variant == 0) operational_inertia_aba(m, in[0], &frame, 1, out[0]);
    if constexpr (variant == 1) {
      auto L = scratch<T>(m.nh);
      auto J = scratch<T>(sixfold(m.nv));
      crba(m, in[0], L.data());
      ltdl(m, L.data());
      jacobian(m, in[0], frame, J.data());
      operational_inertia(m, L.data(), 6, J.data(), out[0]);
    }
  }
};

// ---- regressors ----

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
                                        {{op_q, op_v, {"v_r", Size::v}, {"a_r", Size::v}}},
                                        {},
                                        {{op_Y}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { slotine_li_regressor(m, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpSlotineLiRegressorBodyFixed : BookRow {
  static constexpr OpInfo<4, 0, 1> info{"slotine_li_regressor_body_fixed",
                                        "slotine_li_regressor with coriolis_matrix_body_fixed, nv x 10 nb",
                                        {{op_q, op_v, {"v_r", Size::v}, {"a_r", Size::v}}},
                                        {},
                                        {{op_Y}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { slotine_li_regressor<Coriolis::BodyFixed>(m, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpMomentumRegressor : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"momentum_regressor",
                                        "M v = Y pi + armature v, nv x 10 nb",
                                        {{op_q, op_v}},
                                        {},
                                        {{op_Y}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { momentum_regressor(m, in[0], in[1], out[0]); }
};
struct OpEnergyRegressor : BookRow {
  static constexpr OpInfo<2, 0, 2> info{"energy_regressor",
                                        "kinetic and potential energy by inertial parameters, 10 nb each",
                                        {{op_q, op_v}},
                                        {},
                                        {{{"y_T", Size::bodies10}, {"y_V", Size::bodies10}}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { energy_regressor(m, in[0], in[1], out[0], out[1]); }
};

// ---- hybrid dynamics, floating bases ----

struct OpHybridDynamics : BookRow {
  static constexpr OpInfo<5, 1, 2> info{
      "hybrid_dynamics",
      "some coordinates are given a, the others tau; prescribed: 1 for those with given a, else 0",
      {{op_q, op_v, op_a, op_tau, op_f_ext}},
      {{{"prescribed", Size::v}}},
      {{op_a, op_tau}}};
  FEATHERSTORM_RUN { hybrid_select(m, u[0], in[0], in[1], in[2], in[3], in[4], out[0], out[1]); }
};
struct OpFloatingInertia : BookRow {
  static constexpr OpInfo<1, 0, 2> info{
      "floating_inertia",
      "composite inertia of a floating robot and its momentum by each joint's velocity",
      {{op_q}},
      {},
      {{{"I0", Size::matrix6}, {"F", Size::joints6}}},
      false,
      true,
      false,
      true};
  FEATHERSTORM_RUN { floating_inertia(m, in[0], out[0], out[1]); }
};
struct OpFloatingBias : BookRow {
  static constexpr OpInfo<3, 0, 2> info{"floating_bias",
                                        "bias force on a floating base, its axes, and on the joints",
                                        {{op_q, op_v, op_f_ext}},
                                        {},
                                        {{{"p0", Size::six}, {"C", Size::joints}}},
                                        false,
                                        true,
                                        false,
                                        true};
  FEATHERSTORM_RUN { floating_bias(m, in[0], in[1], in[2], out[0], out[1]); }
};
struct OpFloatingId : BookRow {
  static constexpr OpInfo<4, 0, 2> info{
      "floating_id",
      "inverse dynamics with the joints' accelerations known and the floating base's not",
      {{op_q, op_v, op_a, op_f_ext}},
      {},
      {{op_a, op_tau}},
      false,
      true,
      false,
      true};
  FEATHERSTORM_RUN { floating_id(m, in[0], in[1], in[2], in[3], out[0], out[1]); }
};
struct OpFloatingJacobian : BookRow {
  static constexpr OpInfo<1, 0, 1> info{"floating_jacobian",
                                        "Jacobian of a frame by the joints while momentum is conserved, 6 x (nv - 6)",
                                        {{op_q}},
                                        {},
                                        {{{"J", Size::joints6}}},
                                        true,
                                        true,
                                        false,
                                        true};
  FEATHERSTORM_RUN { floating_jacobian(m, in[0], frame, out[0]); }
};

// ---- integration, factors ----

struct OpRk4Step : BookRow {
  static constexpr OpInfo<4, 6, 2> info{"rk4_step",
                                        "Runge-Kutta steps of order four under torques and PD drives",
                                        {{op_q, op_v, op_tau, {"target", Size::v}}},
                                        {{{"dt", Size::one},
                                          {"kp", Size::v},
                                          {"kd", Size::v},
                                          {"limit_stiffness", Size::one},
                                          {"limit_damping", Size::one},
                                          {"friction_velocity", Size::one}}},
                                        {{{"q_next", Size::q}, {"v_next", Size::v}}},
                                        false,
                                        false,
                                        true};
  static constexpr int variants = 2;
  FEATHERSTORM_RUN {
    const Drive drive{in[2], in[3], u[1], u[2]};
    const StepParameters<ScalarOf<In>> s{u[0][0], u[3][0], u[4][0], u[5][0]};
    if constexpr (variant == 0) rk4_step_aba(m, in[0], in[1], drive, FEATHERSTORM_NONE, s, out[0], out[1]);
    if constexpr (variant == 1) rk4_step(m, in[0], in[1], drive, FEATHERSTORM_NONE, s, out[0], out[1]);
  }
};
struct OpSolveLtl : BookRow {
  static constexpr OpInfo<2, 0, 1> info{
      "solve_ltl", "x = M^-1 b with the factor of ltl", {{{"L_ltl", Size::h}, op_b}}, {}, {{op_x}}};
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.nv; k++) out[0][k] = in[1][k];
    solve<Factor::LTL>(m, in[0], out[0]);
  }
};
struct OpSolveL : BookRow {
  static constexpr OpInfo<2, 0, 1> info{
      "solve_l", "x = L^-1 b with the factor of ltdl", {{op_L, op_b}}, {}, {{op_x}}};
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.nv; k++) out[0][k] = in[1][k];
    solve_l<Factor::LTDL>(m, in[0], out[0]);
  }
};
struct OpSolveLt : BookRow {
  static constexpr OpInfo<2, 0, 1> info{
      "solve_lt", "x = L^-T b with the factor of ltdl", {{op_L, op_b}}, {}, {{op_x}}};
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.nv; k++) out[0][k] = in[1][k];
    solve_lt<Factor::LTDL>(m, in[0], out[0]);
  }
};
struct OpMulL : BookRow {
  static constexpr OpInfo<2, 0, 1> info{
      "mul_l", "y = L x with the factor of ltdl", {{op_L, op_x}}, {}, {{op_y}}};
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.nv; k++) out[0][k] = in[1][k];
    mul_l<Factor::LTDL>(m, in[0], out[0]);
  }
};
struct OpMulLt : BookRow {
  static constexpr OpInfo<2, 0, 1> info{
      "mul_lt", "y = L^T x with the factor of ltdl", {{op_L, op_x}}, {}, {{op_y}}};
  FEATHERSTORM_RUN { mul_lt<Factor::LTDL>(m, in[0], in[1], out[0]); }
};

using BookOps =
    std::tuple<OpRneaDerivatives, OpFdDerivatives, OpFdLinearization, OpRneaSecondDerivatives, OpCrbaRate,
               OpCoriolisMatrix, OpCoriolisMatrixBodyFixed, OpCoriolisMatrixMassCentre, OpCoriolisMatrixRate,
               OpGravityTorquesRate, OpJacobianRate, OpJacobianSecondRate, OpCentroidalMomentumMatrix,
               OpCentroidalMomentumRate, OpComJacobian, OpOperationalSpace, OpOperationalInertia, OpRegressor,
               OpSlotineLiRegressor, OpSlotineLiRegressorBodyFixed, OpMomentumRegressor, OpEnergyRegressor,
               OpHybridDynamics, OpFloatingInertia, OpFloatingBias, OpFloatingId, OpFloatingJacobian, OpRk4Step,
               OpSolveLtl, OpSolveL, OpSolveLt, OpMulL, OpMulLt>;

}  // namespace featherstorm
