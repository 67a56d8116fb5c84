// Hybrid dynamics and floating bases. RBDA 9.1 to 9.5.
#pragma once
#include "core/dynamics/floating_base.h"
#include "core/hybrid/hybrid_select.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpHybridDynamics {
  static constexpr OpInfo info{
      .name = "hybrid_dynamics",
      .summary = "some coordinates are given a, the others tau; prescribed: 1 for those with given a, else 0",
      .equation = "H11 a1 = tau1 - C'1,  tau2 = C'2 + H21 a1,  C' = rnea(q, v, (0, a2))",
      .source = "RBDA (9.1)-(9.3)",
      .in = {q, v, a, tau, f_ext},
      .uniform = {prescribed},
      .out = {a, tau},
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto tau, auto f_ext, auto prescribed, auto a_out,
                        auto tau_out) {
    hybrid_select(m, prescribed, q, v, a, tau, f_ext, a_out, tau_out);
  }
};

struct OpFloatingInertia {
  static constexpr OpInfo info{
      .name = "floating_inertia",
      .summary = "composite inertia of a floating robot and its momentum by each joint's velocity",
      .equation = "(I0 F; F^T H) (a0; a) + (p0; C) = (0; tau)",
      .source = "RBDA (9.13), Table 9.5",
      .in = {q},
      .out = {{"I0", {6, 6}, "kg m^2, kg m, kg", "composite inertia of the robot, base axes"},
              {"F", {6, joint_nv}, "kg m, kg", "momentum by each joint's velocity, base axes"}},
      .per_body = true,
      .needs = Needs::floating_base,
  };
  FS_HD static void run(const auto& m, auto q, auto I0, auto F) { floating_inertia(m, q, I0, F); }
};

struct OpFloatingBias {
  static constexpr OpInfo info{
      .name = "floating_bias",
      .summary = "bias force on a floating base, its axes, and on the joints",
      .equation = "(I0 F; F^T H) (a0; a) + (p0; C) = (0; tau)",
      .source = "RBDA (9.13), Table 9.5",
      .in = {q, v, f_ext},
      .out = {{"p0", {6}, "N m, N", "bias force on the base, base axes"},
              {"C", {joint_nv}, "N m | N", "bias force on the joints"}},
      .per_body = true,
      .needs = Needs::floating_base,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto f_ext, auto p0, auto C) {
    floating_bias(m, q, v, f_ext, p0, C);
  }
};

struct OpFloatingId {
  static constexpr OpInfo info{
      .name = "floating_id",
      .summary = "inverse dynamics with the joints' accelerations known and the floating base's not",
      .equation = "a0 = -I0^-1 (p0 + F a),  tau = C + F^T a0 + H a",
      .source = "RBDA Table 9.6",
      .in = {q, v, a, f_ext},
      .out = {a, tau},
      .per_body = true,
      .needs = Needs::floating_base,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto f_ext, auto a_out, auto tau) {
    floating_id(m, q, v, a, f_ext, a_out, tau);
  }
};

struct OpFloatingJacobian {
  static constexpr OpInfo info{
      .name = "floating_jacobian",
      .summary = "Jacobian of a frame by the joints while momentum is conserved, 6 x (nv - 6)",
      .equation = "J = J_joints - J_base I0^-1 F",
      .source = "RBDA section 9.3",
      .in = {q},
      .out = {{"J", {6, joint_nv}, "1 | m", "Jacobian by the joints' velocities, world axes"}},
      .uses_frame = true,
      .per_body = true,
      .needs = Needs::floating_base,
      .condition = Condition::solves,
  };
  FS_HD static void run(const auto& m, int frame, auto q, auto J) { floating_jacobian(m, q, frame, J); }
};

struct Floating {
  static constexpr std::string_view title = "Hybrid dynamics and floating bases";
  using Rows = List<OpHybridDynamics, OpFloatingInertia, OpFloatingBias, OpFloatingId, OpFloatingJacobian>;
};

}  // namespace featherstorm::table
