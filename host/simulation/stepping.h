// Steps in time: the operation that steps a robot, its numbers, and the meaning of dt, substeps and ignore in every
// call.
//
//   robot with                  operation
//   contacts                    contact_step
//   loops                       loop_step
//   coupled joints              coupled_step
//   the world of a model file   "world", the file's own step, which is not in the table
//   none of these               step
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/rollout/sequence.h"
#include "host/simulation/world_sequence.h"

namespace featherstorm {

// Return the numbers of an operation that steps, except dt, in the order of its uniforms, with their defaults. NaN: a
// value is required. Throws Error for other operations.
std::vector<std::pair<std::string, double>> step_defaults(const std::string& op, double pass_time);

struct StepOptions {
  double dt = 0;  // time of a step [s]; of a world a multiple of the file's timestep, 0: `substeps` times the timestep
  int substeps = 1;  // equal substeps that share dt
  // elements that the robot has but the steps exclude: "contacts", "loops", "couplings", "world"
  std::vector<std::string> ignore{};
  // Numbers of step_defaults by name, one for all components or one for each.
  std::map<std::string, std::vector<double>> numbers{};
  std::optional<RigidLaw<double>> rigid{};  // of a world: replaces MuJoCo's law of contacts (core/rigid/rigid_rows.h)
};

// The operation that steps a robot, and its numbers.
struct Stepping {
  std::string op;
  int substeps;
  double pass_time;                     // [s]
  std::vector<UniformValues> uniforms;  // of the operation, in its order, with defaults
  bool drives;                          // whether kp is given: controls are position targets
  SolverOptions solver{};               // of "world", the step of a model file's world
};

// Return the stepping of a robot. Throws Error, beginning with `caller`, for wrong or unknown numbers, and for a robot
// that has two of contacts, loops, couplings and a world and ignores none of them.
Stepping stepping_of(const Evaluator& evaluator, const std::string& caller, const StepOptions& options);

// Return the solver's options for a model, a precision and a contact law.
SolverOptions solver_options(const Model<double>& model, Precision precision,
                             const std::optional<RigidLaw<double>>& rigid = {});

// Declare the state of a step, and append its stages below, except for a world (append_world_step). The state is q and
// v, and the numbers that the operation keeps between substeps: contact impulses, or the velocities of the joints that
// are not coupled ("independent"), from which v is computed.
//
// This function declares q, v, their successors, the kept numbers, the robot's parameters and the operation's uniforms.
void declare_state(Sequence& s, const Evaluator& evaluator, const Stepping& stepping);
// Append the stages that make coupled joints follow their drivers in the first state; nothing for other robots.
void append_start(Sequence& s, Evaluator& evaluator, const Stepping& stepping, Precision precision);
// Append the substeps of a step. tau, target: names of the arrays (nv) of torques and of position targets.
void append_step(Sequence& s, Evaluator& evaluator, const Stepping& stepping, Precision precision,
                 const std::string& tau, const std::string& target);

}  // namespace featherstorm
