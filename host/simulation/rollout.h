// Rollouts of a batch of control sequences over a horizon, with costs that are compiled into the loop.
//
//   Rollout roll(evaluator, {{.dt = 0.01, .substeps = 2}, .parameters = 3,
//                .cost = [](const TracedState& x, const Traced& u, Expr t, const Traced& p) {
//                  Expr far = 0;
//                  for (int k = 0; k < 3; k++) {
//                    const Expr error = x.position("panda_hand")[k] - p[k];
//                    far = far + error * error;
//                  }
//                  return far;
//                }});
//   roll.run(T, B, {.q = q0, .v = v0, .u = {"u", U, true, step_stride}, .p = target, .costs = costs.ref()});
//
// Functions are called once, with traced numbers, and become stages of a Sequence (sequence.h): machine code on the
// host, one kernel for the whole horizon on a CUDA device. Other variables that a function reads are fixed at that
// call; p may change with every run. Contacts, loops and coupled joints are stepped as in a Simulation (stepping.h).
// Contact impulses begin at zero unless a run is given others.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host/simulation/stepping.h"

namespace featherstorm {

using Traced = std::vector<Expr>;

// The state of a robot for a traced function, and quantities computed from it.
class TracedState {
 public:
  TracedState(const Robot& robot, Traced q, Traced v) : q(std::move(q)), v(std::move(v)), robot_(robot) {}
  const Traced q, v;

  // Return a quantity of a frame, given by name, in world axes: position of its origin (3) [m]; rotation (9), row by
  // row, from frame axes to world axes; velocity (6) [rad/s, m/s], angular first. Throws Error for an unknown name.
  Traced position(const std::string& frame) const;
  Traced rotation(const std::string& frame) const;
  Traced velocity(const std::string& frame) const;
  // Return the outputs of any operation of the table, with the robot's own numbers.
  std::vector<Traced> run(const std::string& op, const std::vector<Traced>& in, const std::string& frame = "") const;

 private:
  const Robot& robot_;
};

struct RolloutOptions {
  StepOptions stepping{};  // dt is the time of a control step
  int controls = -1;       // components of u; -1: nv, or for a world the number of its actuators
  int parameters = 0;      // components of p
  Precision precision = Precision::float32;

  // Compute torques (nv), or torques and position targets (nv each), from the state at the beginning of a control step.
  // They are held during its substeps. Without this function u is the torques, or the targets if kp is given. For a
  // world tau is the controls of its actuators and there are no targets; without this function u is the controls.
  struct Drive { Traced tau, target{}; };
  std::function<Drive(const TracedState& x, const Traced& u, Expr t, const Traced& p)> control{};
  // Return the cost of the state after a control step and of its controls; t [s] is the time of x. Costs of all control
  // steps are summed.
  std::function<Expr(const TracedState& x, const Traced& u, Expr t, const Traced& p)> cost{};
  std::function<Expr(const TracedState& x, Expr t, const Traced& p)> terminal{};  // of the last state
  // Return residuals r of the same numbers as the cost, and of the last state. The cost of a control step also has
  // r^T r / 2. Gradient methods (host/planning/ilqr.h) compute its curvature from dr alone.
  std::function<Traced(const TracedState& x, const Traced& u, Expr t, const Traced& p)> residual{};
  std::function<Traced(const TracedState& x, Expr t, const Traced& p)> terminal_residual{};
  // Return numbers to be stored for each control step, from the same x as the cost.
  std::function<Traced(const TracedState& x, const Traced& u, Expr t, const Traced& p)> observe{};
};

// Traced programs of a rollout; empty: absent.
//
//   inputs   q, v, u, p and the time: for control "t", the beginning of a control step; for others "t_next", its end
//   outputs  tau and perhaps target; total_next from total; observation; residual, terminal_residual where half their
//            squares are the whole cost
//
// With a model file's world they may also read act, qacc, ctrl, and the outputs of `at_solve` from the last substep
// (world_sequence.h). A world requires control, and its output is ctrl.
struct RolloutStages {
  int controls, parameters;
  bool shared_parameters;  // p is the same for all instances
  Program control{}, cost{}, terminal{}, observe{}, at_solve{}, residual{}, terminal_residual{};
};

// Trace the functions of a rollout. Throws Error if one returns a wrong number of values.
RolloutStages rollout_stages(const Robot& robot, const RolloutOptions& options, bool world);

// Return the sequence of a rollout. Arrays: q, v, u, total, observation, p and the robot's parameters, or those of a
// world's step. Uniforms: t, t_next and those of the stepping operation. stepping.op may be "world".
//
//   feedback   program that computes u before `control`; its inputs besides the state are declared. Empty: u is given
//   one_step   t, t_next and p are arrays: instances are steps at different times, without costs and observations
Sequence rollout_sequence(Evaluator& evaluator, const Stepping& stepping, Precision precision,
                          const RolloutStages& stages, const Program& feedback = {}, bool one_step = false);

// Arrays of one run, all in the rollout's precision, on the host or on one device. No data: output not requested, or
// input absent.
struct RolloutArrays {
  ArrayRef q{}, v{}, act{};  // (B, nq), (B, nv), of a world (B, na), or one row for all; act without data: zeros
  SequenceMemory u{};        // for each control step (B, controls)
  // The solution at the first state from which the solver begins: of a world its accelerations (B, nv), with contacts their
  // impulses (B, 3 nc), or one row for all; without data: zeros
  ArrayRef warm{};
  const Controls* made = nullptr;                // replaces u: noise, or interpolated knots (controls.h)
  std::vector<double> p{};                       // the same for all instances
  std::map<std::string, ArrayRef> parameters{};  // of the robot, by name: (B, n) or one row for all
  ArrayRef costs{};                              // (B, 1), infinite if the sum or the state is not finite
  ArrayRef q_final{}, v_final{}, act_final{};    // (B, nq), (B, nv), of a world (B, na)
  SequenceMemory q_states{}, v_states{}, used{}, observations{};  // after each control step
};

class Rollout {
 public:
  // The evaluator must outlive this object. Throws the errors of stepping_of, and Error if a function returns a wrong
  // number of values.
  Rollout(Evaluator& evaluator, const RolloutOptions& options);

  // Run `steps` control steps of `instances` robots from the time t0 [s]. On a device it returns before the work on
  // `stream` is done. Throws Error with the array, its value and the expected one.
  void run(long steps, long instances, const RolloutArrays& arrays, double t0 = 0, void* stream = nullptr) const;

  int observed() const { return observed_; }      // components of observe
  int controls() const { return controls_; }      // components of u
  int parameters() const { return parameters_; }  // components of p
  double dt() const { return dt_; }               // of a control step [s]
  Precision precision() const { return precision_; }
  int threads() const { return evaluator_.threads(); }

 private:
  Evaluator& evaluator_;
  Stepping stepping_;
  double dt_;
  int observed_ = 0, controls_ = 0, parameters_ = 0;
  Precision precision_;
  Sequence sequence_;
};

}  // namespace featherstorm
