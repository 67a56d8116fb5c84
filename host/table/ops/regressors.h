// Dynamics as linear maps of the inertial parameters.
#pragma once
#include "core/rates/regressor.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpRegressor {
  static constexpr OpInfo info{
      .name = "regressor",
      .summary = "tau = Y pi + armature a: inverse dynamics by inertial parameters, nv x 10 nb",
      .equation = "tau = Y pi + armature a",
      .source = "Garofalo et al. (8)-(12)",
      .in = {q, v, a},
      .out = {Y},
      .per_body = true,
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto Y) { regressor(m, q, v, a, Y); }
};

struct OpSlotineLiRegressor {
  static constexpr OpInfo info{
      .name = "slotine_li_regressor",
      .summary = "M a_r + C v_r + g = Y pi + armature a_r, C of coriolis_matrix, nv x 10 nb",
      .equation = "M a_r + C v_r + g = Y pi + armature a_r",
      .source = "Garofalo et al. (15), (16)",
      .in = {q, v, v_r, a_r},
      .out = {Y},
      .per_body = true,
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto v_r, auto a_r, auto Y) {
    slotine_li_regressor(m, q, v, v_r, a_r, Y);
  }
};

struct OpSlotineLiRegressorBodyFixed {
  static constexpr OpInfo info{
      .name = "slotine_li_regressor_body_fixed",
      .summary = "slotine_li_regressor with coriolis_matrix_body_fixed, nv x 10 nb",
      .equation = "M a_r + C v_r + g = Y pi + armature a_r",
      .source = "Garofalo et al. (15), (16), (6b)",
      .in = {q, v, v_r, a_r},
      .out = {Y},
      .per_body = true,
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto v_r, auto a_r, auto Y) {
    slotine_li_regressor<Coriolis::BodyFixed>(m, q, v, v_r, a_r, Y);
  }
};

struct OpMomentumRegressor {
  static constexpr OpInfo info{
      .name = "momentum_regressor",
      .summary = "M v = Y pi + armature v, nv x 10 nb",
      .equation = "M v = Y pi + armature v",
      .source = "Garofalo et al. (8)-(12)",
      .in = {q, v},
      .out = {Y},
      .per_body = true,
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto Y) { momentum_regressor(m, q, v, Y); }
};

struct OpEnergyRegressor {
  static constexpr OpInfo info{
      .name = "energy_regressor",
      .summary = "kinetic and potential energy by inertial parameters, 10 nb each",
      .equation = "T = y_T . pi + 1/2 armature v^2,  V = y_V . pi",
      .source = "Garofalo et al. (8)-(12)",
      .in = {q, v},
      .out = {{"y_T", {10 * nb}, "", "kinetic energy by the parameters"},
              {"y_V", {10 * nb}, "", "potential energy by the parameters"}},
      .per_body = true,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto y_T, auto y_V) { energy_regressor(m, q, v, y_T, y_V); }
};

struct Regressors {
  static constexpr std::string_view title = "Regressors";
  using Rows =
      List<OpRegressor, OpSlotineLiRegressor, OpSlotineLiRegressorBodyFixed, OpMomentumRegressor, OpEnergyRegressor>;
};

}  // namespace featherstorm::table
