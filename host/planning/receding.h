// A planner that plans again and again from the newest state, in a thread of its own, so that a slow plan stops nobody.
//
//   Receding receding(planner, evaluator, options);            // those of the planner's rollout
//   for (;;) {
//     receding.submit(measured, receding.clock());             // q, v, act
//     receding.control(receding.clock(), u);                   // for the motors, now
//   }
//
// A plan begins where it will act: the state is carried over the expected latency by the model, under the controls of the
// plans that act until then (Predictor). The latency is the time from the measurement of a state until its plan is ready.
// A plan that is late acts as soon as it is ready, and until then the last one goes on. The last one also goes on after a
// plan without a sample of finite cost.
//
// submit() and control() may be called from any thread; they wait for nobody and allocate nothing. The thread makes the
// kernels with the first state, and allocates nothing from the second plan on.
#pragma once
#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "host/planning/expected_time.h"
#include "host/planning/planner.h"

namespace featherstorm {

// A plan, for a log. With the states that were submitted, Planner::command(predictor.state(planner, x, t, latency),
// t + latency, {.iterations = iterations}) makes the same plans again, bit for bit.
struct PlanRecord {
  double t;        // of the measured state [s]
  double latency;  // that was expected [s]
  double spent;    // time of the plan [s]
  double age;      // from t until the plan was ready [s]
  int iterations;
  bool failed;  // no sample had a finite cost, and the plan before this one goes on
};

struct RecedingOptions {
  // Return the time [s] of states and controls; any thread may call it. None: the time since the construction.
  std::function<double()> clock{};
  std::optional<double> latency{};                          // expected [s]; none: as measured, mean and four deviations
  double budget = std::numeric_limits<double>::infinity();  // of a plan and its prediction [s] (CommandOptions)
  std::function<void(const PlanRecord&)> log{};             // called by the thread after each plan
  std::vector<double> p{};                       // of the cost, until submit() has other numbers of the same size
  std::map<std::string, ArrayRef> parameters{};  // of the robot, as in RolloutArrays
};

// Plans since the construction. The first one is not in `late`, `spent` and `age`: it has no latency to expect yet.
struct RecedingStats {
  struct Times { double p50 = 0, p95 = 0, p99 = 0; };
  long plans = 0;         // with a plan as their result
  long failed = 0;        // without a sample of finite cost
  long late = 0;          // not ready when they should have begun to act
  double iterations = 0;  // of a plan, mean
  Times spent, age;  // of a plan, and from the measurement of its state until it was ready; of the last 4096 plans [s]
};

class Receding {
 public:
  // All but the options must outlive this object, and nobody else may call the planner, but for its control(t). evaluator
  // and rollout are those of the planner's Rollout; a prediction takes steps of its substeps. Throws Error for a latency
  // or a budget below 0, and those of Predictor.
  Receding(Planner& planner, Evaluator& evaluator, const RolloutOptions& rollout, const RecedingOptions& options = {});
  ~Receding();

  // Give the state x (nq + nv + na) measured at the time t [s], and perhaps other p. It replaces a state with which no plan
  // has begun. While another thread submits, the call does nothing: the state of the other one is as new. Throws Error
  // for wrong sizes, and the error that has ended the thread, such as one of the rollout's arguments.
  void submit(std::span<const double> x, double t, std::span<const double> p = {});
  // Compute the control u (n) that acts at the time t [s]. Throws Error if u has another size.
  void control(double t, std::span<double> u) const { planner_.control(t, u); }
  // End the thread after its present plan. control() goes on with the last plan.
  void stop();

  double clock() const { return options_.clock(); }
  double expected_latency() const { return latency_.load(std::memory_order_acquire); }  // [s]
  long plans() const { return plans_.load(std::memory_order_acquire); }
  RecedingStats stats() const;

 private:
  struct Measured {
    std::vector<double> x, p;
    double t;
  };
  void run();
  const Measured* next();
  void set_state(const Measured& m);
  void plan(const Measured& m);

  Planner& planner_;
  RecedingOptions options_;
  Predictor predictor_;
  Buffer q_, v_, act_;
  RolloutArrays state_;
  ExpectedTime age_;
  std::optional<double> begins_;  // the last plan

  // Three states: one is being written, one is the newest, one is planned for. Each changes its place by an exchange.
  std::array<Measured, 3> states_;
  std::atomic<unsigned> newest_{1};  // its index, with a flag `fresh` until it is taken
  unsigned written_ = 0, taken_ = 2;
  std::atomic_flag writing_ = ATOMIC_FLAG_INIT;

  std::atomic<long> plans_{0}, failed_{0}, late_{0}, iterations_{0};
  std::atomic<double> latency_;
  std::vector<std::atomic<double>> spent_, ages_;  // of the last plans, in turn
  std::exception_ptr error_;
  std::atomic<bool> stopped_{false}, ended_{false};  // ended: with error_
  std::thread thread_;
};

}  // namespace featherstorm
