// Steps of a model file's world with its constraints, as a Sequence: assemble the equations, iterate Newton until every
// instance converges, integrate (host/trace/world_programs.h).
//
//   Sequence s = world_sequence(evaluator, Precision::float32);
//   s.run(steps, instances, {q, v, act, qacc, ctrl, ...}, {}, {q, v, act, qacc});
//
// Arrays besides the state and the controls:
//
//   qacc             initial guess of Newton's method, then its solution (MuJoCo's qacc_warmstart)
//   passes           number of Newton iterations
//   qfrc_constraint
//   row_force        forces of the rows of constraints
//   contact_force    forces of the rows of contacts, slot by slot
//   residual         with `report`: residual of the solver. MuJoCo's law: of the forces, relative to the greatest
//                    force; rigid law: the largest error of a velocity
//   gap              with `report`: the least distance of a contact
//
// The `readings` of contacts (contact_readings.h) are arrays, too. The evaluator's parameters are inputs, by their
// names.
#pragma once
#include <functional>
#include <optional>
#include <set>

#include "core/rigid/rigid_rows.h"
#include "host/rollout/sequence.h"

namespace featherstorm {

// Return whether one kernel with the rows of all contact candidates and of constraints is faster on a device: at most
// `few_rows` rows, and all pairs with closed forms. Its state stays in registers for the whole horizon. With more rows,
// factorising with all of them, including rows without contact, costs more than finding the contacts.
inline constexpr int few_rows = 24;
bool few_candidates(const Model<double>& model);
// Return whether all pairs of geoms have closed forms.
bool all_by_closed_forms(const Model<double>& model);

// Greatest number of nodes of a traced program. Longer programs are replaced by kernels that take the robot as data
// (world_stages.h). Making machine code takes about 3 us a node (docs/decisions/27-where-unrolling-ends.md). The limit
// is a count and not a time, so that every machine chooses the same kernels.
inline constexpr int most_traced_nodes = 150000;

struct SolverOptions {
  int iterations = 100;     // greatest number of Newton iterations in a step
  double tolerance = 1e-6;  // of the residual forces, relative to the greatest force
  // true: one kernel has the rows of all contact candidates; false: only rows of contacts that may touch are computed.
  bool all_candidates = false;
  std::optional<RigidLaw<double>> rigid{};  // replaces MuJoCo's law; its own numbers limit the work
  bool report = false;                      // whether residual and gap are computed
  bool forces = true;                       // whether contact_force is computed
  int most_traced = most_traced_nodes;      // 0: always use the kernels that take the robot as data
  std::set<std::string> readings{};         // names of requested arrays of contact_readings.h
};

// Build the sequence. The evaluator must outlive it. Throws Error if its robot has no world, or an unsupported one.
Sequence world_sequence(Evaluator& evaluator, Precision precision, const SolverOptions& options = {});

// Append a step to a sequence with other stages. Declares the arrays of world_sequence. begin(k) appends the stages
// before substep k.
//
//   substeps       number of steps of the file's timestep, under the same controls
//   at_solve       program that runs in the last substep, after the solution of the equations at its beginning (with
//                  Runge-Kutta's method, the first equations), and keeps numbers for later stages. It reads q, v, act
//                  and ctrl there, qacc, row_force, contact_force, uniforms of the sequence, and arrays of
//                  contact_readings.h. Its outputs are declared.
//   at_last_stage  the same after the last solution of the equations, which differs from the first with Runge-Kutta's
//                  method only: that has four
void append_world_step(Sequence& s, Evaluator& evaluator, Precision precision, const SolverOptions& options,
                       const std::function<void(int pass)>& begin, int substeps, const Program& at_solve,
                       const Program& at_last_stage = {});

}  // namespace featherstorm
