// Batches of control sequences over a horizon, with costs that are compiled into the loop.
//
//   Rollout roll(evaluator, {{.dt = 0.01, .substeps = 2}, .parameters = 3,
//                .cost = [](const TracedState& x, const Traced& u, Expr t, const Traced& p) {
//                  Expr far = 0;
//                  for (int k = 0; k < 3; k++) far = far + square(x.position("panda_hand")[k] - p[k]);
//                  return far;
//                }});
//   roll.run(T, B, {.q = q0, .v = v0, .u = {"u", U, true, step_stride}, .p = target, .costs = costs.ref()});
//
// Functions are called once, with traced numbers, and become stages of a Sequence (sequence.h): machine code on the host, one
// kernel for the whole horizon on a CUDA device. A number that a function takes from elsewhere is fixed then; p may change with
// every run. What the robot carries counts as in a Simulation (stepping.h); impulses at contacts begin at zero.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "host/simulation/stepping.h"

namespace featherstorm {

using Traced = std::vector<Expr>;

// The state of a robot as a traced function sees it, and what follows from it.
class TracedState {
 public:
  TracedState(const Robot& robot, Traced q, Traced v) : q(std::move(q)), v(std::move(v)), robot_(robot) {}
  const Traced q, v;

  // A frame by name, world axes: its origin (3) [m]; rotation by rows (9), frame axes to world axes; velocity (6) [rad/s, m/s],
  // angular first. Throws Error for an unknown name.
  Traced position(const std::string& frame) const;
  Traced rotation(const std::string& frame) const;
  Traced velocity(const std::string& frame) const;
  // The outputs of any operation of the table, of the robot with its own numbers.
  std::vector<Traced> run(const std::string& op, const std::vector<Traced>& in, const std::string& frame = "") const;

 private:
  const Robot& robot_;
};

struct RolloutOptions {
  StepOptions stepping{};  // dt is that of a control step
  int controls = -1;       // numbers of u; -1: nv, of a world those of its actuators
  int parameters = 0;      // numbers of p
  Precision precision = Precision::float32;

  // Torques (nv), or torques and targets of positions (nv each), from the state at the beginning of a control step; held during
  // its substeps. None: u is the torques, or where kp is given the targets. Of a world tau are the controls of its actuators, and
  // there are no targets; None: u is the controls.
  struct Drive { Traced tau, target{}; };
  std::function<Drive(const TracedState& x, const Traced& u, Expr t, const Traced& p)> control{};
  // A number of the state after a control step and its controls; t [s] is the time of x. Those of all control steps are added.
  std::function<Expr(const TracedState& x, const Traced& u, Expr t, const Traced& p)> cost{};
  std::function<Expr(const TracedState& x, Expr t, const Traced& p)> terminal{};  // of the last state
  // Numbers that are returned for each control step, of the same x as the cost's.
  std::function<Traced(const TracedState& x, const Traced& u, Expr t, const Traced& p)> observe{};
};

// What a rollout is made of, traced: programs with inputs q, v, u, p and the time, "t" at the beginning of a control step for
// control, "t_next" at its end for the others; outputs tau and perhaps target, total_next of total, observation. Empty: none.
// Where a model file's world is stepped they may read act, qacc, ctrl, and what `felt` keeps of the last pass (world_sequence.h);
// control, which is needed then, has the output ctrl.
struct RolloutStages {
  int controls, parameters;
  bool shared_parameters;  // p is the same for all instances
  Program control{}, cost{}, terminal{}, observe{}, felt{};
};

// The sequence of a rollout: arrays q, v, u, total, observation, p and the robot's parameters, of a world those of its step; uniforms
// t, t_next and those of the operation that steps. stepping.op may be "world".
Sequence rollout_sequence(Evaluator& evaluator, const Stepping& stepping, Precision precision,
                          const RolloutStages& stages);

// Memory of one run; all of the rollout's precision, on the host or on one device. No data: not wanted, or none.
struct RolloutArrays {
  ArrayRef q{}, v{}, act{};  // (B, nq), (B, nv), of a world (B, na), or one row for all; act may be left out: zeros
  SequenceMemory u{};        // for each control step (B, nu)
  const Controls* made = nullptr;                // in place of u: noise, or knots that are interpolated (controls.h)
  std::vector<double> p{};                       // the same for all instances
  std::map<std::string, ArrayRef> parameters{};  // of the robot, by name: (B, n) or one row for all
  ArrayRef costs{};                              // (B, 1), NaN where a state is not finite
  ArrayRef q_final{}, v_final{}, act_final{};    // (B, nq), (B, nv), of a world (B, na)
  SequenceMemory q_states{}, v_states{}, used{}, observations{};  // after each control step
};

class Rollout {
 public:
  // The evaluator must stay. Throws Error as stepping_of, and where a function returns a wrong number of values.
  Rollout(Evaluator& evaluator, const RolloutOptions& options);

  // Runs `steps` control steps of `instances` robots from the time t0 [s]. On a device it returns before the work on `stream` is
  // done. Throws Error naming the array, what came and what was expected.
  void run(long steps, long instances, const RolloutArrays& arrays, double t0 = 0, void* stream = nullptr) const;

  int observed() const { return observed_; }  // numbers that observe returns
  int controls() const { return controls_; }  // numbers of u
  Precision precision() const { return precision_; }
  int threads() const { return evaluator_.threads(); }

 private:
  Evaluator& evaluator_;
  Stepping stepping_;
  double dt_;
  int observed_ = 0, controls_ = 0;
  Precision precision_;
  Sequence sequence_;
};

}  // namespace featherstorm
