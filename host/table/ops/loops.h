// Rows of the table of operations (ops.h): closed loops, those that the model carries (Model::loops). RBDA chapter 8;
// Kim 3.
//
// Marks (prescribed, independent, actuated) are numbers 0 or 1, the same for all instances. tolerance: of the ranks,
// some 1e-11 in double, 1e-5 in float. rate: Baumgarte's 1 / T_stab [1/s], 0 for none. What is not stepped through time
// has on a CUDA device only the kernels made for a robot, for the compiler's time.
#pragma once
#include "core/loops/hybrid_loops.h"
#include "core/loops/id_loops.h"
#include "core/loops/loop_step.h"
#include "host/table/ops/book_row.h"
#include "host/table/ops/stepping.h"

namespace featherstorm {

inline constexpr OpArray op_rate{"rate", {1}}, op_tolerance{"tolerance", {1}},
    op_lambda{"lambda", {n_constraints}}, op_rank{"rank", {1}}, op_actuated{"actuated", {nv}},
    op_independent{"independent", {nv}};

struct OpLoopConstraints : LoopRow {
  static constexpr OpInfo<2, 1, 3> info{
      "loop_constraints",
      "constraints of closed loops, K a = k, and the loops' errors delta",
      {{op_q, op_v}},
      {{op_rate}},
      {{{"K", {n_constraints, nv}}, {"k", {n_constraints}}, {"delta", {n_constraints}}}}};
  FEATHERSTORM_RUN { loop_constraints(m, m.loops, in[0], in[1], u[0][0], out[0], out[1], out[2]); }
};
struct OpLoopForces : LoopRow {
  static constexpr OpInfo<2, 0, 1> info{
      "loop_forces",
      "joint forces that stand for what loop joints exert; f_loop: on successors, their axes, moment first",
      {{op_q, {"f_loop", {nl, 6}}}},
      {},
      {{op_tau}}};
  FEATHERSTORM_RUN { loop_forces(m, m.loops, in[0], in[1], out[0]); }
};
struct OpLoopPlacements : LoopRow {
  static constexpr OpInfo<1, 0, 1> info{
      "loop_placements",
      "position and rotation (by rows) of each loop's successor frame in its predecessor frame",
      {{op_q}},
      {},
      {{{"X_loop", {nl, 12}}}}};
  FEATHERSTORM_RUN { loop_placements(m, m.loops, in[0], out[0]); }
};
struct OpFdLoops : LoopRow {
  static constexpr OpInfo<4, 2, 3> info{"fd_loops",
                                        "forward dynamics of closed loops, their constraint forces, and the rank of K",
                                        {{op_q, op_v, op_tau, op_f_ext}},
                                        {{op_rate, op_tolerance}},
                                        {{op_a, op_lambda, op_rank}}};
  FEATHERSTORM_RUN { fd_loops(m, m.loops, in[0], in[1], in[2], in[3], u[0][0], u[1][0], out[0], out[1], out[2]); }
};
struct OpHybridLoops : LoopRow {
  static constexpr OpInfo<5, 3, 5> info{
      "hybrid_loops",
      "hybrid dynamics of closed loops: prescribed coordinates are given a, the others tau",
      {{op_q, op_v, op_a, op_tau, op_f_ext}},
      {{{"prescribed", {nv}}, op_rate, op_tolerance}},
      {{op_a, op_tau, op_lambda, op_rank, {"violation", {n_constraints}}}}};
  static constexpr bool host_only = true;
  FEATHERSTORM_RUN {
    hybrid_loops(m, m.loops, u[0], in[0], in[1], in[2], in[3], in[4], u[1][0], u[2][0], out[0], out[1], out[2], out[3],
                 out[4]);
  }
};
struct OpIndependentMap : LoopRow {
  static constexpr OpInfo<2, 3, 3> info{
      "independent_map",
      "motions that loops admit, v = G y and a = G y' + g, y the independent coordinates; other columns are 0",
      {{op_q, op_v}},
      {{op_independent, op_rate, op_tolerance}},
      {{{"G", {nv, nv}}, {"g", {nv}}, op_rank}}};
  static constexpr bool host_only = true;
  FEATHERSTORM_RUN {
    using T = ScalarOf<In>;
    auto K = scratch<T>(product(m.loops.nc, m.nv));
    auto k = scratch<T>(m.loops.nc);
    auto delta = scratch<T>(m.loops.nc);
    loop_constraints(m, m.loops, in[0], in[1], u[1][0], K.data(), k.data(), delta.data());
    independent_map(m, m.loops.nc, K.data(), k.data(), u[0], u[2][0], out[0], out[1], out[2]);
  }
};
struct OpIdLoops : LoopRow {
  static constexpr OpInfo<5, 3, 3> info{
      "id_loops",
      "inverse dynamics of closed loops: the shortest motor forces; tau in: of joints without motors",
      {{op_q, op_v, op_a, op_tau, op_f_ext}},
      {{op_independent, op_actuated, op_tolerance}},
      {{op_tau, op_rank, {"missing", {nv}}}}};
  static constexpr bool host_only = true;
  FEATHERSTORM_RUN {
    id_loops(m, m.loops, u[0], u[1], in[0], in[1], in[2], in[3], in[4], u[2][0], out[0], out[1], out[2]);
  }
};
struct OpIdLoopsLeastConstraint : LoopRow {
  static constexpr OpInfo<5, 2, 2> info{
      "id_loops_least_constraint",
      "id_loops with the shortest constraint forces in place of the shortest motor forces",
      {{op_q, op_v, op_a, op_tau, op_f_ext}},
      {{op_actuated, op_tolerance}},
      {{op_tau, op_lambda}}};
  static constexpr bool host_only = true;
  FEATHERSTORM_RUN {
    id_loops_least_constraint(m, m.loops, u[0], in[0], in[1], in[2], in[3], in[4], u[1][0], out[0], out[1]);
  }
};
struct OpLoopStep : LoopRow {
  static constexpr OpInfo<4, 8, 2> info{"loop_step",
                                        "semi-implicit Euler steps of closed loops under torques and PD drives",
                                        {{op_q, op_v, op_tau, op_target}},
                                        step_uniforms_and(std::array{op_rate, op_tolerance}),
                                        {{op_q_next, op_v_next}},
                                        false,
                                        false,
                                        true};
  FEATHERSTORM_RUN {
    const Drive drive{in[2], in[3], u[1], u[2]};
    loop_step(m, m.loops, in[0], in[1], drive, FEATHERSTORM_NONE, step_parameters<ScalarOf<In>>(u), u[6][0], u[7][0],
              out[0], out[1]);
  }
};

using LoopOps = std::tuple<OpLoopConstraints, OpLoopForces, OpLoopPlacements, OpFdLoops, OpHybridLoops,
                           OpIndependentMap, OpIdLoops, OpIdLoopsLeastConstraint, OpLoopStep>;

}  // namespace featherstorm
