// A plan of controls over a horizon of T control steps, given by K knots, and the samples about it.
//
//   u(s) = clip(sum_k w_k(s) Y_k, lower, upper)     plan: knots Y (K, n); s, control steps after the plan's beginning
//   Y_i = clip(Y + sigma z_i, lower, upper)         sample i: z standard normal numbers (host/rollout/noise.h); Y_0 = Y
//   Y = update(Y_i, costs)                          host/planning/plan_updater.h
//   Y_k = u(s_k + elapsed)                          warm start: the plan of the last call, `elapsed` control steps later
//
// The weights w are those of host/rollout/controls.h. The last control is held behind the horizon.
//
// A call has iterations: draw, simulate, update. What simulates the samples is not known here (host/planning/planner.h,
// and Python's planners for any simulator):
//
//   plan.begin(elapsed);
//   for (int i = 0; i < plan.iterations(); i++) {
//     ... run plan.samples() over K steps, which writes the knots of the samples; simulate them ...
//     plan.update(updater, costs, knots);
//   }
//   plan.commit(t, t);                              // or cancel(): the plan is as before the call
//   plan.acting(t + 0.005, dt, u);
#pragma once
#include <cstdint>
#include <vector>

#include "host/planning/plan_history.h"
#include "host/planning/plan_updater.h"
#include "host/rollout/controls.h"
#include "host/system/error.h"

namespace featherstorm {

// No sample of an iteration has a finite cost: the state is not finite, or every sample diverges.
struct PlanningError : Error { using Error::Error; };

// Return a number for each of n controls, from one for all or one for each; none stay none. Throws Error, beginning with
// `what`, for another count.
std::vector<double> per_control(const std::string& what, std::vector<double> x, long n);

struct PlannerOptions {
  long horizon = 1;     // T, control steps of a plan
  long samples = 1024;  // control sequences of an iteration
  PlanUpdateOptions update{};
  // Standard deviation of the noise: n numbers, (K n), or (iterations K n) (annealed_sigma).
  std::vector<double> sigma{1.0};
  std::vector<double> lower{}, upper{};  // bounds of the controls, n numbers or one; empty: none
  int iterations = 1;                    // improvements of the plan in a call
  long knots = 0;                        // K; 0: one for each control step
  Interpolation interpolation = Interpolation::Linear;
  std::uint64_t seed = 0;
  std::vector<double> sigma_min{};  // with adapt: least noise of iterations after the first, n numbers or one
  // Share of the samples' variance in that of the next iteration: sigma^2 <- (1 - adapt) sigma^2 + adapt spread^2.
  // EliteMean: 1.
  double adapt = 0;
  // gamma of the term gamma sum Y (Y_i - Y) / sigma^2 that MPPI adds to the cost of a sample. Williams et al. 2018
  // (Information-Theoretic Model Predictive Control): gamma = temperature (1 - alpha)
  double noise_cost = 0;
  // Iterations of the first call after a reset; 0: as many as in others. Those that others do not have come first, with
  // the noise of the first iteration.
  int first_iterations = 0;
  // Sets of the robot's parameters that each sample is simulated with, for a plan that does well with all of them. The cost
  // of a sample is then the mean of the share `worst` of its greatest costs: 1 their mean, 0 the greatest. Rockafellar and
  // Uryasev 2000, Optimization of Conditional Value-at-Risk:
  //   cost = (sum of the k greatest + (w - k) c) / w,   w = max(worst models, 1), k = floor(w), c the next one
  int models = 1;
  double worst = 1;
  int device = on_host;  // where the samples of a Planner lie
  long robots = 1;       // plans of a Planner, one for each robot; robot k has the seed plus k
};

// Noise that decreases over the iterations, and towards the beginning of the plan: sigma (n) times
// iteration_decay^i knot_decay^(K - 1 - k) for iteration i and knot k. Xue et al. 2024 (DIAL-MPC). (iterations K n)
std::vector<double> annealed_sigma(const std::vector<double>& sigma, int iterations, long knots, double iteration_decay,
                                   double knot_decay);

class SampledPlan {
 public:
  // n: components of a control. Throws Error with the option, its value and what was expected.
  SampledPlan(PlannerOptions options, long n, Precision precision);

  // Begin anew with controls (T n), or their knots (K n); empty: the controls nearest to zero. Controls become the knots
  // with the least squares of errors.
  void reset(const std::vector<double>& plan = {});

  // Make the memory for the times of plans, before the first one.
  void make_memory() { made_.make_memory(); }

  // Begin a call, `elapsed` >= 0 control steps after the last one. A plan that was shifted by whole steps has the same
  // controls, bit for bit, if there is a knot for each step.
  void begin(double elapsed);
  int iterations() const;  // of this call
  // The samples of the iteration, as knots: Controls of K steps for an array "u". Valid until the next call.
  const Controls& samples();
  // The controls of T steps that an array of knots (B, K, n) means. Without knots between steps use the array itself.
  Controls interpolated(const SequenceMemory& knots) const;
  // Improve the plan by the costs (models B, 1) of the samples, of either precision, and their knots (B, K, n). Sample i has
  // with model m the cost m B + i; one that is not finite spoils the sample. Returns false, and changes nothing, if no cost
  // is finite. Waits for the stream. The second call on the host allocates nothing.
  bool update(PlanUpdater& updater, const ArrayRef& costs, const SequenceMemory& knots, void* stream = nullptr);
  // End a call. begins: the time of the plan's beginning [s];  acts: the time from which it acts, which is later if the
  // plan is for a state that was not predicted. NaN: the plan has no time.
  void commit(double begins, double acts);
  void cancel();
  // Compute the control u (n) that acts at a time [s]: that of the last plan that acts by then, or before the first plan
  // the controls of reset(). dt: time of a control step. Plans of the last 63 calls are known; before they act, the
  // oldest one does. Any thread may call it at any time; it waits for nobody and allocates nothing.
  void acting(double t, double dt, double* u) const;

  const std::vector<double>& knots() const { return now_.knots; }  // (K n)
  void controls(double* u) const;                                  // (T n)
  const std::vector<double>& sigma() const { return sigma_; }      // (K n), noise of the iteration
  double cost() const { return now_.cost; }  // of the best sample of the last iteration, NaN before the first call
  long calls() const { return now_.calls; }
  long knot_count() const { return knots_; }
  long control_size() const { return n_; }
  bool interpolates() const { return knots_ < options_.horizon; }
  const PlannerOptions& options() const { return options_; }

  struct State {
    std::vector<double> knots;  // (K n)
    double cost = 0;
    long calls = 0, draws = 0;  // draws: iterations of all calls
  };
  const State& state() const { return now_; }
  // Go on from the state of another plan of this kind. Throws Error for another number of knots.
  void restore(State state);

 private:
  double rounded(double x) const;
  double clipped(double x, std::size_t control) const;
  void control_at(double step, const auto& knot, double* u) const;
  void choose_sigma();
  Buffer costs_on_the_host(long B, int device, void* stream);
  ArrayRef over_models(const ArrayRef& costs, void* stream);
  ArrayRef with_noise_cost(const ArrayRef& costs, const SequenceMemory& knots, void* stream);

  PlannerOptions options_;
  long n_, knots_;
  Precision precision_;
  std::vector<double> weights_;  // (T, K)
  State now_, before_;
  PlanHistory made_;
  std::vector<double> sigma_;  // (K n) of the iteration
  Controls samples_;
  Buffer costs_;                  // (B, 1) over models, or with the noise's term
  std::vector<double> greatest_;  // of the models' costs
  int iteration_ = 0;
  bool adapted_ = false;
};

}  // namespace featherstorm
