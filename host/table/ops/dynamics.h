// Inverse and forward dynamics.
#pragma once
#include "core/dynamics/articulated_bodies.h"
#include "core/dynamics/forward_dynamics.h"
#include "core/dynamics/gravity_torques.h"
#include "core/dynamics/id_delta.h"
#include "core/dynamics/joint_wrenches.h"
#include "core/dynamics/newton_euler.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpRnea {
  static constexpr OpInfo info{
      .name = "rnea",
      .summary = "inverse dynamics",
      .equation = "tau = M(q) a + C(q, v) - sum J_i^T f_ext_i",
      .source = "RBDA section 5.4, Table 5.2",
      .in = {q, v, a, f_ext},
      .out = {tau},
      .common = true,
      .inlined = true,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto f_ext, auto tau) {
    newton_euler(m, q, v, a, f_ext, tau);
  }
};

struct OpBias {
  static constexpr OpInfo info{
      .name = "bias",
      .summary = "bias force C: gravity, Coriolis, centrifugal",
      .equation = "C(q, v) = rnea(q, v, 0)",
      .source = "RBDA (6.1), Table 5.1",
      .in = {q, v},
      .out = {tau},
      .common = true,
      .inlined = true,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto tau) { newton_euler(m, q, v, none(q), none(q), tau); }
};

struct OpGravity {
  static constexpr OpInfo info{
      .name = "gravity",
      .summary = "gravity torques, tau that holds the robot still",
      .equation = "tau = g(q) = rnea(q, 0, 0)",
      .source = "RBDA (5.12), (5.13)",
      .in = {q},
      .out = {tau},
      .common = true,
  };
  FS_HD static void run(const auto& m, auto q, auto tau) { gravity_torques(m, q, tau); }
};

struct OpIdDelta {
  static constexpr OpInfo info{
      .name = "id_delta",
      .summary = "product M x without M",
      .equation = "y = M(q) x",
      .source = "RBDA Table 6.1",
      .in = {q, x},
      .out = {y},
      .common = true,
  };
  FS_HD static void run(const auto& m, auto q, auto x, auto y) { id_delta(m, q, x, y); }
};

struct OpAba {
  static constexpr OpInfo info{
      .name = "aba",
      .summary = "forward dynamics by articulated bodies",
      .equation = "a = M(q)^-1 (tau - C(q, v) + sum J_i^T f_ext_i)",
      .source = "RBDA Table 7.1",
      .in = {q, v, tau, f_ext},
      .out = {a},
      .condition = Condition::solves,
      .inverse = "rnea",
      .common = true,
      .inlined = true,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto tau, auto f_ext, auto a) {
    articulated_bodies(m, q, v, tau, f_ext, a);
  }
};

struct OpFd {
  static constexpr OpInfo info{
      .name = "fd",
      .summary = "forward dynamics by the way that is fastest for the robot",
      .equation = "a = M(q)^-1 (tau - C(q, v) + sum J_i^T f_ext_i)",
      .source = "RBDA Table 7.1, section 6.1",
      .in = {q, v, tau, f_ext},
      .out = {a},
      .condition = Condition::solves,
      .variants = 2,
      .inverse = "rnea",
      .common = true,
      .inlined = true,
  };
  template <int variant>
  FS_HD static void run(const auto& m, auto q, auto v, auto tau, auto f_ext, auto a) {
    if constexpr (variant == 0) articulated_bodies(m, q, v, tau, f_ext, a);
    if constexpr (variant == 1) fd_crba(m, q, v, tau, f_ext, a);
  }
};

struct OpJointWrenches {
  static constexpr OpInfo info{
      .name = "joint_wrenches",
      .summary = "wrench each joint transmits, world axes about its child link's origin",
      .equation = "f_i = I_i a_i + v_i x* I_i v_i + sum over children f_j",
      .source = "RBDA (5.20), Table 5.1",
      .in = {q, v, a},
      .out = {wrench},
      .per_body = true,
      .common = true,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto a, auto wrench) {
    joint_wrenches(m, q, v, a, none(q), wrench);
  }
};

struct Dynamics {
  static constexpr std::string_view title = "Dynamics";
  using Rows = List<OpRnea, OpBias, OpGravity, OpIdDelta, OpAba, OpFd, OpJointWrenches>;
};

}  // namespace featherstorm::table
