// Steps of a model file's world with its constraints, as a Sequence: the equations, Newton's steps as long as an instance needs
// them, the way on (host/trace/world_programs.h).
//
//   Sequence s = world_sequence(evaluator, Precision::float32);
//   s.run(steps, instances, {q, v, act, qacc, ctrl, ...}, {}, {q, v, act, qacc});
//
// Arrays beside the state and the controls: qacc is where Newton's method begins and what it finds (MuJoCo's qacc_warmstart),
// passes counts its steps; qfrc_constraint, row_force (rows of
// constraints), contact_force (of contacts, slot by slot).
#pragma once
#include "host/rollout/sequence.h"

namespace featherstorm {

struct SolverOptions {
  int iterations = 100;     // at most, of Newton's method in a step
  double tolerance = 1e-6;  // of what is left of the forces, beside the greatest
  // Whether the rows of all candidates of contacts are in one kernel, as on a device, or only those that may touch are made.
  bool all_candidates = false;
};

// The evaluator must stay. Throws Error where its robot has no world, or one that is not supported.
Sequence world_sequence(Evaluator& evaluator, Precision precision, const SolverOptions& options = {});

}  // namespace featherstorm
