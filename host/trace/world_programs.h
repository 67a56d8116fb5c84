// A step of a world with constraints, as programs of one robot that run one after another in a Sequence:
//
//   equations   q, v, act, ctrl, qfrc_applied, xfrc_applied -> mass, b, jacobian, row_D, row_aref, row_friction,
//               act_dot, actuator_length, actuator_velocity, damping (slopes for the integrator,
//               core/mujoco/velocity_slopes.h)
//   solver      mass, b, jacobian, row_D, row_aref, row_friction, qacc -> qacc, row_force, contact_force, passes
//   advance     q, v, act, mass, b or qacc_smooth and the above, qacc -> q_next, v_next, act_next, qfrc_constraint
//
// With the integrator discrete, mass and b belong to the end of the step (core/mujoco/discrete_step.h). For free bodies
// that carry no others, the equations give `turning`: the acceleration with their gyroscopic terms. The solver that
// finds contacts reports which of these bodies are `touched`, and advance outputs qacc_next, the acceleration that it
// used. `weights` of the equations are those of core/constraint/row_inertia.h.
//
// There are two solvers. In the first, the equations contain the rows of every possible contact, and a program
// iterates:
//
//   newton      ... qacc, passes -> qacc_next, more_next (1: not converged), passes_next, row_force_next,
//               contact_force_next
//
// In the second, the equations contain only the rows of constraints. They also give the inputs of
// host/solver/contact_solve.h: factor (of M, as in core/constraint/delassus.h), qacc_smooth, and placement, twist,
// axis to find contacts.
//
// For the Runge-Kutta method, equations and solver run four times, at q_i, v_i, act_i. These programs replace advance:
//
//   stage i     q, v, act, u_i, v_i, act_dot, qacc, sum_u, sum_a, sum_rate -> the next q_i, u_i, v_i, act_i and
//               the sums
//   stage 3     also actuator_length, actuator_velocity -> q_next, v_next, act_next
//
// Parameters, tables of the model file (host/trace/parameters.h), follow the inputs of equations, advance and stages.
// Numbers of geom pairs that depend on them are in the array `touch` of the equations, for the solver that finds
// contacts.
//
// Constraint rows are packed: each row has only the numbers that its structure does not make zero.
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
  std::vector<Program> stages;  // of the Runge-Kutta method: four or none
  RowPattern rows;              // rows of the equations
  PairColumns pairs;
  EliminationTree tree;    // elimination tree of M and the rows
  bool damps = false;      // true if the integrator uses slopes of forces
  int slopes = 0;          // number of slopes
  int weights = 0;         // number of weights of rows
  std::vector<int> alone;  // free bodies that carry no others, with the integrator discrete
  TouchNumbers touch;
};

// Selects the contact rows in the equations.
enum class Candidates { All, None };

// Throws Error if the model has no world or its integrator is not supported; throws std::length_error beyond `most`
// nodes per program.
//   candidates  None: there is no program newton
//   tolerance   Newton stops when the gradient relative to the forces is smaller
//   rigid       the rows follow the rigid law; mass and b belong to the step at whose end it holds
//               (core/mujoco/position_slopes.h)
//   zones       sensors of the world whose frames are in `contact_zones` of the equations
//               (core/sensor/contact_readings.h)
WorldPrograms world_programs(const Model<double>& model, Candidates candidates, double tolerance, int most,
                             const Parameters& parameters = {}, const RigidLaw<double>* rigid = nullptr,
                             const std::vector<int>& zones = {});

// A model whose parameters are the last inputs of a program. It keeps the program's tracing scope open during its
// lifetime.
class TracedModel {
 public:
  TracedModel(Program& program, const Model<double>& model, const Parameters& parameters);
  const Model<Expr>& model() const { return model_; }
  // Multiplies D of the rows of each equality by its weight; an instance can switch equalities off.
  void weigh_equalities(Expr* D) const;

 private:
  const Parameters& parameters_;
  std::vector<std::vector<Expr>> values_;
  Tracing scope_;
  Model<Expr> model_;
};

// The frames of these sensors in their bodies.
std::vector<Frame<Expr>> zone_frames(const World<Expr>& w, const std::vector<int>& sensors);
// The constraint rows and the coordinates of each: the entries of J (rows, nv) that are not zero by structure.
RowPattern constraint_pattern(const World<Expr>& w, int nv, const Expr* J);
// Throws Error if the integrator discrete would couple coordinates of several branches: M^ has no entries for them.
void check_branches(const Model<Expr>& m, const std::vector<Expr>& act, const std::vector<Expr>& ctrl,
                    const Smooth<Expr>& s);

// The structurally nonzero entries of the constraint rows J (rows, nv), followed by the packed rows of contacts.
std::vector<Expr> packed_jacobian(const RowPattern& rows, int constraints, int nv, const Expr* J,
                                  const std::vector<Expr>& of_contacts);

// The elimination tree of M and of rows that couple sets of coordinates, and the positions of the robot's packed
// entries in its packed matrix.
EliminationTree tree_with(const Model<double>& model, const RowPattern& rows,
                          const std::vector<std::vector<int>>& further = {});
std::vector<int> entries_on(const Model<double>& model, const EliminationTree& tree);

}  // namespace featherstorm
