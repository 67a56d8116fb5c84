// Rows of the table of operations (ops.h): products and solutions with the sparse factors of M. RBDA 6.5.
#pragma once
#include "core/linear/ltdl.h"
#include "host/table/ops/book_row.h"

namespace featherstorm {

struct OpSolveLtl : BookRow {
  static constexpr OpInfo<2, 0, 1> info{
      "solve_ltl", "x = M^-1 b with the factor of ltl", {{{"L_ltl", {nh}}, op_b}}, {}, {{op_x}}};
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.nv; k++) out[0][k] = in[1][k];
    solve<Factor::LTL>(m, in[0], out[0]);
  }
};
struct OpSolveL : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"solve_l", "x = L^-1 b with the factor of ltdl", {{op_L, op_b}}, {}, {{op_x}}};
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.nv; k++) out[0][k] = in[1][k];
    solve_l<Factor::LTDL>(m, in[0], out[0]);
  }
};
struct OpSolveLt : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"solve_lt", "x = L^-T b with the factor of ltdl", {{op_L, op_b}}, {}, {{op_x}}};
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.nv; k++) out[0][k] = in[1][k];
    solve_lt<Factor::LTDL>(m, in[0], out[0]);
  }
};
struct OpMulL : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"mul_l", "y = L x with the factor of ltdl", {{op_L, op_x}}, {}, {{op_y}}};
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.nv; k++) out[0][k] = in[1][k];
    mul_l<Factor::LTDL>(m, in[0], out[0]);
  }
};
struct OpMulLt : BookRow {
  static constexpr OpInfo<2, 0, 1> info{"mul_lt", "y = L^T x with the factor of ltdl", {{op_L, op_x}}, {}, {{op_y}}};
  FEATHERSTORM_RUN { mul_lt<Factor::LTDL>(m, in[0], in[1], out[0]); }
};

using FactorOps = std::tuple<OpSolveLtl, OpSolveL, OpSolveLt, OpMulL, OpMulLt>;

}  // namespace featherstorm
