// Rates of the inertia matrix, gravity and Jacobians; Coriolis matrices.
#pragma once
#include "core/rates/coriolis_matrix.h"
#include "core/rates/crba_rate.h"
#include "core/rates/rates.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpCrbaRate {
  static constexpr OpInfo info{
      .name = "crba_rate",
      .summary = "dM/dt, packed",
      .equation = "dM/dt",
      .source = "Garofalo et al. (25a)",
      .in = {q, v},
      .out = {{"M_rate", {nh}, "kg m^2/s", "dM/dt, packed"}},
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto M_rate) { crba_rate(m, q, v, M_rate); }
};

struct OpCoriolisMatrix {
  static constexpr OpInfo info{
      .name = "coriolis_matrix",
      .summary = "Coriolis matrix of the Christoffel symbols, nv x nv",
      .equation = "C v = rnea(q, v, 0) without gravity,  C + C^T = dM/dt",
      .source = "Lynch and Park (9.87); Echeandia and Wensing 2021",
      .in = {q, v},
      .out = {C},
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto C) { coriolis_matrix<Coriolis::Christoffel>(m, q, v, C); }
};

struct OpCoriolisMatrixBodyFixed {
  static constexpr OpInfo info{
      .name = "coriolis_matrix_body_fixed",
      .summary = "Coriolis matrix of Garofalo, Ott and Albu-Schaeffer, nv x nv",
      .equation = "C = sum J^T (Psi J + I dJ/dt)",
      .source = "Garofalo et al. (6b)",
      .in = {q, v},
      .out = {C},
      .per_body = true,
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto C) { coriolis_matrix<Coriolis::BodyFixed>(m, q, v, C); }
};

struct OpCoriolisMatrixMassCentre {
  static constexpr OpInfo info{
      .name = "coriolis_matrix_mass_centre",
      .summary = "Coriolis matrix of Liu and Jain, at the mass centres, nv x nv",
      .equation = "C = J^T M_c dJ/dt + J^T w~ M_c J",
      .source = "Liu and Jain (46)",
      .in = {q, v},
      .out = {C},
      .per_body = true,
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto C) { coriolis_matrix<Coriolis::MassCentre>(m, q, v, C); }
};

struct OpCoriolisMatrixRate {
  static constexpr OpInfo info{
      .name = "coriolis_matrix_rate",
      .summary = "derivative of coriolis_matrix along a direction of (q, v)",
      .equation = "d/de C(q (+) e u, v + e w)",
      .source = "Garofalo et al. (25b)",
      .in = {q, v, q_direction, v_direction},
      .out = {C_rate},
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto q_direction, auto v_direction, auto C_rate) {
    coriolis_matrix_rate(m, q, v, q_direction, v_direction, C_rate);
  }
};

struct OpGravityTorquesRate {
  static constexpr OpInfo info{
      .name = "gravity_torques_rate",
      .summary = "derivative of gravity torques along a direction of q",
      .equation = "d/de g(q (+) e u)",
      .source = "Garofalo et al. (25c)",
      .in = {q, q_direction},
      .out = {tau_rate},
  };
  FS_HD static void run(const auto& m, auto q, auto q_direction, auto tau_rate) {
    gravity_torques_rate(m, q, q_direction, tau_rate);
  }
};

struct OpJacobianRate {
  static constexpr OpInfo info{
      .name = "jacobian_rate",
      .summary = "derivative of a frame's Jacobian along a direction of q, 6 x nv",
      .equation = "d/de J(q (+) e u)",
      .source = "Garofalo et al. (28)-(32)",
      .in = {q, q_direction},
      .out = {{"J_rate", {6, nv}, "1/s", "rate of the Jacobian"}},
      .uses_frame = true,
  };
  FS_HD static void run(const auto& m, int frame, auto q, auto q_direction, auto J_rate) {
    jacobian_rate(m, q, q_direction, frame, J_rate);
  }
};

struct OpJacobianSecondRate {
  static constexpr OpInfo info{
      .name = "jacobian_second_rate",
      .summary = "derivative of jacobian_rate at v along a direction of (q, v), 6 x nv",
      .equation = "d/de J_rate(q (+) e u, v + e w)",
      .source = "Garofalo et al. section V",
      .in = {q, v, q_direction, v_direction},
      .out = {{"J_second_rate", {6, nv}, "1/s^2", "second rate of the Jacobian"}},
      .uses_frame = true,
  };
  FS_HD static void run(const auto& m, int frame, auto q, auto v, auto q_direction, auto v_direction,
                        auto J_second_rate) {
    jacobian_second_rate(m, q, v, q_direction, v_direction, frame, J_second_rate);
  }
};

struct Matrices {
  static constexpr std::string_view title = "Rates of matrices and gravity";
  using Rows = List<OpCrbaRate, OpCoriolisMatrix, OpCoriolisMatrixBodyFixed, OpCoriolisMatrixMassCentre,
                    OpCoriolisMatrixRate, OpGravityTorquesRate, OpJacobianRate, OpJacobianSecondRate>;
};

}  // namespace featherstorm::table
