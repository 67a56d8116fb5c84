// Planning by sampling, in receding horizon: predictive sampling, MPPI, DIAL, the cross-entropy method.
//
//   Rollout roll(evaluator, {.stepping = {.dt = 0.02}, .cost = ...});
//   Planner planner(roll, {.horizon = 40, .update = {.temperature = 0.1}, .sigma = {2}, .lower = {-5}, .upper = {5}});
//   planner.command({.q = q.ref(), .v = v.ref()}, t);   // improves the plan, and returns the control at the time t
//   planner.control(t + 0.005, u);                      // the same plan a little later
//
// The plan, its samples and its updates are those of sampled_plan.h; the rollout simulates the samples.
//
// One Planner plans for several robots of a model in a call, each with a plan and samples of its own
// (PlannerOptions::robots). Arrays of a state then have a row for each robot, and so have controls and plans. The robots
// are simulated one after the other, so a robot needs as many samples as the machine runs at once.
//
// Samples depend on the seed, the call and the iteration alone. Results do not depend on the number of threads. One thread
// at a time may call a Planner, except for control(), which any thread may call at any time. After warm() the calls of
// one thread on the host allocate nothing.
#pragma once
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "host/planning/expected_time.h"
#include "host/planning/sampled_plan.h"
#include "host/simulation/rollout.h"
#include "host/system/error.h"

namespace featherstorm {

struct CommandOptions {
  // Time of the call [s]. No iteration after the first one begins that is not expected (expected_time.h) to end within it.
  double budget = std::numeric_limits<double>::infinity();
  // The number of iterations, whatever they take: a log of Planner::iterations() replays bit for bit. 0: those of the plan,
  // within the budget.
  int iterations = 0;
  void* stream = nullptr;
};

class Planner {
 public:
  // The rollout must outlive this object. Throws Error naming the option, its value and what was expected.
  Planner(const Rollout& rollout, const PlannerOptions& options);

  // Make the kernels and the memory of this thread for plans of such states. The plan stays as it is.
  void warm(const RolloutArrays& state);
  // Return the controls (R n) for a state of R robots, from improved plans. They are valid until the next call.
  //
  // in   state  q, v, and where needed act, p and parameters, R rows each, of the rollout's precision, on the planner's
  //             device. Parameters may have one row for all robots; of one robot, a row for each of the plan's models. p of
  //             several robots: np numbers for all, (R np), or (R T np)
  // in   t      the state's time [s], at which the plan begins: the last plan is shifted by the time that has passed. None:
  //             a control step has passed, and the rollouts begin at 0
  // Throws PlanningError if no sample of any robot has a finite cost, and Error if time runs backwards or iterations are not
  // 0 to those of the plan; plans are then unchanged.
  std::span<const double> command(const RolloutArrays& state, std::optional<double> t = {},
                                  const CommandOptions& options = {});
  // Improve the plans without a shift; return their controls (R T n). Errors as of command.
  const std::vector<double>& improve(const RolloutArrays& state, double t = 0, void* stream = nullptr);
  // Compute the controls u (R n) that act at a time [s], of the last plan that begins by then: not yet that of a plan for a
  // predicted state. Before the first plan it is that of reset(), behind the horizon the last one. Throws Error if u has
  // another size.
  void control(double t, std::span<double> u) const;
  // Begin anew with controls (T n) or knots (K n), the same for all robots; empty: the controls nearest to zero.
  void reset(const std::vector<double>& plan = {});

  const std::vector<double>& plan() const { return controls_; }                              // (R T n)
  const std::vector<double>& knots(long robot = 0) const { return plan_of(robot).knots(); }  // (K n)
  double cost(long robot = 0) const { return plan_of(robot).cost(); }  // of the best sample of the last iteration
  // Return true if an iteration of the last call found no sample of the robot with a finite cost.
  bool failed(long robot = 0) const { return failed_.at(static_cast<std::size_t>(robot)) != 0; }
  int iterations() const { return done_; }  // of the last call
  int device() const { return options().device; }
  long robots() const { return static_cast<long>(plans_.size()); }

 private:
  void improve(double elapsed, const RolloutArrays& state, double t, const CommandOptions& options);
  bool iterate(const RolloutArrays& state, double t, void* stream);
  void simulate(const RolloutArrays& state, long robot, double t, void* stream);
  void begin(double elapsed);
  void cancel();
  void store_controls();
  const PlannerOptions& options() const { return plans_.front().options(); }
  const SampledPlan& plan_of(long robot) const { return plans_.at(static_cast<std::size_t>(robot)); }

  const Rollout& rollout_;
  std::deque<SampledPlan> plans_;      // of the robots
  std::vector<char> failed_, before_;  // 1 or 0, of the robots: in this call and before it
  double t_ = 0;                       // beginning of the plan
  int done_ = 0;
  bool warm_ = false;                     // the kernels are made
  ExpectedTime iteration_;                // of a warm one
  std::vector<double> controls_, first_;  // (R T n), (R n)
  Buffer costs_, samples_;
  std::vector<SequenceMemory> knots_;  // of the samples, in samples_
  Controls made_;                      // of the samples, from their knots
  RolloutArrays arrays_;
  Sequence draw_;
  PlanUpdater updater_;
};

// Carries a state over a time under the controls of a plan, so that the next plan begins where it will act:
//
//   Predictor predictor(evaluator, options);                       // those of the rollout
//   u = planner.command(predictor.state(planner, state, t, latency), t + latency);
class Predictor {
 public:
  // The evaluator must outlive this object. The options are those of the rollout of the planner; costs and observations are
  // not used.
  Predictor(Evaluator& evaluator, const RolloutOptions& options);
  Predictor(const Predictor&) = delete;

  // Return the state `latency` >= 0 after `state` at the time t [s], with the same parameters; of several models by the
  // first one, and of p for each control step by its first. The steps are the substeps of the rollout, to which the
  // latency is rounded. All arrays are on the host. The result is valid until the next call. A call with no more steps and
  // robots than one before allocates nothing.
  const RolloutArrays& state(const Planner& planner, const RolloutArrays& state, double t, double latency);
  // Make the kernels and the memory for latencies up to a quarter of a second.
  void warm(const Planner& planner, const RolloutArrays& state);

 private:
  void make_memory(long robots);

  Rollout rollout_;
  Evaluator& evaluator_;
  Buffer q_, v_, act_;  // of the robots
  long robots_ = 0;
  Controls controls_;                   // without noise
  std::vector<double> means_, acting_;  // of all robots: (steps R n), (R n)
  RolloutArrays arrays_, after_;
};

}  // namespace featherstorm
