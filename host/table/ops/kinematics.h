// Kinematics of frames, and positions as points of a manifold.
#pragma once
#include "core/kinematics/integrate.h"
#include "core/kinematics/jacobian.h"
#include "core/kinematics/kinematics.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpForwardKinematics {
  static constexpr OpInfo info{
      .name = "forward_kinematics",
      .summary = "position and rotation (by rows) of every frame in the world",
      .equation = "X_i = X_parent X_J(q_i) X_T",
      .source = "RBDA (2.46)-(2.57)",
      .in = {q},
      .out = {pose},
      .common = true,
  };
  FS_HD static void run(const auto& m, auto q, auto pose) { forward_kinematics(m, q, pose); }
};

struct OpFrameVelocity {
  static constexpr OpInfo info{
      .name = "frame_velocity",
      .summary = "velocity of a frame, world axes, angular first",
      .equation = "v_f = J_f v",
      .source = "RBDA (4.6)",
      .in = {q, v},
      .out = {{"velocity", {6}, "rad/s, m/s", "angular velocity and velocity of the frame's origin, world axes"}},
      .uses_frame = true,
      .common = true,
  };
  FS_HD static void run(const auto& m, int frame, auto q, auto v, auto velocity) {
    frame_velocity(m, q, v, frame, velocity);
  }
};

struct OpFrameAcceleration {
  static constexpr OpInfo info{
      .name = "frame_acceleration",
      .summary = "classical acceleration of a frame, world axes, angular first",
      .equation = "a_f = J_f a + dJ_f/dt v",
      .source = "RBDA (2.49)",
      .in = {q, v, a},
      .out = {acceleration},
      .uses_frame = true,
      .common = true,
  };
  FS_HD static void run(const auto& m, int frame, auto q, auto v, auto a, auto acceleration) {
    frame_acceleration(m, q, v, a, frame, acceleration);
  }
};

struct OpJacobian {
  static constexpr OpInfo info{
      .name = "jacobian",
      .summary = "Jacobian of a frame, 6 x nv by rows, world axes, angular first",
      .equation = "v_f = J_f v",
      .source = "RBDA (2.18), Example 4.2",
      .in = {q},
      .out = {{"J", {6, nv}, "1 | m", "Jacobian: angular velocity and velocity of the frame's origin, world axes"}},
      .uses_frame = true,
      .common = true,
  };
  FS_HD static void run(const auto& m, int frame, auto q, auto J) { jacobian(m, q, frame, J); }
};

struct OpJdotV {
  static constexpr OpInfo info{
      .name = "jdot_v",
      .summary = "acceleration of a frame at a = 0, world axes, angular first",
      .equation = "dJ_f/dt v",
      .source = "RBDA (2.49), (4.6)",
      .in = {q, v},
      .out = {acceleration},
      .uses_frame = true,
      .common = true,
  };
  FS_HD static void run(const auto& m, int frame, auto q, auto v, auto acceleration) {
    jdot_v(m, q, v, frame, acceleration);
  }
};

struct OpIntegrate {
  static constexpr OpInfo info{
      .name = "integrate",
      .summary = "q (+) v dt on the manifold",
      .equation = "q_next = q (+) v dt",
      .source = "exponential map of each joint's motion",
      .in = {q, v},
      .uniform = {dt},
      .out = {q_next},
      .common = true,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto dt, auto q_next) { integrate(m, q, v, dt, q_next); }
};

struct OpDifference {
  static constexpr OpInfo info{
      .name = "difference",
      .summary = "the velocity that leads from q to q_to in unit time",
      .equation = "q (+) v = q_to",
      .source = "the inverse of integrate",
      .in = {q, {"q_to", {nq}, "rad | m", "positions to lead to", Sample::position}},
      .out = {v},
      .condition = Condition::solves,
      .common = true,
  };
  FS_HD static void run(const auto& m, auto q, auto q_to, auto v) { difference(m, q, q_to, v); }
};

struct Kinematics {
  static constexpr std::string_view title = "Kinematics";
  using Rows =
      List<OpForwardKinematics, OpFrameVelocity, OpFrameAcceleration, OpJacobian, OpJdotV, OpIntegrate, OpDifference>;
};

}  // namespace featherstorm::table
