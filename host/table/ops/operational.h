// Rows of the table of operations (ops.h): operational space. RBDA 7.2; Lynch and Park 9.6.
#pragma once
#include "core/dynamics/operational_inertia.h"
#include "core/dynamics/operational_space.h"
#include "host/table/ops/book_row.h"

namespace featherstorm {

struct OpOperationalSpace : BookRow {
  static constexpr OpInfo<2, 2, 5> info{
      "operational_space",
      "equation of motion of a frame: J M^-1 J^T, its inverse, velocity and gravity force, consistent inverse of J",
      {{op_q, op_v}},
      {{{"regularisation", {1}}, {"tolerance", {1}}}},
      {{{"Phi", {6, 6}},
        {"Lambda", {6, 6}},
        {"mu", {6}},
        {"p", {6}},
        {"J_inverse", {6, nv}}}},
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
                                        {{{"Phi", {6, 6}}}},
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

using OperationalOps = std::tuple<OpOperationalSpace, OpOperationalInertia>;

}  // namespace featherstorm
