// Steps in time: which operation moves a robot on, its numbers, and what dt, substeps and ignore mean in every call.
//
// A robot with contacts is moved on by contact_step, with loops by loop_step, with coupled joints by coupled_step, with a model file's
// world by that file's step ("world", none of the table), else by step.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/rollout/sequence.h"
#include "host/simulation/world_sequence.h"

namespace featherstorm {

// The numbers of an operation that steps, beside dt, in the order of its uniforms, and what they are where they are not given; NaN:
// they must be. Throws Error for other operations.
std::vector<std::pair<std::string, double>> step_defaults(const std::string& op, double pass_time);

struct StepOptions {
  double dt = 0;     // that a step moves on [s]; of a world a multiple of the file's timestep, 0: `substeps` of it
  int substeps = 1;  // equal passes that share dt
  // of "contacts", "loops", "couplings", "world": what shall not count though the robot carries it
  std::vector<std::string> ignore{};
  // Numbers of step_defaults by name, one for all components or one for each.
  std::map<std::string, std::vector<double>> numbers{};
  std::optional<RigidLaw<double>>
      rigid{};  // of a world, in place of MuJoCo's law of contacts (core/rigid/rigid_rows.h)
};

// What moves a robot on.
struct Stepping {
  std::string op;
  int substeps;
  double pass_time;                     // [s]
  std::vector<UniformValues> uniforms;  // of the operation, in its order, defaults for what was not given
  bool drives;                          // kp is given: controls are targets of positions
  SolverOptions solver{};               // of "world", the step of a model file's world
};

// Throws Error, beginning with `caller`, for numbers that are wrong or unknown, and for a robot that carries two of contacts,
// loops, couplings and a world and does not ignore one.
Stepping stepping_of(const Evaluator& evaluator, const std::string& caller, const StepOptions& options);

// The solver's numbers in a precision, and its law.
SolverOptions solver_options(const Model<double>& model, Precision precision,
                             const std::optional<RigidLaw<double>>& rigid = {});

// The stages of a sequence that move its state on, but for a world (append_world_step). The state is q and v, and what the
// operation keeps from pass to pass: impulses at contacts, or the velocities of the joints that are not coupled
// ("independent"), from which v is made.
//
// Declares q, v, their successors, what the operation keeps, the robot's parameters and the operation's uniforms.
void declare_state(Sequence& s, const Evaluator& evaluator, const Stepping& stepping);
// Coupled joints follow their drivers from the first state on; nothing for other robots.
void append_start(Sequence& s, Evaluator& evaluator, const Stepping& stepping, Precision precision);
// The passes of a step. tau, target: the names of the arrays (nv) of torques and of targets of positions.
void append_step(Sequence& s, Evaluator& evaluator, const Stepping& stepping, Precision precision,
                 const std::string& tau, const std::string& target);

}  // namespace featherstorm
