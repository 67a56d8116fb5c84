// Rows of the table of operations (ops.h): hybrid dynamics and floating bases. RBDA 9.1 to 9.5.
#pragma once
#include "core/dynamics/floating_base.h"
#include "core/hybrid/hybrid_select.h"
#include "host/table/ops/book_row.h"

namespace featherstorm {

struct OpHybridDynamics : BookRow {
  static constexpr OpInfo<5, 1, 2> info{
      "hybrid_dynamics",
      "some coordinates are given a, the others tau; prescribed: 1 for those with given a, else 0",
      {{op_q, op_v, op_a, op_tau, op_f_ext}},
      {{{"prescribed", {nv}}}},
      {{op_a, op_tau}}};
  FEATHERSTORM_RUN { hybrid_select(m, u[0], in[0], in[1], in[2], in[3], in[4], out[0], out[1]); }
};
struct OpFloatingInertia : FloatingRow {
  static constexpr OpInfo<1, 0, 2> info{
      "floating_inertia",
      "composite inertia of a floating robot and its momentum by each joint's velocity",
      {{op_q}},
      {},
      {{{"I0", {6, 6}}, {"F", {6, joint_nv}}}},
      false,
      true};
  FEATHERSTORM_RUN { floating_inertia(m, in[0], out[0], out[1]); }
};
struct OpFloatingBias : FloatingRow {
  static constexpr OpInfo<3, 0, 2> info{"floating_bias",
                                        "bias force on a floating base, its axes, and on the joints",
                                        {{op_q, op_v, op_f_ext}},
                                        {},
                                        {{{"p0", {6}}, {"C", {joint_nv}}}},
                                        false,
                                        true};
  FEATHERSTORM_RUN { floating_bias(m, in[0], in[1], in[2], out[0], out[1]); }
};
struct OpFloatingId : FloatingRow {
  static constexpr OpInfo<4, 0, 2> info{
      "floating_id",
      "inverse dynamics with the joints' accelerations known and the floating base's not",
      {{op_q, op_v, op_a, op_f_ext}},
      {},
      {{op_a, op_tau}},
      false,
      true};
  FEATHERSTORM_RUN { floating_id(m, in[0], in[1], in[2], in[3], out[0], out[1]); }
};
struct OpFloatingJacobian : FloatingRow {
  static constexpr OpInfo<1, 0, 1> info{"floating_jacobian",
                                        "Jacobian of a frame by the joints while momentum is conserved, 6 x (nv - 6)",
                                        {{op_q}},
                                        {},
                                        {{{"J", {6, joint_nv}}}},
                                        true,
                                        true};
  FEATHERSTORM_RUN { floating_jacobian(m, in[0], frame, out[0]); }
};

using FloatingOps = std::tuple<OpHybridDynamics, OpFloatingInertia, OpFloatingBias, OpFloatingId, OpFloatingJacobian>;

}  // namespace featherstorm
