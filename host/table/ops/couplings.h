// Gears, mimic joints and differentials of the model (Model::coupling). RBDA 9.6.
//
// u (nu): velocities of the joints that are not coupled, in the order of their coordinates; v = G u.
#pragma once
#include "core/loops/coupled_step.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpCoupledVelocity {
  static constexpr OpInfo info{
      .name = "coupled_velocity",
      .summary = "v = G u: all velocities from the independent ones",
      .equation = "v = G u",
      .source = "RBDA section 9.6",
      .in = {u},
      .out = {v},
      .needs = Needs::coupling,
  };
  FS_HD static void run(const auto& m, auto u, auto v) { coupled_velocity(m, m.coupling, u, v); }
};

struct OpCoupledPosition {
  static constexpr OpInfo info{
      .name = "coupled_position",
      .summary = "q with the positions of coupled joints as their drivers have them",
      .equation = "q_k = ratio q_driver + offset",
      .source = "RBDA section 9.6",
      .in = {q},
      .out = {{"q_coupled", {nq}, "rad | m", "positions that satisfy the couplings"}},
      .needs = Needs::coupling,
  };
  FS_HD static void run(const auto& m, auto q, auto q_coupled) {
    for (int k = 0; k < m.nq; k++) q_coupled[k] = q[k];
    coupled_position(m, m.coupling, q_coupled);
  }
};

struct OpCoupledForce {
  static constexpr OpInfo info{
      .name = "coupled_force",
      .summary = "tau_u = G^T tau: joint forces as felt at the independent joints",
      .equation = "tau_u = G^T tau",
      .source = "RBDA (9.26)",
      .in = {tau},
      .out = {tau_u},
      .needs = Needs::coupling,
  };
  FS_HD static void run(const auto& m, auto tau, auto tau_u) { coupled_force(m, m.coupling, tau, tau_u); }
};

struct OpCoupledInertia {
  static constexpr OpInfo info{
      .name = "coupled_inertia",
      .summary = "G^T M G, nu x nu, of a packed matrix",
      .equation = "M_u = G^T M G",
      .source = "RBDA (9.26)",
      .in = {M},
      .out = {{"M_u", {nu, nu}, "kg m^2 | kg", "inertia matrix of the independent joints"}},
      .needs = Needs::coupling,
      .cost = Cost::quadratic,
  };
  FS_HD static void run(const auto& m, auto M, auto M_u) { coupled_inertia(m, m.coupling, M, M_u); }
};

struct OpCoupledId {
  static constexpr OpInfo info{
      .name = "coupled_id",
      .summary = "inverse dynamics of coupled joints, tau_u = G^T (M G u' + C)",
      .equation = "tau_u = G^T (M G u' + C)",
      .source = "RBDA (9.26), (9.27)",
      .in = {q, u, u_rate, f_ext},
      .out = {tau_u},
      .needs = Needs::coupling,
  };
  FS_HD static void run(const auto& m, auto q, auto u, auto u_rate, auto f_ext, auto tau_u) {
    coupled_id(m, m.coupling, q, u, u_rate, f_ext, tau_u);
  }
};

struct OpFdCoupled {
  static constexpr OpInfo info{
      .name = "fd_coupled",
      .summary = "forward dynamics of coupled joints, G^T M G u' = G^T (tau - C), a = G u'",
      .equation = "G^T M G u' = G^T (tau - C),  a = G u'",
      .source = "RBDA (9.26), (9.27)",
      .in = {q, u, tau, f_ext},
      .out = {u_rate, a},
      .needs = Needs::coupling,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto u, auto tau, auto f_ext, auto u_rate, auto a) {
    fd_coupled(m, m.coupling, q, u, tau, f_ext, u_rate, a);
  }
};

struct OpCoupledStep {
  static constexpr OpInfo info{
      .name = "coupled_step",
      .summary = "semi-implicit Euler steps of coupled joints under torques and PD drives",
      .equation = "G^T (M + dt D) G u' = G^T (tau - C - D v),  u_next = u + dt u'",
      .source = "RBDA section 9.6",
      .in = {q, u, tau, target},
      .uniform = step_uniforms,
      .out = {q_next, {"u_next", {nu}, "rad/s | m/s", "u at the end"}},
      .carried = true,
      .needs = Needs::coupling,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  template <class In, class U, class T, class Out>
  FS_HD static void run(const auto& m, In q, In u, In tau, In target, T dt, U kp, U kd, T limit_stiffness,
                        T limit_damping, T friction_velocity, Out q_next, Out u_next) {
    const Drive drive{tau, target, kp, kd};
    coupled_step(m, m.coupling, q, u, drive, none(q),
                 step_parameters(dt, limit_stiffness, limit_damping, friction_velocity), q_next, u_next);
  }
};

struct Couplings {
  static constexpr std::string_view title = "Coupled joints";
  using Rows = List<OpCoupledVelocity, OpCoupledPosition, OpCoupledForce, OpCoupledInertia, OpCoupledId, OpFdCoupled,
                    OpCoupledStep>;
};

}  // namespace featherstorm::table
