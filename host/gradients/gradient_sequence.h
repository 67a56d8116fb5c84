// Derivatives of one step of a model file's world as a Sequence: the equations, Newton's iterations, then the programs
// of host/gradients/world_gradients.h at the solution.
//
//   Sequence s = gradient_sequence(evaluator, Precision::float64, Derivative::vjp, {.tolerance = 1e-10});
//   s.run(1, instances, {q, v, act, qacc, ctrl, ..., q_next_bar, v_next_bar, act_next_bar}, {},
//         {q_bar, v_bar, ctrl_bar, ...});
//
// qacc is the initial guess of Newton's method and receives the solution. The evaluator's parameters are inputs under
// their own names and have cotangents or tangents, too. By default contacts are found as in steps; with all_candidates
// the programs contain the rows of all contact candidates.
#pragma once
#include "host/simulation/world_sequence.h"
#include "host/trace/trace_op.h"

namespace featherstorm {

// Return whether derivatives with the rows of all contact candidates are faster than derivatives with found contacts.
//
//   CPU     true if all pairs have closed forms and their contacts have at most 48 rows
//   device  as for steps (few_candidates)
//
// Measured on the CPU: derivatives with all candidates take 0.5 to 0.8 of the time with 12 to 48 rows, and 1.7 times as
// long with 75 rows.
bool derives_all_candidates(const Model<double>& model, bool on_device);

// Build the sequence of stages for one derivative of the step.
//
// is_solved: qacc is already the solution, and the solver does not run. With the rows of all candidates the equations
// do not run either. It has no effect with Runge-Kutta's method, whose step has four solutions.
//
// Throws Error if the robot has no world, or if its step has no derivatives.
Sequence gradient_sequence(Evaluator& evaluator, Precision precision, Derivative derivative,
                           const SolverOptions& options = {}, bool is_solved = false);

}  // namespace featherstorm
