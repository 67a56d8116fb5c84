// Derivatives of inverse and forward dynamics with respect to the state.
#pragma once
#include "core/derivatives/fd_linearization.h"
#include "core/derivatives/rnea_second_derivatives.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpRneaDerivatives {
  static constexpr OpInfo info{
      .name = "rnea_derivatives",
      .summary = "derivatives of inverse dynamics on the tangent space, nv x nv by rows",
      .equation = "d tau = dtau_dq dq + dtau_dv dv + M da",
      .source = "Carpentier and Mansard 2018",
      .in = {q, v, a, f_ext},
      .out = {dtau_dq, dtau_dv},
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto f_ext, auto dtau_dq, auto dtau_dv) {
    rnea_derivatives(m, q, v, a, f_ext, dtau_dq, dtau_dv);
  }
};

struct OpFdDerivatives {
  static constexpr OpInfo info{
      .name = "fd_derivatives",
      .summary = "forward dynamics and its derivatives on the tangent space, nv x nv by rows",
      .equation = "da_dx = -M^-1 dtau_dx,  da_dtau = M^-1",
      .source = "Carpentier and Mansard 2018",
      .in = {q, v, tau, f_ext},
      .out = {a, da_dq, da_dv, da_dtau},
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto tau, auto f_ext, auto a, auto da_dq, auto da_dv,
                        auto da_dtau) {
    fd_derivatives(m, q, v, tau, f_ext, a, da_dq, da_dv, da_dtau);
  }
};

struct OpFdLinearization {
  static constexpr OpInfo info{
      .name = "fd_linearization",
      .summary = "x' = A x + B tau of forward dynamics, x = (dq, v) on the tangent space",
      .equation = "d/dt (dq, dv) = A (dq, dv) + B dtau",
      .source = "Garofalo et al. section I",
      .in = {q, v, tau, f_ext},
      .out = {a, {"A", {2 * nv, 2 * nv}, "", "d x' / d x, x = (dq, v)"}, {"B", {2 * nv, nv}, "", "d x' / d tau"}},
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto tau, auto f_ext, auto a, auto A, auto B) {
    fd_linearization(m, q, v, tau, f_ext, a, A, B);
  }
};

struct OpRneaSecondDerivatives {
  static constexpr OpInfo info{
      .name = "rnea_second_derivatives",
      .summary = "derivatives of rnea_derivatives along a direction of (q, v, a)",
      .equation = "d/de rnea_derivatives(q (+) e u, v + e w, a + e b)",
      .source = "Garofalo et al. (24)",
      .in = {q, v, a, f_ext, q_direction, v_direction, {"a_direction", {nv}, "rad/s^2 | m/s^2", "direction in a"}},
      .out = {by_q, by_v},
      .cost = Cost::quadratic,
  };
  template <class In, class Out>
  FS_HD static void run(const auto& m, In q, In v, In a, In f_ext, In q_direction, In v_direction, In a_direction,
                        Out by_q, Out by_v) {
    rnea_second_derivatives(m, q, v, a, f_ext, q_direction, v_direction, a_direction, by_q, by_v);
  }
};

struct Derivatives {
  static constexpr std::string_view title = "Derivatives";
  using Rows = List<OpRneaDerivatives, OpFdDerivatives, OpFdLinearization, OpRneaSecondDerivatives>;
};

}  // namespace featherstorm::table
