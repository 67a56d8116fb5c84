// A step of a world with constraints as programs of one robot, one after the other in a Sequence:
//
//   equations   q, v, act, ctrl, qfrc_applied, xfrc_applied -> mass, b, jacobian, row_D, row_aref, row_friction, act_dot,
//               actuator_length, actuator_velocity, damping (the slopes that the integrator takes along), more, passes
//   newton      mass, b, jacobian, row_D, row_aref, row_friction, qacc, passes -> qacc_next, more_next (1: not
//               solved yet), passes_next
//   advance     q, v, act and the above, qacc -> q_next, v_next, act_next, qfrc_constraint, row_force
//
// Of Runge-Kutta's method equations and newton run four times, at q_i, v_i, act_i, and instead of advance
//
//   stage i     q, v, act, u_i, v_i, act_dot, qacc, sum_u, sum_a, sum_rate -> the next of q_i, u_i, v_i, act_i and of
//               the sums
//   stage 3     and actuator_length, actuator_velocity -> q_next, v_next, act_next
//
// Rows of constraints are packed: of each row the numbers that its structure does not make zero.
#pragma once
#include "core/constraint/newton_step.h"
#include "core/model/model.h"
#include "core/trace/program.h"

namespace featherstorm {

struct WorldPrograms {
  Program equations, newton, advance;
  std::vector<Program> stages;  // of Runge-Kutta's method, four or none
  RowPattern rows;
  EliminationTree tree;
};

// Throws Error where the model has no world or an integrator that is not supported; std::length_error beyond `most` nodes each.
// tolerance: of the gradient beside the forces, where Newton's steps end.
WorldPrograms world_programs(const Model<double>& model, double tolerance, int most);

}  // namespace featherstorm
