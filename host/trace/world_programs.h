// A step of a world with constraints as programs of one robot, one after the other in a Sequence:
//
//   equations   q, v, act, ctrl, qfrc_applied, xfrc_applied -> mass, b, jacobian, row_D, row_aref, row_friction, act_dot,
//               actuator_length, actuator_velocity, damping (the slopes that the integrator takes along, core/mujoco/velocity_slopes.h)
//   solver      mass, b, jacobian, row_D, row_aref, row_friction, qacc -> qacc, row_force, contact_force, passes
//   advance     q, v, act, mass, b or qacc_smooth and the above, qacc -> q_next, v_next, act_next, qfrc_constraint
//
// Under the integrator discrete mass and b are those of the end of the step (core/mujoco/discrete_step.h). Bodies on their own have
// what they turn by in `turning` of the equations, the solver that finds contacts tells which are `touched`, and advance has qacc_next,
// the acceleration with these. `weights` of the equations are core/constraint/row_inertia.h's.
//
// The solver is one of two. With the rows of every candidate of a contact among those of the equations, and the programs
//
//   newton      ... qacc, passes -> qacc_next, more_next (1: not solved yet), passes_next, row_force_next, contact_force_next
//
// Or with the rows of constraints alone, and beside them what host/solver/contact_solve.h takes: factor (of M, as
// core/constraint/delassus.h has it), qacc_smooth, and placement, twist, axis to find contacts with.
//
// Of Runge-Kutta's method equations and solver run four times, at q_i, v_i, act_i, and instead of advance
//
//   stage i     q, v, act, u_i, v_i, act_dot, qacc, sum_u, sum_a, sum_rate -> the next of q_i, u_i, v_i, act_i and of
//               the sums
//   stage 3     and actuator_length, actuator_velocity -> q_next, v_next, act_next
//
// Behind their inputs equations, advance and stages have the parameters, tables of the model file (host/trace/parameters.h). Numbers
// of pairs of geoms that follow from them are in the array `touch` of the equations, for the solver that finds contacts.
//
// Rows of constraints are packed: of each row the numbers that its structure does not make zero.
#pragma once
#include "core/constraint/newton_step.h"
#include "core/constraint/pair_columns.h"
#include "core/model/model.h"
#include "core/mujoco/smooth.h"
#include "core/rigid/rigid_rows.h"
#include "core/trace/program.h"
#include "core/world/touch_numbers.h"
#include "host/trace/parameters.h"

namespace featherstorm {

struct WorldPrograms {
  Program equations, newton, advance;
  std::vector<Program> stages;  // of Runge-Kutta's method, four or none
  RowPattern rows;              // of the equations
  PairColumns pairs;
  EliminationTree tree;    // of M and the rows
  bool damps = false;      // whether the integrator takes slopes of forces along
  int slopes = 0;          // how many numbers these are
  int weights = 0;         // how many numbers rows are weighed with
  std::vector<int> alone;  // bodies on their own, of the integrator discrete
  TouchNumbers touch;
};

// Which rows the equations have.
enum class Candidates { All, None };

// Throws Error where the model has no world or an integrator that is not supported; std::length_error beyond `most` nodes each.
// tolerance: of the gradient beside the forces, where Newton's steps end. With Candidates::None there is no newton.
// rigid: rows of that law, and mass and b are those of the step at whose end it holds (core/mujoco/position_slopes.h).
// zones: sensors of the world whose places are in `contact_zones` of the equations (core/sensor/contact_readings.h).
WorldPrograms world_programs(const Model<double>& model, Candidates candidates, double tolerance, int most,
                             const Parameters& parameters = {}, const RigidLaw<double>* rigid = nullptr,
                             const std::vector<int>& zones = {});

// A model whose parameters are the last inputs of a program, and the program's scope for as long as this lives.
class TracedModel {
 public:
  TracedModel(Program& program, const Model<double>& model, const Parameters& parameters);
  const Model<Expr>& model() const { return model_; }
  // Takes D of the rows of equalities times the weight of each: an instance may do without some.
  void weigh_equalities(Expr* D) const;

 private:
  const Parameters& parameters_;
  std::vector<std::vector<Expr>> values_;
  Tracing scope_;
  Model<Expr> model_;
};

// The places of these sensors in their bodies.
std::vector<Frame<Expr>> zone_frames(const World<Expr>& w, const std::vector<int>& sensors);
// The rows of constraints and the coordinates of each: the entries of J (rows, nv) that are not zero by structure.
RowPattern constraint_pattern(const World<Expr>& w, int nv, const Expr* J);
// Throws Error where the integrator discrete would couple coordinates of several branches: M^ has no place for that.
void check_branches(const Model<Expr>& m, const std::vector<Expr>& act, const std::vector<Expr>& ctrl,
                    const Smooth<Expr>& s);

// What of the constraints' rows J (rows, nv) is packed, and the packed rows of contacts behind them.
std::vector<Expr> packed_jacobian(const RowPattern& rows, int constraints, int nv, const Expr* J,
                                  const std::vector<Expr>& of_contacts);

// The tree of M and rows that couple sets of coordinates, and where the entries of the robot's packed matrix are in its.
EliminationTree tree_with(const Model<double>& model, const RowPattern& rows,
                          const std::vector<std::vector<int>>& further = {});
std::vector<int> entries_on(const Model<double>& model, const EliminationTree& tree);

}  // namespace featherstorm
