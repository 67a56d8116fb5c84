#include "host/planning/planner.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "host/system/error.h"

namespace featherstorm {
namespace {

// The options of a rollout whose control steps are the substeps of another.
RolloutOptions of_substeps(const Evaluator& evaluator, RolloutOptions o) {
  const Stepping stepping = stepping_of(evaluator, "Predictor", o.stepping);
  o.stepping.dt = stepping.pass_time, o.stepping.substeps = 1;
  o.cost = {}, o.terminal = {}, o.observe = {};
  return o;
}

// Copy what is given of a state, in the memory of the copy.
void copy_state(const RolloutArrays& from, RolloutArrays& to) {
  to.q = from.q, to.v = from.v, to.act = from.act, to.warm = from.warm, to.p = from.p;
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (!std::equal(from.parameters.begin(), from.parameters.end(), to.parameters.begin(), to.parameters.end(), same))
    to.parameters = from.parameters;
  for (const auto& [name, array] : from.parameters) to.parameters.find(name)->second = array;
}

ArrayRef rows_of(ArrayRef a, long first, long count) {
  a.data = static_cast<char*>(a.data) + first * a.instance_stride * static_cast<long>(bytes_of(a.precision));
  a.instances = count, a.padded = false;
  return a;
}

// The row of one robot, or the row that all share.
ArrayRef row_of(const ArrayRef& a, long robot) { return a.instances > 1 ? rows_of(a, robot, 1) : a; }

// Copy the state of one of several robots.
void copy_robot(const RolloutArrays& from, long robot, long robots, long np, RolloutArrays& to) {
  copy_state(from, to);
  if (robots == 1) return;
  for (ArrayRef* a : {&to.q, &to.v, &to.act, &to.warm})
    if (a->data) *a = row_of(*a, robot);
  for (auto& [name, array] : to.parameters) array = row_of(array, robot);
  if (const long each = static_cast<long>(from.p.size()) / robots; static_cast<long>(from.p.size()) != np)
    to.p.assign(from.p.begin() + robot * each, from.p.begin() + (robot + 1) * each);
}

[[noreturn]] void refuse_rows(const std::string& what, long found, const char* or_one, long rows, const char* of) {
  throw Error("Planner: " + what + " has " + std::to_string(found) + " rows, expected " + or_one +
              std::to_string(rows) + ", the " + of);
}

// A state has a row for each of several robots.
void check_robots(const RolloutArrays& state, long robots) {
  if (robots == 1) return;
  const auto check = [&](const char* name, const ArrayRef& a, bool shared) {
    if (a.instances != robots && !(shared && (a.instances == 1 || !a.data)))
      refuse_rows(name, a.instances, shared ? "1 or " : "", robots, "robots");
  };
  check("q", state.q, false), check("v", state.v, false), check("act", state.act, true);
  check("warm", state.warm, true);
}

// Every parameter has a row for all models or robots, or one for each; with several models one has. Several robots share
// p, or have one each, for the plan or for each of its steps.
void check_rows(const RolloutArrays& state, const PlannerOptions& o, long np) {
  check_robots(state, o.robots);
  const long rows = std::max<long>(o.models, o.robots), count = static_cast<long>(state.p.size());
  if (o.robots > 1 && count != np && count != rows * np && count != rows * o.horizon * np)
    throw Error("Planner: p has " + std::to_string(count) + " numbers, expected " + std::to_string(np) + ", " +
                std::to_string(rows * np) + " or " + std::to_string(rows * o.horizon * np));
  bool differ = o.models == 1;
  for (const auto& [name, array] : state.parameters) {
    if (array.instances != 1 && array.instances != rows)
      refuse_rows("the parameter " + name, array.instances, "1 or ", rows, o.robots > 1 ? "robots" : "models");
    differ = differ || array.instances == rows;
  }
  if (!differ)
    throw Error("Planner: models is " + std::to_string(rows) + ", but no parameter has " + std::to_string(rows) +
                " rows");
}

std::deque<SampledPlan> plans_of_robots(const PlannerOptions& options, long n, Precision precision) {
  if (options.robots < 1 || (options.robots > 1 && options.models > 1))
    throw Error("Planner: robots is " + std::to_string(options.robots) + ", expected " +
                (options.robots < 1 ? "at least 1" : "1 with several models: make a planner for each robot"));
  std::deque<SampledPlan> plans;
  for (long k = 0; k < options.robots; k++) {
    PlannerOptions of_robot = options;
    of_robot.seed += static_cast<std::uint64_t>(k);
    plans.emplace_back(std::move(of_robot), n, precision);
  }
  return plans;
}

}  // namespace

Planner::Planner(const Rollout& rollout, const PlannerOptions& options)
    : rollout_(rollout),
      plans_(plans_of_robots(options, rollout.controls(), rollout.precision())),
      failed_(plans_.size()),
      before_(plans_.size()),
      draw_(rollout.precision(), rollout.threads()),
      updater_(plans_.front().options().update, options.samples, plans_.front().knot_count(), rollout.controls(),
               rollout.precision(), options.device, rollout.threads()) {
  const SampledPlan& plan = plans_.front();
  const long n = rollout.controls();
  costs_ = Buffer(rollout.precision(), options.models * options.samples, 1, options.device);
  samples_ = Buffer(rollout.precision(), options.samples, plan.knot_count() * n, options.device);
  ArrayRef step = samples_.ref();
  step.components = n;
  knots_ = {{"u", step, true, n * samples_.stride()}};
  draw_.array("u", n);
  made_ = plan.interpolated(knots_[0]);
  if (plan.interpolates()) arrays_.made = &made_;
  else arrays_.u = knots_[0];
  controls_.resize(static_cast<std::size_t>(options.robots * options.horizon * n));
  first_.resize(static_cast<std::size_t>(options.robots * n));
  store_controls();
}

void Planner::store_controls() {
  const std::size_t n = first_.size() / plans_.size(), all = controls_.size() / plans_.size();
  for (std::size_t k = 0; k < plans_.size(); k++) {
    plans_[k].controls(controls_.data() + k * all);
    std::copy_n(controls_.begin() + static_cast<long>(k * all), n, first_.begin() + static_cast<long>(k * n));
  }
}

void Planner::begin(double elapsed) {
  for (SampledPlan& plan : plans_) plan.begin(elapsed);
}
void Planner::cancel() {
  for (SampledPlan& plan : plans_) plan.cancel();
}

void Planner::reset(const std::vector<double>& plan) {
  for (SampledPlan& of : plans_) of.reset(plan);
  store_controls();
}

void Planner::warm(const RolloutArrays& state) {
  for (SampledPlan& plan : plans_) plan.make_memory();
  begin(0);
  before_ = failed_;
  try {
    iterate(state, 0, nullptr);
  } catch (...) {
    cancel();
    throw;
  }
  cancel();
  failed_ = before_, warm_ = true;
}

std::span<const double> Planner::command(const RolloutArrays& state, std::optional<double> t,
                                         const CommandOptions& options) {
  const double elapsed = plans_.front().calls() == 0 ? 0 : t ? (*t - t_) / rollout_.dt() : 1;
  improve(elapsed, state, t.value_or(0), options);
  return first_;
}

const std::vector<double>& Planner::improve(const RolloutArrays& state, double t, void* stream) {
  improve(0, state, t, {.stream = stream});
  return controls_;
}

void Planner::improve(double elapsed, const RolloutArrays& state, double t, const CommandOptions& o) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  double spent = 0;
  begin(elapsed);
  before_ = failed_;
  failed_.assign(plans_.size(), 0);
  try {
    const int most = plans_.front().iterations();
    if (o.iterations < 0 || o.iterations > most)
      throw Error("Planner: iterations is " + std::to_string(o.iterations) + ", expected 0 to " + std::to_string(most));
    for (done_ = 0; done_ < (o.iterations > 0 ? o.iterations : most); done_++) {
      if (done_ > 0 && o.iterations == 0 && spent + iteration_.seconds(2) > o.budget) break;
      if (!iterate(state, t, o.stream))
        throw PlanningError("Planner: no sample has a finite cost; is the state finite?");
      const double now = std::chrono::duration<double>(Clock::now() - start).count();
      if (warm_) iteration_.add(now - spent);
      spent = now, warm_ = true;
    }
    for (SampledPlan& plan : plans_) plan.make_memory();  // so that commit() cannot fail
  } catch (...) {
    cancel();
    failed_ = before_;
    throw;
  }
  for (SampledPlan& plan : plans_) plan.commit(t, t);
  t_ = t, store_controls();
}

// Draw the samples of each robot, simulate them, and update its plan; false if every robot has failed in this call.
bool Planner::iterate(const RolloutArrays& state, double t, void* stream) {
  check_rows(state, options(), rollout_.parameters());
  bool improved = false;
  for (long k = 0; k < robots(); k++) {
    SampledPlan& plan = plans_[static_cast<std::size_t>(k)];
    draw_.run(plan.knot_count(), options().samples, {}, {}, knots_, &plan.samples(), stream);
    simulate(state, k, t, stream);
    char& failed = failed_[static_cast<std::size_t>(k)];
    if (!plan.update(updater_, costs_.ref(), knots_[0], stream)) failed = 1;
    improved = improved || failed == 0;
  }
  return improved;
}

void Planner::simulate(const RolloutArrays& state, long robot, double t, void* stream) {
  const long B = options().samples, models = options().models;
  copy_robot(state, robot, robots(), rollout_.parameters(), arrays_);
  for (long m = 0; m < models; m++) {
    arrays_.costs = models > 1 ? rows_of(costs_.ref(), m * B, B) : costs_.ref();
    for (const auto& [name, array] : state.parameters)
      if (models > 1 && array.instances == models) arrays_.parameters.find(name)->second = rows_of(array, m, 1);
    rollout_.run(options().horizon, B, arrays_, t, stream);
  }
}

void Planner::control(double t, std::span<double> u) const {
  if (u.size() != first_.size())
    throw Error("Planner: u has " + std::to_string(u.size()) + " numbers, expected " + std::to_string(first_.size()));
  const std::size_t n = first_.size() / plans_.size();
  for (std::size_t k = 0; k < plans_.size(); k++) plans_[k].acting(t, rollout_.dt(), u.data() + k * n);
}

Predictor::Predictor(Evaluator& evaluator, const RolloutOptions& options)
    : rollout_(evaluator, of_substeps(evaluator, options)), evaluator_(evaluator) {
  controls_.name = "u", controls_.sigma.assign(static_cast<std::size_t>(rollout_.controls()), 0.0);
  arrays_.made = &controls_;
  make_memory(1);
}

void Predictor::make_memory(long robots) {
  if (robots <= robots_) return;
  const Model<double>& m = evaluator_.robot().model;
  const Precision p = rollout_.precision();
  q_ = Buffer(p, robots, m.nq), v_ = Buffer(p, robots, m.nv), act_ = Buffer(p, robots, m.world.na);
  robots_ = robots;
}

void Predictor::warm(const Planner& planner, const RolloutArrays& state) {
  this->state(planner, state, 0, std::max(0.25, rollout_.dt()));
}

const RolloutArrays& Predictor::state(const Planner& planner, const RolloutArrays& state, double t, double latency) {
  if (!(latency >= 0) || !std::isfinite(latency))
    throw Error("Predictor: latency is " + std::to_string(latency) + ", expected 0 or more");
  check_robots(state, planner.robots());
  copy_state(state, after_);
  const long steps = std::lround(latency / rollout_.dt()), n = rollout_.controls(), robots = planner.robots(),
             np = rollout_.parameters();
  if (steps == 0) return after_;
  make_memory(robots);
  acting_.resize(static_cast<std::size_t>(robots * n)), means_.resize(static_cast<std::size_t>(robots * steps * n));
  for (long k = 0; k < steps; k++) {
    planner.control(t + rollout_.dt() * static_cast<double>(k), acting_);
    for (long r = 0; r < robots; r++) std::copy_n(acting_.begin() + r * n, n, means_.begin() + (r * steps + k) * n);
  }
  for (long r = 0; r < robots; r++) {
    copy_robot(state, r, robots, np, arrays_);
    for (auto& [name, array] : arrays_.parameters) array = rows_of(array, 0, 1);
    if (static_cast<long>(arrays_.p.size()) > np) arrays_.p.resize(static_cast<std::size_t>(np));
    controls_.mean.assign(means_.begin() + r * steps * n, means_.begin() + (r + 1) * steps * n);
    arrays_.q_final = rows_of(q_.ref(), r, 1), arrays_.v_final = rows_of(v_.ref(), r, 1);
    if (evaluator_.robot().model.world.na > 0) arrays_.act_final = rows_of(act_.ref(), r, 1);
    rollout_.run(steps, 1, arrays_, t);
  }
  after_.q = rows_of(q_.ref(), 0, robots), after_.v = rows_of(v_.ref(), 0, robots);
  if (evaluator_.robot().model.world.na > 0) after_.act = rows_of(act_.ref(), 0, robots);
  return after_;
}

}  // namespace featherstorm
