#include "host/planning/ilqr.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "host/memory/device.h"
#include "host/planning/backward_pass.h"
#include "host/system/error.h"
#include "host/trace/parameters.h"

namespace featherstorm {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double least_step = 1e-3;   // of the step sizes
constexpr double enough_gain = 1e-4;  // share of the expected decrease that a step must reach
constexpr double least_mu = 1e-3, most_mu = 1e6, mu_factor = 4;  // regularisation: below the least there is none
constexpr double long_step = 0.5, short_step = 0.3;              // step sizes that lower and raise it

void require(bool good, const std::string& what) {
  if (!good) throw Error("Ilqr: " + what);
}

Expr bounded(Expr u, const IlqrOptions& o, std::size_t k) {
  if (!o.lower.empty()) u = max(u, Expr(o.lower[k]));
  if (!o.upper.empty()) u = min(u, Expr(o.upper[k]));
  return u;
}

// u = clip(u_plan + alpha k + K (x (-) x_plan)).
Program feedback_of(const Robot& robot, const IlqrOptions& o, int m, int na) {
  const int nq = robot.model.nq, nv = robot.model.nv, n = 2 * nv + na;
  Program p;
  const Traced q = p.input("q", nq), v = p.input("v", nv), act = na > 0 ? p.input("act", na) : Traced{};
  const Expr alpha = p.input("alpha", 1)[0];
  const Traced u = p.input("u_plan", m, true), k = p.input("k", m, true), K = p.input("K", m * n, true);
  const Traced q_plan = p.input("q_plan", nq, true), v_plan = p.input("v_plan", nv, true);
  const Traced act_plan = na > 0 ? p.input("act_plan", na, true) : Traced{};
  Traced result;
  {
    Tracing scope(p.graph);
    Traced dx = TracedState(robot, q, v).run("difference", {q_plan, q})[0];
    for (int c = 0; c < nv; c++) dx.push_back(v[c] - v_plan[c]);
    for (int c = 0; c < na; c++) dx.push_back(act[c] - act_plan[c]);
    for (int c = 0; c < m; c++) {
      Expr sum = u[c] + alpha * k[c];
      for (int d = 0; d < n; d++) sum = sum + K[c * n + d] * dx[d];
      result.push_back(bounded(sum, o, static_cast<std::size_t>(c)));
    }
    p.output("u", result);
  }
  return p;
}

// A copy of options whose bounds have a number for each control.
IlqrOptions checked(IlqrOptions o, long m) {
  const auto count = [](const char* name, long x) {
    require(x >= 1, std::string(name) + " is " + std::to_string(x) + ", expected 1 or more");
  };
  count("horizon", o.horizon), count("iterations", o.iterations), count("step_sizes", o.step_sizes);
  require(o.tolerance >= 0, "tolerance is " + std::to_string(o.tolerance) + ", expected 0 or more");
  require(o.difference > 0, "difference is " + std::to_string(o.difference) + ", expected a number above 0");
  o.lower = per_control("Ilqr: lower", o.lower, m), o.upper = per_control("Ilqr: upper", o.upper, m);
  for (std::size_t k = 0; k < o.lower.size() && k < o.upper.size(); k++)
    require(o.lower[k] <= o.upper[k], "lower is above upper: " + std::to_string(o.lower[k]) + " and " +
                                          std::to_string(o.upper[k]) + " of control " + std::to_string(k));
  return o;
}

// Every sweep of the rigid law is done: where they end early, small changes of a state make jumps.
Stepping with_all_sweeps(Stepping s) {
  if (s.solver.rigid) s.solver.rigid->tolerance = 0;
  return s;
}

Stepping stepping_for(Evaluator& e, const RolloutOptions& o) {
  Stepping s = stepping_of(e, "Ilqr", o.stepping);
  s.solver = solver_options(e.robot().model, Precision::float64, s.solver.rigid);
  return s;
}

// Components of a row (1 or B, n), of an array on the host in double precision.
std::vector<double> row_of(const ArrayRef& a, long n, const char* name) {
  if (n == 0) return {};
  std::vector<double> x(static_cast<std::size_t>(n), 0.0);
  if (!a.data && std::string_view(name) == "act") return x;
  require(a.data, std::string(name) + " is not given");
  require(a.precision == Precision::float64 && a.device == on_host && a.components == n && a.instances == 1,
          std::string(name) + " has shape " + shape_words(a.instances, a.components) + " in " + words(a.precision) +
              " on " + place(a.device) + ", expected " + shape_words(1, n) + " in float64 on the host");
  for (long c = 0; c < n; c++)
    x[static_cast<std::size_t>(c)] = static_cast<const double*>(a.data)[c * a.component_stride];
  return x;
}

SequenceMemory every_step(const char* name, const ArrayRef& all, long components) {
  ArrayRef step = all;
  step.components = components;
  return {name, step, true, components * all.component_stride};
}

}  // namespace

Ilqr::Ilqr(Evaluator& e, const RolloutOptions& rollout, const IlqrOptions& options)
    : Ilqr(e, stepping_for(e, rollout),
           rollout_stages(e.robot(), rollout, stepping_of(e, "Ilqr", rollout.stepping).op == "world"), options) {}

Ilqr::Ilqr(Evaluator& e, const Stepping& stepping, RolloutStages stages, const IlqrOptions& options)
    : evaluator_(e),
      stepping_(stepping),
      stages_(std::move(stages)),
      options_(checked(options, stages_.controls)),
      dt_(stepping.pass_time * stepping.substeps),
      nq_(e.robot().model.nq),
      nv_(e.robot().model.nv),
      na_(stepping.op == "world" ? e.robot().model.world.na : 0),
      m_(stages_.controls),
      n_(2 * nv_ + na_),
      rows_(options_.horizon * (1 + n_ + m_)),
      warm_name_(stepping.op == "world" ? "qacc" : "impulse"),
      warm_(stepping.solver.rigid           ? 0
            : stepping.op == "world"        ? nv_
            : stepping.op == "contact_step" ? 3 * e.robot().model.contacts.nc
                                            : 0),
      steps_(rollout_sequence(e, with_all_sweeps(stepping), Precision::float64, stages_, {}, true)),
      search_(rollout_sequence(e, stepping, Precision::float64, stages_,
                               feedback_of(e.robot(), options_, static_cast<int>(m_), static_cast<int>(na_)))),
      timed_({.horizon = options_.horizon, .samples = 1, .lower = options_.lower, .upper = options_.upper}, m_,
             Precision::float64) {
  require(stepping.op != "loop_step" && stepping.op != "coupled_step",
          e.robot().name + " carries loops or couplings, whose coordinates are not free");
  require(!stages_.cost.outputs.empty() || !stages_.terminal.outputs.empty(),
          "the rollout has no cost, expected a cost or a residual");
  require(m_ > 0, "the rollout has no controls");
  const long T = options_.horizon, S = options_.step_sizes;
  const auto state = [&](long rows, long steps) {
    return State{array(rows, steps * nq_), array(rows, steps * nv_), array(rows, steps * na_)};
  };
  begin_ = state(rows_, 1), end_ = state(rows_, 1), moved_ = array(rows_, nv_), u_ = array(rows_, m_);
  p_ = array(rows_, stages_.parameters), time_ = array(rows_, 1), time_next_ = array(rows_, 1);
  cost_ = cost_of(stages_.cost, stages_.residual, T);
  last_cost_ = cost_of(stages_.terminal, stages_.terminal_residual, 1);
  first_ = state(1, 1), states_ = state(S, T);
  alpha_ = array(S, 1), costs_ = array(S, 1), used_ = array(S, T * m_);
  begin_solution_ = array(rows_, warm_), solution_ = array(S, T * warm_);
  solutions_.resize(static_cast<std::size_t>((T + 1) * warm_));
}

std::span<const double> Ilqr::command(const RolloutArrays& state, std::optional<double> t, void* stream) {
  timed_.begin(timed_.calls() == 0 ? 0 : t ? (*t - t_) / dt_ : 1);
  SampledPlan::State next;
  try {
    std::vector<double> u(static_cast<std::size_t>(options_.horizon * m_));
    timed_.controls(u.data());
    if (!improve(state, u, t.value_or(0), stream))
      throw PlanningError("Ilqr: the plan has no finite cost; is the state finite?");
    next = timed_.state();
    next.knots = plan_.u, next.cost = plan_.cost;
    timed_.make_memory();  // so that commit() cannot fail
  } catch (...) {
    timed_.cancel();
    throw;
  }
  timed_.restore(std::move(next));
  t_ = t.value_or(0);
  timed_.commit(t_, t_);
  return {plan_.u.data(), static_cast<std::size_t>(m_)};
}

void Ilqr::control(double t, std::span<double> u) const {
  require(static_cast<long>(u.size()) == m_,
          "u has " + std::to_string(u.size()) + " numbers, expected " + std::to_string(m_));
  timed_.acting(t, dt_, u.data());
}

bool Ilqr::improve(const RolloutArrays& given, const std::vector<double>& u, double t, void* stream) {
  const long T = options_.horizon, np = stages_.parameters;
  require(static_cast<long>(u.size()) == T * m_,
          "u has " + std::to_string(u.size()) + " numbers, expected " + std::to_string(T * m_));
  const auto p_count = static_cast<long>(given.p.size());
  require(p_count == np || p_count == T * np, "p has " + std::to_string(p_count) + " numbers, expected " +
                                                  std::to_string(np) + " or " + std::to_string(T * np));
  IlqrPlan before = std::move(plan_);
  plan_ = {};
  bool done = false;
  try {
    done = solve(given, u, t, stream);
  } catch (...) {
    plan_ = std::move(before);
    throw;
  }
  if (!done) plan_ = std::move(before);
  return done;
}

bool Ilqr::solve(const RolloutArrays& given, const std::vector<double>& u, double t, void* stream) {
  const long T = options_.horizon;
  plan_.u = u, plan_.gains.assign(static_cast<std::size_t>(T * m_ * n_), 0.0);
  plan_.q = row_of(given.q, nq_, "q"), plan_.v = row_of(given.v, nv_, "v"), plan_.act = row_of(given.act, na_, "act");
  for (auto* x : {&plan_.q, &plan_.v, &plan_.act}) {
    const std::vector<double> row = *x;
    for (long k = 0; k < T; k++) x->insert(x->end(), row.begin(), row.end());
  }
  search({0.0}, nullptr, given, t, stream);
  if (!std::isfinite(costs_.column(0)[0])) return false;
  take(0);
  const VectorXd lower = Eigen::Map<const VectorXd>(options_.lower.data(), static_cast<Index>(options_.lower.size()));
  const VectorXd upper = Eigen::Map<const VectorXd>(options_.upper.data(), static_cast<Index>(options_.upper.size()));
  std::vector<double> alpha;
  for (int s = 0; s < options_.step_sizes; s++)
    alpha.push_back(options_.step_sizes == 1 ? 1.0 : std::pow(least_step, double(s) / (options_.step_sizes - 1)));
  double mu = 0;
  while (plan_.iterations < options_.iterations && !plan_.converged) {
    plan_.iterations++;
    const std::vector<QuadraticStep> steps = linearise(given, t, stream);
    std::vector<VectorXd> controls;
    for (long k = 0; k < T; k++) controls.push_back(Eigen::Map<const VectorXd>(plan_.u.data() + k * m_, m_));
    bool singular = false;  // without regularisation
    for (bool improved = false, searched = false; !improved && !plan_.converged;) {
      const std::optional<BackwardPass> pass = backward_pass(steps, controls, lower, upper, mu);
      if (pass) {
        const double expected = -(pass->linear + pass->quadratic);
        if (expected <= options_.tolerance * std::abs(plan_.cost)) {
          if (searched || singular) return true;  // small by regularisation alone
          if (mu > 0) {
            mu = 0;
            continue;
          }
          plan_.converged = true;
          break;
        }
        searched = true;
        search(alpha, &*pass, given, t, stream);
        const double* costs = costs_.column(0);
        long best = -1;
        for (long s = 0; s < options_.step_sizes; s++)
          if (std::isfinite(costs[s]) && (best < 0 || costs[s] < costs[best])) best = s;
        const double a = best < 0 ? 0 : alpha[static_cast<std::size_t>(best)];
        if (best >= 0 && plan_.cost - costs[best] > -enough_gain * a * (pass->linear + a * pass->quadratic)) {
          for (long k = 0; k < T; k++)
            Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
                plan_.gains.data() + k * m_ * n_, m_, n_) = pass->K[static_cast<std::size_t>(k)];
          take(best);
          improved = true;
          if (a >= long_step) mu = mu / mu_factor < least_mu ? 0 : mu / mu_factor;
          else if (a < short_step) mu = std::max(mu * mu_factor, least_mu);
          break;
        }
      }
      singular = singular || (!pass && mu == 0);
      mu = std::max(mu * mu_factor, least_mu);
      if (mu > most_mu) return true;  // no step lowers the cost
    }
  }
  return true;
}

// Run rollouts with step sizes. Without a pass they are the plan itself.
void Ilqr::search(const std::vector<double>& alpha, const BackwardPass* pass, const RolloutArrays& given, double t,
                  void* stream) {
  const long T = options_.horizon, S = static_cast<long>(alpha.size());
  for (const auto& [to, from] : {std::pair(&first_.q, &plan_.q), {&first_.v, &plan_.v}, {&first_.act, &plan_.act}}) {
    for (long c = 0; c < to->here.ref().components; c++) to->column(c)[0] = (*from)[static_cast<std::size_t>(c)];
    send(*to, stream);
  }
  std::copy(alpha.begin(), alpha.end(), alpha_.column(0));
  send(alpha_, stream);
  std::vector<double> k(static_cast<std::size_t>(T * m_)), K(static_cast<std::size_t>(T * m_ * n_));
  if (pass)
    for (long s = 0; s < T; s++)
      for (long c = 0; c < m_; c++) {
        k[static_cast<std::size_t>(s * m_ + c)] = pass->k[static_cast<std::size_t>(s)][c];
        for (long d = 0; d < n_; d++)
          K[static_cast<std::size_t>((s * m_ + c) * n_ + d)] = pass->K[static_cast<std::size_t>(s)](c, d);
      }
  const auto steps_of = [&](const std::vector<double>& x, long n) {
    return std::vector<double>(x.begin(), x.begin() + T * n);
  };
  const auto times = [&](long later) {
    std::vector<double> x;
    for (long s = 0; s < T; s++) x.push_back(t + dt_ * static_cast<double>(s + later));
    return x;
  };
  std::vector<UniformValues> uniforms = stepping_.uniforms;
  uniforms.insert(uniforms.end(), {{"u_plan", plan_.u},
                                   {"k", std::move(k)},
                                   {"K", std::move(K)},
                                   {"q_plan", steps_of(plan_.q, nq_)},
                                   {"v_plan", steps_of(plan_.v, nv_)},
                                   {"p", given.p},
                                   {"t", times(0)},
                                   {"t_next", times(1)}});
  const auto spread = [&](ArrayRef r) {
    r.instances = S, r.instance_stride = 0, r.padded = false;
    return r;
  };
  const auto some = [&](ArrayRef r) {
    if (S < r.instances) r.instances = S, r.padded = false;
    return r;
  };
  std::vector<SequenceMemory> in = parameters_of(given, S);
  in.insert(in.end(), {{"q", spread(first_.q.ref())}, {"v", spread(first_.v.ref())}, {"alpha", some(alpha_.ref())}});
  std::vector<SequenceMemory> out = {{"total", some(costs_.ref())},
                                     every_step("q", some(states_.q.ref()), nq_),
                                     every_step("v", some(states_.v.ref()), nv_),
                                     every_step("u", some(used_.ref()), m_)};
  if (na_ > 0) {
    uniforms.push_back({"act_plan", steps_of(plan_.act, na_)});
    in.push_back({"act", spread(first_.act.ref())});
    out.push_back(every_step("act", some(states_.act.ref()), na_));
  }
  if (warm_ > 0) out.push_back(every_step(warm_name_, some(solution_.ref()), warm_));
  search_.run(T, S, in, uniforms, out, nullptr, stream);
  for (const Mirrored* a : {&costs_, &states_.q, &states_.v, &states_.act, &used_, &solution_}) fetch(*a, stream);
}

// Take a sample of the last search as the plan.
void Ilqr::take(long sample) {
  const long T = options_.horizon;
  const auto copied = [&](const Mirrored& from, long n, double* to) {
    for (long c = 0; c < T * n; c++) to[c] = from.column(c)[sample];
  };
  plan_.cost = costs_.column(0)[sample];
  copied(used_, m_, plan_.u.data());
  copied(states_.q, nq_, plan_.q.data() + nq_), copied(states_.v, nv_, plan_.v.data() + nv_);
  copied(states_.act, na_, plan_.act.data() + na_), copied(solution_, warm_, solutions_.data() + warm_);
}

}  // namespace featherstorm
