// Plans by gradients, in receding horizon: iterative LQR with bounds on the controls (box-DDP).
//
//   minimise sum_t l(x_t+1, u_t) + l_T(x_T)    over u_0 ... u_T-1, lower <= u <= upper
//
//   Ilqr planner(evaluator, {.stepping = {.dt = 0.02}, .residual = ...}, {.horizon = 25});
//   u = planner.command({.q = q.ref(), .v = v.ref()}, t);     // improves the plan; the control at the time t
//
// An iteration:
//
// - F = d x_t+1 / d(x_t, u_t) of all steps, by differences: one batch of T (1 + 2 nv + na + m) control steps. They are
//   derivatives of what the rollout does, whatever its law of contacts, control function and sensors are.
// - Derivatives of the costs by their traces (cost_derivatives.h). Where costs are residuals, l = r^T r / 2, second
//   derivatives are those of Gauss-Newton. Else they are those of l without its negative curvature.
// - k, K of all steps (backward_pass.h).
// - u = clip(u_t + alpha k_t + K_t (x (-) x_t)) for all step sizes alpha: one rollout. The best one is the next plan.
//
// Changes dx are tangent vectors (2 nv + na): of q as in `integrate`, of v, of a world's activations. All numbers are in
// double precision. The solver of contacts begins each changed step with the solution that the plan has before it. The
// rigid law is linearised with its full number of sweeps, from no impulses.
//
// Tassa, Mansard, Todorov 2014; Howell et al. 2022 (MuJoCo MPC) for differences and parallel step sizes.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "host/planning/sampled_plan.h"
#include "host/simulation/rollout.h"

namespace featherstorm {

struct BackwardPass;
struct QuadraticStep;

struct IlqrOptions {
  long horizon = 1;                      // T, control steps of a plan
  int iterations = 10;                   // at most, in a call
  std::vector<double> lower{}, upper{};  // bounds of the controls, m numbers or one; empty: none
  double tolerance = 1e-6;               // a call ends when it expects to lower the cost by less than this share of it
  int step_sizes = 16;                   // alpha from 1 down to 1e-3, in equal ratios
  double difference = 1e-6;              // changes of x and u that F is computed from
  int device = on_host;                  // where control steps and rollouts run
};

// A plan and the feedback about it.
struct IlqrPlan {
  std::vector<double> u;  // (T m)
  // (T + 1, nq), (T + 1, nv), (T + 1, na): states at its steps
  std::vector<double> q, v, act;
  // K (T m n), n = 2 nv + na, of the last iteration, about the plan that it began with; zeros before one
  std::vector<double> gains;
  double cost = 0;
  int iterations = 0;  // of the last call
  bool converged = false;
};

class Ilqr {
 public:
  // The evaluator must outlive this object. The precision and observe of the rollout are not used. Throws the errors of
  // Rollout, and Error for options, for a rollout without costs, and for a robot with loops or couplings, whose
  // coordinates are not free.
  Ilqr(Evaluator& evaluator, const RolloutOptions& rollout, const IlqrOptions& options);
  // The same for functions that have been traced already.
  Ilqr(Evaluator& evaluator, const Stepping& stepping, RolloutStages stages, const IlqrOptions& options);

  // Return the control (m) for a state, from an improved plan. It is valid until the next call.
  //
  // in  state  as for improve()
  // in  t      the state's time [s]: the last plan is shifted by the time that has passed. None: a control step has passed
  // Throws PlanningError if the plan's cost is not finite, and Error if time runs backwards; the plan is then unchanged.
  std::span<const double> command(const RolloutArrays& state, std::optional<double> t = {}, void* stream = nullptr);
  // Compute the control u (m) that acts at a time [s]; any thread may call it. Throws Error if u has another size.
  void control(double t, std::span<double> u) const;
  // Begin anew with controls (T m); empty: the controls nearest to zero.
  void reset(const std::vector<double>& plan = {}) { timed_.reset(plan); }

  // Improve controls (T m) for a state at the time t [s]; the result is last().
  //
  // in  state  q, v, and where needed act (else zeros) and parameters, a row each, in double precision on the host; p (np),
  //            or (T np) for each control step. Its other members are not used
  // Returns false, and changes nothing, if the cost of `u` is not finite.
  bool improve(const RolloutArrays& state, const std::vector<double>& u, double t, void* stream = nullptr);
  const IlqrPlan& last() const { return plan_; }

 private:
  // An array on the host, and its copy where steps and rollouts run.
  struct Mirrored {
    Buffer here, there;
    ArrayRef ref() const { return there.memory() ? there.ref() : here.ref(); }
    double* column(long c) const { return here.component<double>(c); }
  };
  struct State { Mirrored q, v, act; };
  Mirrored array(long instances, long components) const;
  void send(const Mirrored& a, void* stream) const;
  void fetch(const Mirrored& a, void* stream) const;

  bool solve(const RolloutArrays& given, const std::vector<double>& u, double t, void* stream);
  void search(const std::vector<double>& alpha, const BackwardPass* pass, const RolloutArrays& given, double t,
              void* stream);
  void take(long sample);
  std::vector<QuadraticStep> linearise(const RolloutArrays& given, double t, void* stream);
  struct Cost;
  std::shared_ptr<const Cost> cost_of(const Program& cost, const Program& residual, long steps);
  void evaluate(const Cost& cost, const RolloutArrays& given, void* stream) const;
  const Mirrored& of_batch(const std::string& name) const;
  std::vector<SequenceMemory> parameters_of(const RolloutArrays& given, long instances) const;

  Evaluator& evaluator_;
  Stepping stepping_;
  RolloutStages stages_;
  IlqrOptions options_;
  double dt_;
  long nq_, nv_, na_, m_, n_, rows_;  // n: of dx; rows: of a batch of steps
  const char* warm_name_;             // the solution of the contacts' solver
  long warm_;                         // its size
  Sequence steps_, search_;
  SampledPlan timed_;
  double t_ = 0;
  IlqrPlan plan_;
  std::vector<double> solutions_;  // (T + 1, warm_) before the steps of the plan, and behind it
  State begin_, end_;              // of the batch of steps
  Mirrored moved_, u_, p_, time_, time_next_, begin_solution_;
  std::shared_ptr<const Cost> cost_, last_cost_;  // null: there is none
  std::map<std::string, Mirrored> read_;          // arrays of the batch of steps that costs read
  State first_, states_;                          // of the rollouts
  Mirrored alpha_, costs_, used_, solution_;
};

}  // namespace featherstorm
