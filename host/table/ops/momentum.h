// Rows of the table of operations (ops.h): momentum and the centre of mass.
#pragma once
#include "core/rates/centroidal.h"
#include "host/table/ops/book_row.h"

namespace featherstorm {

struct OpCentroidalMomentumMatrix : BookRow {
  static constexpr OpInfo<1, 0, 1> info{"centroidal_momentum_matrix",
                                        "momentum about the centre of mass as a map of v, 6 x nv, angular first",
                                        {{op_q}},
                                        {},
                                        {{{"A", {6, nv}}}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { centroidal_momentum_matrix(m, in[0], out[0]); }
};
struct OpCentroidalMomentumRate : BookRow {
  static constexpr OpInfo<2, 0, 2> info{"centroidal_momentum_rate",
                                        "dA/dt of the centroidal momentum matrix, and dA/dt v",
                                        {{op_q, op_v}},
                                        {},
                                        {{{"A_rate", {6, nv}}, {"h_rate", {6}}}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { centroidal_momentum_rate(m, in[0], in[1], out[0], out[1]); }
};
struct OpComJacobian : BookRow {
  static constexpr OpInfo<1, 0, 1> info{"com_jacobian",
                                        "Jacobian of the centre of mass, 3 x nv, world axes",
                                        {{op_q}},
                                        {},
                                        {{{"J", {3, nv}}}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { com_jacobian(m, in[0], out[0]); }
};

using MomentumOps = std::tuple<OpCentroidalMomentumMatrix, OpCentroidalMomentumRate, OpComJacobian>;

}  // namespace featherstorm
