// Closed loops of the model (Model::loops). RBDA chapter 8; Kim 3.
//
// Marks (prescribed, independent, actuated) are numbers 0 or 1, the same for all instances. tolerance: for the ranks,
// about 1e-11 in double, 1e-5 in float. rate: Baumgarte's 1 / T_stab [1/s], 0 for none. To limit compile time, only
// the operations that step through time have CUDA kernels that take the model as data; the others have kernels made
// for a robot.
#pragma once
#include "core/loops/hybrid_loops.h"
#include "core/loops/id_loops.h"
#include "core/loops/loop_step.h"
#include "host/table/ops/quantities.h"
#include "host/table/row/form.h"

namespace featherstorm::table {

struct OpLoopConstraints {
  static constexpr OpInfo info{
      .name = "loop_constraints",
      .summary = "constraints of closed loops, K a = k, and the loops' errors delta",
      .equation = "K a = k",
      .source = "RBDA (8.21), Tables 8.2-8.4",
      .in = {q, v},
      .uniform = {rate},
      .out = {{"K", {n_constraints, nv}, "", "Jacobian of the constraints"},
              {"k", {n_constraints}, "", "what the constraints ask of K a"},
              {"delta", {n_constraints}, "rad | m", "errors of the loops' positions"}},
      .needs = Needs::loops,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto rate, auto K, auto k, auto delta) {
    loop_constraints(m, m.loops, q, v, rate, K, k, delta);
  }
};

struct OpLoopForces {
  static constexpr OpInfo info{
      .name = "loop_forces",
      .summary = "joint forces that stand for what loop joints exert; f_loop: on successors, their axes, moment first",
      .equation = "tau = sum over loops J^T f_loop",
      .source = "RBDA section 8.4",
      .in =
          {q,
           {"f_loop", {nl, 6}, "N m, N", "force of each loop joint on its successor, successor's axes, moment first"}},
      .out = {tau},
      .needs = Needs::loops,
  };
  FS_HD static void run(const auto& m, auto q, auto f_loop, auto tau) { loop_forces(m, m.loops, q, f_loop, tau); }
};

struct OpLoopPlacements {
  static constexpr OpInfo info{
      .name = "loop_placements",
      .summary = "position and rotation (by rows) of each loop's successor frame in its predecessor frame",
      .equation = "X_loop = X_p^-1 X_s",
      .source = "RBDA section 8.2",
      .in = {q},
      .out = {{"X_loop",
               {nl, 12},
               "m, 1",
               "position and rotation, by rows, of the successor frame in the predecessor frame"}},
      .needs = Needs::loops,
  };
  FS_HD static void run(const auto& m, auto q, auto X_loop) { loop_placements(m, m.loops, q, X_loop); }
};

struct OpFdLoops {
  static constexpr OpInfo info{
      .name = "fd_loops",
      .summary = "forward dynamics of closed loops, their constraint forces, and the rank of K",
      .equation = "M a = tau - C + K^T lambda,  K a = k",
      .source = "RBDA (8.37)-(8.41)",
      .in = {q, v, tau, f_ext},
      .uniform = {rate, tolerance},
      .out = {a, lambda, rank},
      .needs = Needs::loops,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  template <class In, class T, class Out>
  FS_HD static void run(const auto& m, In q, In v, In tau, In f_ext, T rate, T tolerance, Out a, Out lambda, Out rank) {
    fd_loops(m, m.loops, q, v, tau, f_ext, rate, tolerance, a, lambda, rank);
  }
};

struct OpHybridLoops {
  static constexpr OpInfo info{
      .name = "hybrid_loops",
      .summary = "hybrid dynamics of closed loops: prescribed coordinates are given a, the others tau",
      .equation = "H11 a1 = tau1 - C'1 + K1^T lambda,  K1 a1 = k - K2 a2,  tau2 = C'2 + H21 a1 - K2^T lambda",
      .source = "RBDA (9.1), (8.37)-(8.41); Kim section 3.3",
      .in = {q, v, a, tau, f_ext},
      .uniform = {prescribed, rate, tolerance},
      .out = {a,
              tau,
              lambda,
              rank,
              {"violation", {n_constraints}, "", "what of K a = k the prescribed accelerations violate"}},
      .needs = Needs::loops,
      .cost = Cost::cubic,
      .condition = Condition::solves,
      .cuda = false,
  };
  template <class In, class U, class T, class Out>
  FS_HD static void run(const auto& m, In q, In v, In a, In tau, In f_ext, U prescribed, T rate, T tolerance, Out a_out,
                        Out tau_out, Out lambda, Out rank, Out violation) {
    hybrid_loops(m, m.loops, prescribed, q, v, a, tau, f_ext, rate, tolerance, a_out, tau_out, lambda, rank, violation);
  }
};

struct OpIndependentMap {
  static constexpr OpInfo info{
      .name = "independent_map",
      .summary =
          "motions that loops admit, v = G y and a = G y' + g, y the independent coordinates; other columns are 0",
      .equation = "K (G y' + g) = k for every y'",
      .source = "RBDA section 8.5, (8.8)",
      .in = {q, v},
      .uniform = {independent, rate, tolerance},
      .out = {{"G", {nv, nv}, "", "v = G y; columns of dependent coordinates are 0"},
              {"g", {nv}, "rad/s^2 | m/s^2", "a = G y' + g"},
              rank},
      .needs = Needs::loops,
      .cost = Cost::cubic,
      .condition = Condition::solves_squares,
      .cuda = false,
  };
  FS_HD static void run(const auto& m, auto q, auto v, auto independent, auto rate, auto tolerance, auto G, auto g,
                        auto rank) {
    using T = ScalarOf<decltype(q)>;
    auto K = scratch<T>(product(m.loops.nc, m.nv));
    auto k = scratch<T>(m.loops.nc);
    auto delta = scratch<T>(m.loops.nc);
    loop_constraints(m, m.loops, q, v, rate, K.data(), k.data(), delta.data());
    independent_map(m, m.loops.nc, K.data(), k.data(), independent, tolerance, G, g, rank);
  }
};

struct OpIdLoops {
  static constexpr OpInfo info{
      .name = "id_loops",
      .summary = "inverse dynamics of closed loops: the shortest motor forces; tau in: of joints without motors",
      .equation = "G^T tau = G^T (M a + C)",
      .source = "RBDA (8.61)-(8.63); Kim (56)-(66)",
      .in = {q, v, a, tau, f_ext},
      .uniform = {independent, actuated, tolerance},
      .out = {tau, rank, {"missing", {nv}, "N m | N", "what no motor forces can give"}},
      .needs = Needs::loops,
      .cost = Cost::cubic,
      .condition = Condition::solves_squares,
      .cuda = false,
  };
  template <class In, class U, class T, class Out>
  FS_HD static void run(const auto& m, In q, In v, In a, In tau, In f_ext, U independent, U actuated, T tolerance,
                        Out tau_out, Out rank, Out missing) {
    id_loops(m, m.loops, independent, actuated, q, v, a, tau, f_ext, tolerance, tau_out, rank, missing);
  }
};

struct OpIdLoopsLeastConstraint {
  static constexpr OpInfo info{
      .name = "id_loops_least_constraint",
      .summary = "id_loops with the shortest constraint forces in place of the shortest motor forces",
      .equation = "M a + C = tau + K^T lambda, |lambda| least",
      .source = "Kim section 3.1",
      .in = {q, v, a, tau, f_ext},
      .uniform = {actuated, tolerance},
      .out = {tau, lambda},
      .needs = Needs::loops,
      .cost = Cost::cubic,
      .condition = Condition::solves_squares,
      .cuda = false,
  };
  template <class In, class U, class T, class Out>
  FS_HD static void run(const auto& m, In q, In v, In a, In tau, In f_ext, U actuated, T tolerance, Out tau_out,
                        Out lambda) {
    id_loops_least_constraint(m, m.loops, actuated, q, v, a, tau, f_ext, tolerance, tau_out, lambda);
  }
};

struct OpLoopStep {
  static constexpr OpInfo info{
      .name = "loop_step",
      .summary = "semi-implicit Euler steps of closed loops under torques and PD drives",
      .equation = "(M + dt D) a = tau - C - D v + K^T lambda,  K a = k(rate)",
      .source = "RBDA (8.37)-(8.41), (8.12)",
      .in = {q, v, tau, target},
      .uniform = step_uniforms + OpArrays{rate, tolerance},
      .out = {q_next, v_next},
      .carried = true,
      .needs = Needs::loops,
      .cost = Cost::cubic,
      .condition = Condition::solves,
  };
  template <class In, class U, class T, class Out>
  FS_HD static void run(const auto& m, In q, In v, In tau, In target, T dt, U kp, U kd, T limit_stiffness,
                        T limit_damping, T friction_velocity, T rate, T tolerance, Out q_next, Out v_next) {
    const Drive drive{tau, target, kp, kd};
    loop_step(m, m.loops, q, v, drive, none(q), step_parameters(dt, limit_stiffness, limit_damping, friction_velocity),
              rate, tolerance, q_next, v_next);
  }
};

struct Loops {
  static constexpr std::string_view title = "Closed loops";
  using Rows = List<OpLoopConstraints, OpLoopForces, OpLoopPlacements, OpFdLoops, OpHybridLoops, OpIndependentMap,
                    OpIdLoops, OpIdLoopsLeastConstraint, OpLoopStep>;
};

}  // namespace featherstorm::table
