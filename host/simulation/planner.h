// Planning by sampling, in receding horizon: predictive sampling, MPPI, the cross-entropy method.
//
//   Rollout roll(evaluator, {.stepping = {.dt = 0.02}, .cost = ...});
//   Planner planner(roll, {.horizon = 40, .sigma = {2}, .lower = {-5}, .upper = {5}, .temperature = 0.1});
//   u = planner.command({.q = q.ref(), .v = v.ref()}, t);   // the control until the next call
//
// A plan U (T, n) has a control for each control step of the horizon. An iteration draws samples
//
//   U_i = clip(U + sigma z_i, lower, upper),   U_0 = U          z_i: controls.h
//
// runs them, and makes the next plan from their costs c_i:
//
//   Best          U = U_b, b the sample with the least cost                 Howell et al. 2022, "Predictive Sampling"
//   SoftmaxMean   U = sum w_i U_i,  w_i ~ exp(-c_i / temperature)           Williams et al. 2017 (MPPI), without noise term
//   EliteMean     U, sigma: mean and standard deviation of the elites      Rubinstein and Kroese 2004 (CEM)
//
// Samples depend on the seed, the call and the iteration alone. Results do not depend on the number of threads.
#pragma once
#include <memory>
#include <vector>

#include "host/rollout/reduction.h"
#include "host/simulation/rollout.h"

namespace featherstorm {

enum class PlanUpdate { Best, SoftmaxMean, EliteMean };

struct PlannerOptions {
  long horizon = 1;     // control steps of a plan
  long samples = 1024;  // control sequences of an iteration
  PlanUpdate update = PlanUpdate::SoftmaxMean;
  std::vector<double> sigma{1.0};        // standard deviation of the noise, n numbers or one
  std::vector<double> lower{}, upper{};  // bounds of the controls, n numbers or one; empty: none
  int iterations = 1;                    // improvements of the plan in a call
  long knots = 0;                        // the noise is drawn at so many equally spaced times; 0: at each step
  Interpolation interpolation = Interpolation::Linear;
  std::uint64_t seed = 0;
  double temperature = 1;           // of SoftmaxMean, in the unit of the cost
  long elites = 64;                 // of EliteMean
  std::vector<double> sigma_min{};  // of EliteMean: least noise of later iterations, n numbers or one
  int device = on_host;             // where samples lie
};

class Planner {
 public:
  // The rollout must stay. Throws Error naming the option, its value and what was expected.
  Planner(const Rollout& rollout, PlannerOptions options);

  // Returns the control (n) for a state, from an improved plan; each call but the first moves the plan on by a control step.
  //
  // in   state  q, v, and where needed act, p and parameters, one row each, of the rollout's precision and on the planner's device
  // in   t0     the state's time [s]
  // Throws Error where no sample has a finite cost.
  std::vector<double> command(const RolloutArrays& state, double t0 = 0, void* stream = nullptr);
  // Improves the plan without moving it on; returns it (T n).
  const std::vector<double>& improve(const RolloutArrays& state, double t0 = 0, void* stream = nullptr);
  // Begins anew with a plan (T n); empty: the controls nearest to zero.
  void reset(std::vector<double> plan = {});

  const std::vector<double>& plan() const { return plan_; }  // (T n)
  double cost() const { return cost_; }                      // of the best sample of the last iteration

 private:
  Controls noise(const std::vector<double>& sigma, int iteration) const;
  void choose(const std::vector<long>& samples, void* stream);
  std::vector<double> weighted_mean(void* stream, bool spread);
  std::vector<long> elites(void* stream) const;
  void clip(std::vector<double>& plan) const;

  const Rollout& rollout_;
  PlannerOptions options_;
  long n_;
  std::vector<double> weights_of_knots_, plan_;
  double cost_;
  long calls_ = 0;
  std::unique_ptr<Reduction> reduction_;
  Buffer costs_, samples_, weights_, mean_, spread_;
  SequenceMemory used_;
};

}  // namespace featherstorm
