// Steps of a model file's world with its constraints, as a Sequence: the equations, Newton's steps as long as an instance needs
// them, the way on (host/trace/world_programs.h).
//
//   Sequence s = world_sequence(evaluator, Precision::float32);
//   s.run(steps, instances, {q, v, act, qacc, ctrl, ...}, {}, {q, v, act, qacc});
//
// Arrays beside the state and the controls: qacc is where Newton's method begins and what it finds (MuJoCo's qacc_warmstart),
// passes counts its steps; qfrc_constraint, row_force (rows of constraints), contact_force (of contacts, slot by slot), and the
// `readings` of contacts (contact_readings.h). The evaluator's parameters are inputs, by their names. With `report`: residual, what
// the solver leaves undone (of MuJoCo's law of the forces, beside the greatest; of the rigid one the largest error of a velocity),
// and gap, the least distance of a contact.
#pragma once
#include <functional>
#include <optional>
#include <set>

#include "core/rigid/rigid_rows.h"
#include "host/rollout/sequence.h"

namespace featherstorm {

// Whether the rows of all candidates of contacts, and those of constraints, are so few that one kernel with all of them is the better
// one on a device: up to `few_rows`, and all by closed forms. The state stays in registers there for a whole horizon. With
// more rows than that the factors of such a kernel, which knows of no row that it does not touch, cost more than finding out.
inline constexpr int few_rows = 24;
bool few_candidates(const Model<double>& model);
// Whether all pairs of its geoms have closed forms.
bool all_by_closed_forms(const Model<double>& model);

// Nodes of a traced program beyond which the kernels serve that take the robot as data (world_stages.h). A node takes about 3 us until it is
// machine code (docs/decisions/27-where-unrolling-ends.md). Counted, not timed: every machine chooses the same kernels.
inline constexpr int most_traced_nodes = 150000;

struct SolverOptions {
  int iterations = 100;     // at most, of Newton's method in a step
  double tolerance = 1e-6;  // of what is left of the forces, beside the greatest
  // Whether the rows of all candidates of contacts are in one kernel, or only those that may touch are made.
  bool all_candidates = false;
  std::optional<RigidLaw<double>> rigid{};  // in place of MuJoCo's law; its own numbers bound the work
  bool report = false;                      // whether residual and gap are found
  bool forces = true;                       // whether contact_force is there
  int most_traced = most_traced_nodes;      // 0: the kernels that take the robot as data serve
  std::set<std::string> readings{};         // names of arrays of contact_readings.h that are there
};

// The evaluator must stay. Throws Error where its robot has no world, or one that is not supported.
Sequence world_sequence(Evaluator& evaluator, Precision precision, const SolverOptions& options = {});

// A step in a sequence with other stages. Declares the arrays of world_sequence; begin(k) appends what comes before pass k.
//
//   substeps  passes of the file's timestep, under the same controls
//   felt      runs in the last pass, where the equations of its beginning are solved (of Runge-Kutta's method the first ones), and
//             keeps what later stages read: from q, v, act and ctrl there, qacc, row_force, contact_force, uniforms of the
//             sequence, and arrays of contact_readings.h. Its outputs are declared.
//   left      the same of the last solution of the equations, which is another one where Runge-Kutta's method has four
void append_world_step(Sequence& s, Evaluator& evaluator, Precision precision, const SolverOptions& options,
                       const std::function<void(int pass)>& begin, int substeps, const Program& felt,
                       const Program& left = {});

}  // namespace featherstorm
