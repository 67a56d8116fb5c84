// Derivatives of one pass of a model file's world as a Sequence: the equations and Newton's steps, then the programs of
// host/gradients/world_gradients.h where they are solved.
//
//   Sequence s = gradient_sequence(evaluator, Precision::float64, Derivative::vjp, {.tolerance = 1e-10});
//   s.run(1, instances, {q, v, act, qacc, ctrl, ..., q_next_bar, v_next_bar, act_next_bar}, {}, {q_bar, v_bar, ctrl_bar, ...});
//
// qacc is where Newton's method begins and what it finds. The evaluator's parameters are inputs by their names, and have cotangents
// or tangents as well. Contacts are found as steps do; with all_candidates the rows of all candidates are in the programs.
#pragma once
#include "host/simulation/world_sequence.h"
#include "host/trace/trace_op.h"

namespace featherstorm {

// Whether derivatives with the rows of all candidates are the faster ones. On a processor: all by closed forms, and up to 48 rows of
// contacts. With 12 to 48 rows they take 0.5 to 0.8 of the time of found contacts, with 75 rows 1.7 times as long. On a device as of steps
// (few_candidates).
bool derives_all_candidates(const Model<double>& model, bool on_device);

// is_solved: qacc is the solution already, and the solver does not run, nor, with the rows of all candidates, the equations. Of
// Runge-Kutta's method, which has four solutions, it changes nothing.
// Throws Error where the robot has no world, or one whose step has no derivatives.
Sequence gradient_sequence(Evaluator& evaluator, Precision precision, Derivative derivative,
                           const SolverOptions& options = {}, bool is_solved = false);

}  // namespace featherstorm
