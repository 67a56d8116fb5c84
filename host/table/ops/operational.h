// Operational space. RBDA 7.2; Lynch and Park 9.6.
#pragma once
#include "core/dynamics/operational_inertia.h"
#include "core/dynamics/operational_space.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpOperationalSpace {
  static constexpr OpInfo info{
      .name = "operational_space",
      .summary =
          "equation of motion of a frame: J M^-1 J^T, its inverse, velocity and gravity force, consistent inverse of J",
      .equation = "Lambda a + mu + p = J_inverse^T tau,  Phi = J M^-1 J^T,  Lambda = Phi^-1",
      .source = "RBDA (7.5)-(7.14); Khatib 1987",
      .in = {q, v},
      .uniform = {{"regularisation", {1}, "1/kg", "added to the diagonal of Phi", constant(0.1)}, tolerance},
      .out = {Phi,
              {"Lambda", {6, 6}, "kg m^2, kg", "operational-space inertia, generalised inverse of Phi"},
              {"mu", {6}, "N m, N", "velocity-product force at the frame"},
              {"p", {6}, "N m, N", "gravity force at the frame"},
              {"J_inverse", {6, nv}, "", "dynamically consistent inverse of J, transposed"}},
      .uses_frame = true,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  template <class In, class T, class Out>
  FS_HD static void run(const auto& m, int frame, In q, In v, T regularisation, T tolerance, Out Phi, Out Lambda,
                        Out mu, Out p, Out J_inverse) {
    operational_space(m, q, v, frame, regularisation, tolerance, Phi, Lambda, mu, p, J_inverse);
  }
};

struct OpOperationalInertia {
  static constexpr OpInfo info{
      .name = "operational_inertia",
      .summary = "J M^-1 J^T of a frame, 6 x 6, world axes, angular first",
      .equation = "Phi = J M^-1 J^T",
      .source = "RBDA (7.4), (7.8)",
      .in = {q},
      .out = {Phi},
      .uses_frame = true,
      .condition = Condition::solves,
      .variants = 2,
  };
  template <int variant>
  FS_HD static void run(const auto& m, int frame, auto q, auto Phi) {
    using T = ScalarOf<decltype(q)>;
    if constexpr (variant == 0) operational_inertia_aba(m, q, &frame, 1, Phi);
    if constexpr (variant == 1) {
      auto L = scratch<T>(m.nh);
      auto J = scratch<T>(sixfold(m.nv));
      crba(m, q, L.data());
      ltdl(m, L.data());
      jacobian(m, q, frame, J.data());
      operational_inertia(m, L.data(), 6, J.data(), Phi);
    }
  }
};

struct Operational {
  static constexpr std::string_view title = "Operational space";
  using Rows = List<OpOperationalSpace, OpOperationalInertia>;
};

}  // namespace featherstorm::table
