// The thread of a Receding (receding.h): it plans again and again from the newest state, whatever plans are made by.
//
//   RecedingLoop loop({.plan = [&](const MeasuredState& m, double latency, double budget) { return iterations; }}, {});
//   loop.start();
//   loop.submit(measured, loop.clock());
//
// submit() may be called from any thread, waits for nobody and, after make_memory(), allocates nothing.
#pragma once
#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "host/memory/memory.h"
#include "host/planning/expected_time.h"

namespace featherstorm {

struct MeasuredState {
  std::vector<double> x, p;  // the state, and numbers of the cost
  double t = 0;              // of the state [s]
};

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
  std::map<std::string, ArrayRef> parameters{};  // of the robot, as in RolloutArrays; a RecedingLoop does not use them
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

class RecedingLoop {
 public:
  // Calls of the thread.
  struct Calls {
    // Make a plan for the state that the measured one becomes within `latency` [s]; `budget` is the time for it [s].
    // Return the number of its iterations. A PlanningError is counted, and the last plan goes on; any other error ends
    // the thread.
    std::function<int(const MeasuredState& measured, double latency, double budget)> plan;
    std::function<void(const MeasuredState& measured)> warm{};  // before the first plan; none: nothing
  };
  // Throws Error for a latency or a budget below 0.
  RecedingLoop(Calls calls, RecedingOptions options);
  ~RecedingLoop();
  // Make the memory of states with so many numbers, before the first one.
  void make_memory(std::size_t x);

  // Start the thread. begins: of a plan that is there already [s]; plans that begin earlier are not made.
  void start(std::optional<double> begins = {});
  // End the thread after its present plan.
  void stop();

  // Throw the error that has ended the thread, if one has.
  void check() const;
  // Give the state x measured at the time t [s], and perhaps other p. It replaces a state with which no plan has begun.
  // While another thread submits, the call does nothing: the state of the other one is as new. Throws Error for another
  // size of p, and the error that has ended the thread.
  void submit(std::span<const double> x, double t, std::span<const double> p = {});

  double clock() const { return options_.clock(); }
  double expected_latency() const { return latency_.load(std::memory_order_acquire); }  // [s]
  long plans() const { return plans_.load(std::memory_order_acquire); }
  RecedingStats stats() const;

 private:
  void run();
  const MeasuredState* next();
  void plan(const MeasuredState& m);

  Calls calls_;
  RecedingOptions options_;
  ExpectedTime age_;
  std::optional<double> begins_;  // the last plan

  // Three states: one is being written, one is the newest, one is planned for. Each changes its place by an exchange.
  std::array<MeasuredState, 3> states_;
  std::atomic<unsigned> newest_{1};  // its index, with a flag `fresh` until it is taken
  unsigned written_ = 0, taken_ = 2;
  std::atomic_flag writing_ = ATOMIC_FLAG_INIT;

  std::atomic<long> plans_{0}, failed_{0}, late_{0}, iterations_{0};
  std::atomic<double> latency_;
  std::vector<std::atomic<double>> spent_, ages_;  // of the last plans, in turn
  std::exception_ptr error_;
  std::atomic<bool> stopped_{false}, ended_{false};  // ended: with error_
  bool warm_ = false;
  std::thread thread_;
};

}  // namespace featherstorm
