// Rows of the table of operations (ops.h): gears, mimic joints, differentials, those that the model carries
// (Model::coupling). RBDA 9.6.
//
// u (nu): velocities of the joints that are not coupled, in the order of their coordinates; v = G u.
#pragma once
#include "core/loops/coupled_step.h"
#include "host/table/ops/book_row.h"
#include "host/table/ops/stepping.h"

namespace featherstorm {

inline constexpr OpArray op_speed{"u", {nu}}, op_tau_u{"tau_u", {nu}},
    op_u_rate{"u_rate", {nu}};

struct OpCoupledVelocity : CouplingRow {
  static constexpr OpInfo<1, 0, 1> info{
      "coupled_velocity", "v = G u: all velocities from the independent ones", {{op_speed}}, {}, {{op_v}}};
  FEATHERSTORM_RUN { coupled_velocity(m, m.coupling, in[0], out[0]); }
};
struct OpCoupledPosition : CouplingRow {
  static constexpr OpInfo<1, 0, 1> info{"coupled_position",
                                        "q with the positions of coupled joints as their drivers have them",
                                        {{op_q}},
                                        {},
                                        {{{"q_coupled", {nq}}}}};
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.nq; k++) out[0][k] = in[0][k];
    coupled_position(m, m.coupling, out[0]);
  }
};
struct OpCoupledForce : CouplingRow {
  static constexpr OpInfo<1, 0, 1> info{
      "coupled_force", "tau_u = G^T tau: joint forces as felt at the independent joints", {{op_tau}}, {}, {{op_tau_u}}};
  FEATHERSTORM_RUN { coupled_force(m, m.coupling, in[0], out[0]); }
};
struct OpCoupledInertia : CouplingRow {
  static constexpr OpInfo<1, 0, 1> info{
      "coupled_inertia", "G^T M G, nu x nu, of a packed matrix", {{op_M}}, {}, {{{"M_u", {nu, nu}}}}};
  FEATHERSTORM_RUN { coupled_inertia(m, m.coupling, in[0], out[0]); }
};
struct OpCoupledId : CouplingRow {
  static constexpr OpInfo<4, 0, 1> info{"coupled_id",
                                        "inverse dynamics of coupled joints, tau_u = G^T (M G u' + C)",
                                        {{op_q, op_speed, op_u_rate, op_f_ext}},
                                        {},
                                        {{op_tau_u}}};
  FEATHERSTORM_RUN { coupled_id(m, m.coupling, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpFdCoupled : CouplingRow {
  static constexpr OpInfo<4, 0, 2> info{"fd_coupled",
                                        "forward dynamics of coupled joints, G^T M G u' = G^T (tau - C), a = G u'",
                                        {{op_q, op_speed, op_tau, op_f_ext}},
                                        {},
                                        {{op_u_rate, op_a}}};
  FEATHERSTORM_RUN { fd_coupled(m, m.coupling, in[0], in[1], in[2], in[3], out[0], out[1]); }
};
struct OpCoupledStep : CouplingRow {
  static constexpr OpInfo<4, 6, 2> info{"coupled_step",
                                        "semi-implicit Euler steps of coupled joints under torques and PD drives",
                                        {{op_q, op_speed, op_tau, op_target}},
                                        step_uniforms,
                                        {{op_q_next, {"u_next", {nu}}}},
                                        false,
                                        false,
                                        true};
  FEATHERSTORM_RUN {
    const Drive drive{in[2], in[3], u[1], u[2]};
    coupled_step(m, m.coupling, in[0], in[1], drive, FEATHERSTORM_NONE, step_parameters<ScalarOf<In>>(u), out[0],
                 out[1]);
  }
};

using CouplingOps = std::tuple<OpCoupledVelocity, OpCoupledPosition, OpCoupledForce, OpCoupledInertia, OpCoupledId,
                               OpFdCoupled, OpCoupledStep>;

}  // namespace featherstorm
