// Energy, momentum and the centre of mass.
#pragma once
#include "core/kinematics/energy.h"
#include "core/kinematics/momentum.h"
#include "core/rates/centroidal.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpEnergy {
  static constexpr OpInfo info{
      .name = "energy",
      .summary = "kinetic and potential energy; the latter is zero where all mass is at the world's origin",
      .equation = "T = 1/2 v^T M v,  V = -sum m_i g . c_i",
      .source = "RBDA (2.67)",
      .in = {q, v},
      .out = {{"energy", {2}, "J", "kinetic and potential energy"}},
      .per_body = true,
      .common = true,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto energy_out) { energy(m, q, v, energy_out); }
};

struct OpMomentum {
  static constexpr OpInfo info{
      .name = "momentum",
      .summary = "centre of mass, its velocity, momentum about the origin and about the centre of mass",
      .equation = "h = sum X_i^T I_i v_i",
      .source = "RBDA (2.58)-(2.61)",
      .in = {q, v},
      .out = {{"com", {3}, "m", "centre of mass in the world"},
              {"com_velocity", {3}, "m/s", "its velocity, world axes"},
              {"h", {6}, "N m s, N s", "momentum about the world's origin: angular, linear; world axes"},
              {"h_com", {3}, "N m s", "angular momentum about the centre of mass, world axes"}},
      .per_body = true,
      .common = true,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto com, auto com_velocity, auto h, auto h_com) {
    momentum(m, q, v, com, com_velocity, h, h_com);
  }
};

struct OpCentroidalMomentumMatrix {
  static constexpr OpInfo info{
      .name = "centroidal_momentum_matrix",
      .summary = "momentum about the centre of mass as a map of v, 6 x nv, angular first",
      .equation = "h_G = A(q) v",
      .source = "Orin, Goswami and Lee 2013",
      .in = {q},
      .out = {{"A", {6, nv}, "kg m^2, kg m", "centroidal momentum matrix: angular, linear; world axes"}},
      .per_body = true,
  };
  FS_HD static void run(const auto& m, auto q, auto A) { centroidal_momentum_matrix(m, q, A); }
};

struct OpCentroidalMomentumRate {
  static constexpr OpInfo info{
      .name = "centroidal_momentum_rate",
      .summary = "dA/dt of the centroidal momentum matrix, and dA/dt v",
      .equation = "dh_G/dt = A a + A_rate v",
      .source = "Orin, Goswami and Lee 2013",
      .in = {q, v},
      .out = {{"A_rate", {6, nv}, "kg m^2/s, kg m/s", "dA/dt"},
              {"h_rate", {6}, "N m, N", "dA/dt v: rate of the centroidal momentum at a = 0"}},
      .per_body = true,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto A_rate, auto h_rate) {
    centroidal_momentum_rate(m, q, v, A_rate, h_rate);
  }
};

struct OpComJacobian {
  static constexpr OpInfo info{
      .name = "com_jacobian",
      .summary = "Jacobian of the centre of mass, 3 x nv, world axes",
      .equation = "com_velocity = J v",
      .source = "Garofalo et al. (7)",
      .in = {q},
      .out = {{"J", {3, nv}, "m | 1", "Jacobian of the centre of mass, world axes"}},
      .per_body = true,
  };
  FS_HD static void run(const auto& m, auto q, auto J) { com_jacobian(m, q, J); }
};

struct Momentum {
  static constexpr std::string_view title = "Energy and momentum";
  using Rows = List<OpEnergy, OpMomentum, OpCentroidalMomentumMatrix, OpCentroidalMomentumRate, OpComJacobian>;
};

}  // namespace featherstorm::table
