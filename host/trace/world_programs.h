// A step of a world with constraints as programs of one robot, one after the other in a Sequence:
//
//   equations   q, v, act, ctrl, qfrc_applied, xfrc_applied -> mass, b, jacobian, row_D, row_aref, row_friction, act_dot,
//               actuator_length, actuator_velocity, damping (the slopes that the integrator takes along)
//   solver      mass, b, jacobian, row_D, row_aref, row_friction, qacc -> qacc, row_force, contact_force, passes
//   advance     q, v, act, mass, b and the above, qacc -> q_next, v_next, act_next, qfrc_constraint
//
// The solver is one of two. With the rows of every candidate of a contact among those of the equations, and the programs
//
//   newton      ... qacc, passes -> qacc_next, more_next (1: not solved yet), passes_next, row_force_next, contact_force_next
//
// Or with the rows of constraints alone, and beside them what host/solver/contact_solve.h finds contacts with: placement,
// twist, axis.
//
// Of Runge-Kutta's method equations and solver run four times, at q_i, v_i, act_i, and instead of advance
//
//   stage i     q, v, act, u_i, v_i, act_dot, qacc, sum_u, sum_a, sum_rate -> the next of q_i, u_i, v_i, act_i and of
//               the sums
//   stage 3     and actuator_length, actuator_velocity -> q_next, v_next, act_next
//
// Rows of constraints are packed: of each row the numbers that its structure does not make zero.
#pragma once
#include "core/constraint/newton_step.h"
#include "core/constraint/pair_columns.h"
#include "core/model/model.h"
#include "core/trace/program.h"

namespace featherstorm {

struct WorldPrograms {
  Program equations, newton, advance;
  std::vector<Program> stages;  // of Runge-Kutta's method, four or none
  RowPattern rows;              // of the equations
  PairColumns pairs;
  EliminationTree tree;  // of M and the rows
  bool damps = false;    // whether the integrator takes damping along
};

// Which rows the equations have.
enum class Candidates { All, None };

// Throws Error where the model has no world or an integrator that is not supported; std::length_error beyond `most` nodes each.
// tolerance: of the gradient beside the forces, where Newton's steps end. With Candidates::None there is no newton.
WorldPrograms world_programs(const Model<double>& model, Candidates candidates, double tolerance, int most);

// A pass of Newton's method with further rows, in places for contacts.
//
//   direction   mass, b, jacobian, row_D, row_aref, row_friction (of constraints), place_J, place_D, place_aref,
//               place_friction (of the others), qacc -> more, exact, step, g, r, Js, force (of all rows)
//   search      mass, row_D, row_friction, place_D, place_friction, step, g, r, Js, force, line (alpha, low, high, last,
//               open) -> line_next; as long as a search is open that is not exact
struct PassPrograms { Program direction, search; };
PassPrograms newton_pass(const Model<double>& model, const RowPattern& constraints, const RowPattern& places,
                         double tolerance);

// The tree of M and rows that couple sets of coordinates, and where the entries of the robot's packed matrix are in its.
EliminationTree tree_with(const Model<double>& model, const RowPattern& rows,
                          const std::vector<std::vector<int>>& further = {});
std::vector<int> entries_on(const Model<double>& model, const EliminationTree& tree);

}  // namespace featherstorm
