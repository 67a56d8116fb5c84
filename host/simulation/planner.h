// Planning by sampling, in receding horizon: predictive sampling, MPPI, the cross-entropy method.
//
//   Rollout roll(evaluator, {.stepping = {.dt = 0.02}, .cost = ...});
//   Planner planner(roll, {.horizon = 40, .update = {.temperature = 0.1}, .sigma = {2}, .lower = {-5}, .upper = {5}});
//   u = planner.command({.q = q.ref(), .v = v.ref()}, t);   // the control until the next call
//
// A plan U (T, n) has a control for each control step of the horizon. An iteration draws samples
//
//   U_i = clip(U + sigma z_i, lower, upper),   U_0 = U          z_i: controls.h
//
// runs them, and computes the next plan from their costs (host/rollout/plan_updater.h). The update is one of predictive
// sampling, MPPI and CEM. The spread of CEM's elites is the noise of the next iteration.
//
// Samples depend on the seed, the call and the iteration alone. Results do not depend on the number of threads.
#pragma once
#include <vector>

#include "host/rollout/plan_updater.h"
#include "host/simulation/rollout.h"

namespace featherstorm {

struct PlannerOptions {
  long horizon = 1;     // control steps of a plan
  long samples = 1024;  // control sequences of an iteration
  PlanUpdateOptions update{};
  std::vector<double> sigma{1.0};        // standard deviation of the noise, n numbers or one
  std::vector<double> lower{}, upper{};  // bounds of the controls, n numbers or one; empty: none
  int iterations = 1;                    // improvements of the plan in a call
  long knots = 0;                        // the noise is drawn at so many equally spaced times; 0: at each step
  Interpolation interpolation = Interpolation::Linear;
  std::uint64_t seed = 0;
  std::vector<double> sigma_min{};  // of EliteMean: least noise of later iterations, n numbers or one
  int device = on_host;             // where samples lie
};

class Planner {
 public:
  // The rollout must outlive this object. Throws Error naming the option, its value and what was expected.
  Planner(const Rollout& rollout, PlannerOptions options);

  // Returns the control (n) for a state, from an improved plan. Each call but the first shifts the plan by a control step.
  //
  // in   state  q, v, and where needed act, p and parameters, a row each, of the rollout's precision, on the planner's device
  // in   t0     the state's time [s]
  // Throws Error if no sample has a finite cost; the plan is then unchanged.
  std::vector<double> command(const RolloutArrays& state, double t0 = 0, void* stream = nullptr);
  // Improves the plan without a shift; returns it (T n). Errors as of command.
  const std::vector<double>& improve(const RolloutArrays& state, double t0 = 0, void* stream = nullptr);
  // Begins anew with a plan (T n); empty: the controls nearest to zero.
  void reset(std::vector<double> plan = {});

  const std::vector<double>& plan() const { return plan_; }  // (T n)
  double cost() const { return cost_; }                      // of the best sample of the last iteration

 private:
  void improve(std::vector<double> plan, const RolloutArrays& state, double t0, void* stream);
  Controls noise(const std::vector<double>& plan, const std::vector<double>& sigma, int iteration) const;
  void clip(std::vector<double>& plan) const;

  const Rollout& rollout_;
  PlannerOptions options_;
  long n_;
  std::vector<double> weights_of_knots_, plan_;
  double cost_;
  long calls_ = 0;
  Buffer costs_, samples_;
  PlanUpdater updater_;
  SequenceMemory used_;
};

}  // namespace featherstorm
