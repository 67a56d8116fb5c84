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
#include <span>

#include "host/planning/planner.h"
#include "host/planning/receding_loop.h"

namespace featherstorm {

class Receding {
 public:
  // All but the options must outlive this object, and nobody else may call the planner, but for its control(t). evaluator
  // and rollout are those of the planner's Rollout; a prediction takes steps of its substeps. Throws Error for a latency
  // or a budget below 0, and those of Predictor.
  Receding(Planner& planner, Evaluator& evaluator, const RolloutOptions& rollout, const RecedingOptions& options = {});

  // Give the state x (nq + nv + na) measured at the time t [s], and perhaps other p (RecedingLoop::submit). Throws
  // Error for wrong sizes, and the error that has ended the thread, such as one of the rollout's arguments.
  void submit(std::span<const double> x, double t, std::span<const double> p = {});
  // Compute the control u (n) that acts at the time t [s]. Throws Error if u has another size.
  void control(double t, std::span<double> u) const { planner_.control(t, u); }
  // End the thread after its present plan. control() goes on with the last plan.
  void stop() { loop_.stop(); }

  double clock() const { return loop_.clock(); }
  double expected_latency() const { return loop_.expected_latency(); }  // [s]
  long plans() const { return loop_.plans(); }
  RecedingStats stats() const { return loop_.stats(); }

 private:
  void set_state(const MeasuredState& m);
  int plan(const MeasuredState& m, double latency, double budget);

  Planner& planner_;
  Predictor predictor_;
  std::size_t n_;  // of a state
  Buffer q_, v_, act_;
  RolloutArrays state_;
  RecedingLoop loop_;
};

}  // namespace featherstorm
