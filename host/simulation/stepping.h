// Steps in time: which operation moves a robot on, its numbers, and what dt, substeps and ignore mean in every call.
//
// A robot with contacts is moved on by contact_step, with loops by loop_step, with coupled joints by coupled_step, else by step.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/rollout/sequence.h"

namespace featherstorm {

// The numbers of an operation that steps, beside dt, in the order of its uniforms, and what they are where they are not given; NaN:
// they must be. Throws Error for other operations.
std::vector<std::pair<std::string, double>> step_defaults(const std::string& op, double pass_time);

struct StepOptions {
  double dt = 0;     // that a step moves on [s]
  int substeps = 1;  // equal passes that share dt
  std::vector<std::string>
      ignore{};  // of "contacts", "loops", "couplings": what shall not count though the robot carries it
  // Numbers of step_defaults by name, one for all components or one for each.
  std::map<std::string, std::vector<double>> numbers{};
};

// What moves a robot on.
struct Stepping {
  std::string op;
  int substeps;
  double pass_time;                     // [s]
  std::vector<UniformValues> uniforms;  // of the operation, in its order, defaults for what was not given
  bool drives;                          // kp is given: controls are targets of positions
};

// Throws Error, beginning with `caller`, for numbers that are wrong or unknown, and for a robot that carries two of contacts,
// loops and couplings and does not ignore one.
Stepping stepping_of(const Evaluator& evaluator, const std::string& caller, const StepOptions& options);

// The stages of a sequence that move its state on. The state is q and v, and what the operation keeps from pass to pass: impulses
// at contacts, or the velocities of the joints that are not coupled ("independent"), from which v is made.
//
// Declares q, v, their successors, what the operation keeps, the robot's parameters and the operation's uniforms.
void declare_state(Sequence& s, const Evaluator& evaluator, const Stepping& stepping);
// Coupled joints follow their drivers from the first state on; nothing for other robots.
void append_start(Sequence& s, Evaluator& evaluator, const Stepping& stepping, Precision precision);
// The passes of a step. tau, target: the names of the arrays (nv) of torques and of targets of positions.
void append_step(Sequence& s, Evaluator& evaluator, const Stepping& stepping, Precision precision,
                 const std::string& tau, const std::string& target);

}  // namespace featherstorm
