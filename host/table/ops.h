// The table of operations: the library's table of contents.
//
// One structure per operation: its name, inputs and outputs with their sizes, and the core function. Dispatch, tracing,
// the run-time-model kernels of every backend, the Python functions, test_ops and bench_ops walk the list
// `Ops` at the end. A new algorithm is its text in core/, its test, and its row in a file of host/table/ops/ (book_ops.h), or
// here where every instruction set is to have a run-time-model kernel of it.
//
// run<variant>(m, frame, in, u, out): m the model, `frame` a frame's index (where uses_frame), in[k] the input arrays,
// u[k] the uniform arrays (the same numbers for all instances), out[k] the output arrays. Variants are different
// algorithms for the same map; the run-time-model kernels take variant 0, specialisation the one with the fewest
// operations. `Inverse`: the row that gives back the forces from the accelerations; derivatives are taken of that one
// (trace_derivative.cpp). `hot`: its run-time-model kernels are compiled with every call inlined, which takes the compiler long.
#pragma once
#include <tuple>

#include "core/dynamics/aba.h"
#include "core/dynamics/crba.h"
#include "core/dynamics/forward_dynamics.h"
#include "core/dynamics/gravity_torques.h"
#include "core/dynamics/id_delta.h"
#include "core/dynamics/joint_wrenches.h"
#include "core/dynamics/newton_euler.h"
#include "core/kinematics/energy.h"
#include "core/kinematics/integrate.h"
#include "core/kinematics/jacobian.h"
#include "core/kinematics/kinematics.h"
#include "core/kinematics/momentum.h"
#include "core/linear/ltdl.h"
#include "core/step/step.h"
#include "host/table/book_ops.h"
#include "host/table/ops/op_row.h"
#include "host/table/ops/stepping.h"

namespace featherstorm {

struct OpRnea {
  static constexpr OpInfo<3, 0, 1> info{
      "rnea", "inverse dynamics, tau = M a + C", {{op_q, op_v, op_a}}, {}, {{op_tau}}};
  static constexpr int variants = 1;
  static constexpr bool hot = true;
  FEATHERSTORM_RUN { newton_euler(m, in[0], in[1], in[2], FEATHERSTORM_NONE, out[0]); }
};
struct OpRneaForces {
  static constexpr OpInfo<4, 0, 1> info{
      "rnea_forces", "inverse dynamics with external forces on bodies", {{op_q, op_v, op_a, op_f_ext}}, {}, {{op_tau}}};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { newton_euler(m, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpBias {
  static constexpr OpInfo<2, 0, 1> info{
      "bias", "bias force C: gravity, Coriolis, centrifugal", {{op_q, op_v}}, {}, {{op_tau}}};
  static constexpr int variants = 1;
  static constexpr bool hot = true;
  FEATHERSTORM_RUN { newton_euler(m, in[0], in[1], FEATHERSTORM_NONE, FEATHERSTORM_NONE, out[0]); }
};
struct OpGravity {
  static constexpr OpInfo<1, 0, 1> info{
      "gravity", "gravity torques, tau that holds the robot still", {{op_q}}, {}, {{op_tau}}};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { gravity_torques(m, in[0], out[0]); }
};
struct OpIdDelta {
  static constexpr OpInfo<2, 0, 1> info{
      "id_delta", "product M x without M", {{op_q, {"x", {nv}}}}, {}, {{{"y", {nv}}}}};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { id_delta(m, in[0], in[1], out[0]); }
};
struct OpCrba {
  static constexpr OpInfo<1, 0, 1> info{"crba", "joint-space inertia matrix, packed", {{op_q}}, {}, {{op_M}}};
  static constexpr int variants = 1;
  static constexpr bool hot = true;
  FEATHERSTORM_RUN { crba(m, in[0], out[0]); }
};
struct OpLtdl {
  static constexpr OpInfo<1, 0, 1> info{"ltdl", "factorisation M = L^T D L of a packed matrix", {{op_M}}, {}, {{op_L}}};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.nh; k++) out[0][k] = in[0][k];
    ltdl(m, out[0]);
  }
};
struct OpLtl {
  static constexpr OpInfo<1, 0, 1> info{"ltl", "factorisation M = L^T L of a packed matrix", {{op_M}}, {}, {{op_L}}};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.nh; k++) out[0][k] = in[0][k];
    ltl(m, out[0]);
  }
};
struct OpSolve {
  static constexpr OpInfo<2, 0, 1> info{
      "solve", "x = M^-1 b with the factor of ltdl", {{op_L, {"b", {nv}}}}, {}, {{{"x", {nv}}}}};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN {
    for (int k = 0; k < m.nv; k++) out[0][k] = in[1][k];
    solve<Factor::LTDL>(m, in[0], out[0]);
  }
};
struct OpMul {
  static constexpr OpInfo<2, 0, 1> info{
      "mul", "y = M x with the packed matrix", {{op_M, {"x", {nv}}}}, {}, {{{"y", {nv}}}}};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { mul_h(m, in[0], in[1], out[0]); }
};
struct OpAba {
  using Inverse = OpRnea;
  static constexpr OpInfo<3, 0, 1> info{
      "aba", "forward dynamics by articulated bodies", {{op_q, op_v, op_tau}}, {}, {{op_a}}};
  static constexpr int variants = 1;
  static constexpr bool hot = true;
  FEATHERSTORM_RUN { aba(m, in[0], in[1], in[2], FEATHERSTORM_NONE, out[0]); }
};
struct OpAbaForces {
  using Inverse = OpRneaForces;
  static constexpr OpInfo<4, 0, 1> info{
      "aba_forces", "forward dynamics with external forces on bodies", {{op_q, op_v, op_tau, op_f_ext}}, {}, {{op_a}}};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { aba(m, in[0], in[1], in[2], in[3], out[0]); }
};
struct OpFd {
  using Inverse = OpRnea;
  static constexpr OpInfo<3, 0, 1> info{
      "fd", "forward dynamics, a = M^-1 (tau - C)", {{op_q, op_v, op_tau}}, {}, {{op_a}}};
  static constexpr int variants = 2;
  static constexpr bool hot = true;
  FEATHERSTORM_RUN {
    if constexpr (variant == 0) aba(m, in[0], in[1], in[2], FEATHERSTORM_NONE, out[0]);
    if constexpr (variant == 1) fd_crba(m, in[0], in[1], in[2], FEATHERSTORM_NONE, out[0]);
  }
};
struct OpForwardKinematics {
  static constexpr OpInfo<1, 0, 1> info{"forward_kinematics",
                                        "position and rotation (by rows) of every frame in the world",
                                        {{op_q}},
                                        {},
                                        {{{"pose", {nf, 12}}}}};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { forward_kinematics(m, in[0], out[0]); }
};
struct OpFrameVelocity {
  static constexpr OpInfo<2, 0, 1> info{"frame_velocity",
                                        "velocity of a frame, world axes, angular first",
                                        {{op_q, op_v}},
                                        {},
                                        {{{"velocity", {6}}}},
                                        true};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { frame_velocity(m, in[0], in[1], frame, out[0]); }
};
struct OpFrameAcceleration {
  static constexpr OpInfo<3, 0, 1> info{"frame_acceleration",
                                        "classical acceleration of a frame, world axes, angular first",
                                        {{op_q, op_v, op_a}},
                                        {},
                                        {{{"acceleration", {6}}}},
                                        true};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { frame_acceleration(m, in[0], in[1], in[2], frame, out[0]); }
};
struct OpJacobian {
  static constexpr OpInfo<1, 0, 1> info{"jacobian",
                                        "Jacobian of a frame, 6 x nv by rows, world axes, angular first",
                                        {{op_q}},
                                        {},
                                        {{{"J", {6, nv}}}},
                                        true};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { jacobian(m, in[0], frame, out[0]); }
};
struct OpJdotV {
  static constexpr OpInfo<2, 0, 1> info{"jdot_v",
                                        "acceleration of a frame at a = 0, world axes, angular first",
                                        {{op_q, op_v}},
                                        {},
                                        {{{"acceleration", {6}}}},
                                        true};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { jdot_v(m, in[0], in[1], frame, out[0]); }
};
struct OpEnergy {
  static constexpr OpInfo<2, 0, 1> info{
      "energy", "kinetic and potential energy", {{op_q, op_v}}, {}, {{{"energy", {2}}}}, false, true};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { energy(m, in[0], in[1], out[0]); }
};
struct OpMomentum {
  static constexpr OpInfo<2, 0, 4> info{
      "momentum",
      "centre of mass, its velocity, momentum about the origin and about the centre of mass",
      {{op_q, op_v}},
      {},
      {{{"com", {3}}, {"com_velocity", {3}}, {"h", {6}}, {"h_com", {3}}}},
      false,
      true};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { momentum(m, in[0], in[1], out[0], out[1], out[2], out[3]); }
};
struct OpJointWrenches {
  static constexpr OpInfo<3, 0, 1> info{"joint_wrenches",
                                        "wrench each joint transmits, world axes about its child link's origin",
                                        {{op_q, op_v, op_a}},
                                        {},
                                        {{{"wrench", {nb, 6}}}},
                                        false,
                                        true};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { joint_wrenches(m, in[0], in[1], in[2], FEATHERSTORM_NONE, out[0]); }
};
struct OpIntegrate {
  static constexpr OpInfo<2, 1, 1> info{
      "integrate", "q (+) v dt on the manifold", {{op_q, op_v}}, {{{"dt", {1}}}}, {{op_q_next}}};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { integrate(m, in[0], in[1], u[0][0], out[0]); }
};
struct OpDifference {
  static constexpr OpInfo<2, 0, 1> info{
      "difference", "the velocity that leads from q to q_to in unit time", {{op_q, {"q_to", {nq}}}}, {}, {{op_v}}};
  static constexpr int variants = 1;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN { difference(m, in[0], in[1], out[0]); }
};
struct OpStep {
  static constexpr OpInfo<4, 6, 2> info{"step",
                                        "semi-implicit Euler steps under torques and PD drives",
                                        {{op_q, op_v, op_tau, op_target}},
                                        step_uniforms,
                                        {{op_q_next, op_v_next}},
                                        false,
                                        false,
                                        true};
  static constexpr int variants = 2;
  static constexpr bool hot = false;
  FEATHERSTORM_RUN {
    const Drive drive{in[2], in[3], u[1], u[2]};
    const auto s = step_parameters<ScalarOf<In>>(u);
    if constexpr (variant == 0) step_aba(m, in[0], in[1], drive, FEATHERSTORM_NONE, s, out[0], out[1]);
    if constexpr (variant == 1) step(m, in[0], in[1], drive, FEATHERSTORM_NONE, s, out[0], out[1]);
  }
};

using EngineOps = std::tuple<OpRnea, OpRneaForces, OpBias, OpGravity, OpIdDelta, OpCrba, OpLtdl, OpLtl, OpSolve, OpMul, OpAba,
                       OpAbaForces, OpFd, OpForwardKinematics, OpFrameVelocity, OpFrameAcceleration, OpJacobian,
                       OpJdotV, OpEnergy, OpMomentum, OpJointWrenches, OpIntegrate, OpDifference, OpStep>;

// the rows of the engine, then those of the books
using Ops = decltype(std::tuple_cat(EngineOps{}, BookOps{}));
inline constexpr int op_count = std::tuple_size_v<Ops>, engine_ops = std::tuple_size_v<EngineOps>;

// Whether the row has no CUDA kernels.
template <class Op> inline constexpr bool host_only = false;
template <class Op>
  requires(std::is_base_of_v<BookRow, Op>)
inline constexpr bool host_only<Op> = Op::host_only;

// Which part of the CUDA library has the row: the engine's rows are dealt to `parts`, those of the books to `book_parts`
// behind them; -1 where there are none.
constexpr int shard_of(int op, int parts, int book_parts) {
  if (op < engine_ops) return op % parts;
  return book_parts == 0 ? -1 : parts + (op - engine_ops) % book_parts;
}

// Which part of the libraries for CPUs has the row: 0 to 3 the engine's rows, of every instruction set; 4 those of robots
// that carry loops, couplings or contacts, of the base set; 5 to 8 the other rows of the books, of the base set too but in
// the library libfeatherstorm_cpu_book.so.
constexpr int cpu_part(int op) {
  constexpr int first_carried = engine_ops + static_cast<int>(std::tuple_size_v<BookOpsBefore>);
  constexpr int after_carried = first_carried + static_cast<int>(std::tuple_size_v<CarriedOps>);
  if (op < engine_ops) return op % 4;
  return op >= first_carried && op < after_carried ? 4 : 5 + op % 4;
}

#undef FEATHERSTORM_RUN
#undef FEATHERSTORM_NONE

}  // namespace featherstorm
