#include "host/planning/receding.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "host/system/error.h"

namespace featherstorm {
namespace {

constexpr unsigned fresh = 4, woken = 8;  // flags beside an index
constexpr double latency_deviations = 4;  // beyond the mean: a longer latency costs little, a late plan more
constexpr double late_from = 1e-4;        // from this time on a plan is late [s]
constexpr long kept = 4096;               // times of plans

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class Real> void fill(const Buffer& to, const double* from) {
  for (long c = 0; c < to.ref().components; c++) *to.component<Real>(c) = static_cast<Real>(from[c]);
}

RecedingOptions checked(RecedingOptions o) {
  const double latency = o.latency.value_or(0);
  if (!(latency >= 0) || !std::isfinite(latency))
    throw Error("Receding: latency is " + std::to_string(latency) + ", expected 0 or more");
  if (!(o.budget >= 0)) throw Error("Receding: budget is " + std::to_string(o.budget) + ", expected 0 or more");
  if (!o.clock) o.clock = [begin = seconds()] { return seconds() - begin; };
  return o;
}

RecedingStats::Times percentiles(const std::vector<std::atomic<double>>& all, long count) {
  std::vector<double> x;
  for (long k = 0; k < std::min(count, kept); k++) x.push_back(all[static_cast<std::size_t>(k)].load());
  if (x.empty()) return {};
  std::sort(x.begin(), x.end());
  const auto at = [&](double share) {
    return x[static_cast<std::size_t>(std::lround(share * static_cast<double>(x.size() - 1)))];
  };
  return {at(0.5), at(0.95), at(0.99)};
}

}  // namespace

Receding::Receding(Planner& planner, Evaluator& evaluator, const RolloutOptions& rollout,
                   const RecedingOptions& options)
    : planner_(planner),
      options_(checked(options)),
      predictor_(evaluator, rollout),
      latency_(options_.latency.value_or(0)),
      spent_(kept),
      ages_(kept) {
  if (planner.device() != on_host) throw Error("Receding: the planner is on a device, expected the host");
  if (planner.robots() != 1)
    throw Error("Receding: the planner has " + std::to_string(planner.robots()) + " robots, expected 1");
  const Model<double>& m = evaluator.robot().model;
  q_ = Buffer(rollout.precision, 1, m.nq), v_ = Buffer(rollout.precision, 1, m.nv);
  act_ = Buffer(rollout.precision, 1, m.world.na);
  state_.q = q_.ref(), state_.v = v_.ref(), state_.parameters = options_.parameters;
  if (m.world.na > 0) state_.act = act_.ref();
  for (Measured& s : states_)
    s = {std::vector<double>(static_cast<std::size_t>(m.nq + m.nv + m.world.na)), options_.p, 0};
  thread_ = std::thread([this] { run(); });
}

Receding::~Receding() { stop(); }

void Receding::stop() {
  stopped_.store(true);
  newest_.fetch_or(woken), newest_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Receding::submit(std::span<const double> x, double t, std::span<const double> p) {
  if (ended_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
  if (x.size() != states_[0].x.size())
    throw Error("Receding: x has " + std::to_string(x.size()) + " numbers, expected " +
                std::to_string(states_[0].x.size()) + ", those of q, v and act");
  if (!p.empty() && p.size() != options_.p.size())
    throw Error("Receding: p has " + std::to_string(p.size()) + " numbers, expected " +
                std::to_string(options_.p.size()) + " as the options have");
  if (writing_.test_and_set(std::memory_order_acquire)) return;
  if (!p.empty()) std::copy(p.begin(), p.end(), options_.p.begin());
  Measured& s = states_[written_];
  std::copy(x.begin(), x.end(), s.x.begin()), std::copy(options_.p.begin(), options_.p.end(), s.p.begin());
  s.t = t;
  written_ = newest_.exchange(written_ | fresh, std::memory_order_acq_rel) & 3;
  writing_.clear(std::memory_order_release);
  newest_.notify_one();
}

// Wait for a state with which no plan has begun; null: the thread is to end.
const Receding::Measured* Receding::next() {
  for (;;) {
    const unsigned seen = newest_.load(std::memory_order_acquire);
    if (stopped_.load()) return nullptr;
    if (seen & fresh) break;
    newest_.wait(seen, std::memory_order_acquire);
  }
  taken_ = newest_.exchange(taken_, std::memory_order_acq_rel) & 3;
  return &states_[taken_];
}

void Receding::run() {
  try {
    bool warm = false;
    while (const Measured* m = next()) {
      set_state(*m);
      if (!warm) planner_.warm(state_), predictor_.warm(planner_, state_);
      const bool old = !warm && (newest_.load() & fresh);
      warm = true;
      if (!old) plan(*m);
    }
  } catch (...) {
    error_ = std::current_exception();
    ended_.store(true, std::memory_order_release);
  }
}

void Receding::set_state(const Measured& m) {
  const double* x = m.x.data();
  for (const Buffer* part : {&q_, &v_, &act_}) {
    if (q_.ref().precision == Precision::float32) fill<float>(*part, x);
    else fill<double>(*part, x);
    x += part->ref().components;
  }
  state_.p = m.p;
}

void Receding::plan(const Measured& m) {
  const bool first = plans_.load() == 0;
  const double begin = seconds();
  double latency = expected_latency(), begins = m.t + latency;
  if (begins_ && begins < *begins_) begins = *begins_, latency = begins - m.t;  // the expected latency has shrunk
  bool failed = false;
  try {
    const RolloutArrays& then = predictor_.state(planner_, state_, m.t, latency);
    planner_.command(then, begins, {.budget = options_.budget - (seconds() - begin)});
  } catch (const PlanningError&) { failed = true; }
  const double spent = seconds() - begin, age = clock() - m.t;
  if (options_.log) options_.log({m.t, latency, spent, age, planner_.iterations(), failed});
  if (failed) {
    failed_++;
    return;
  }
  begins_ = begins;
  if (!first) {
    const auto at = static_cast<std::size_t>((plans_.load() - 1) % kept);
    spent_[at].store(spent), ages_[at].store(age);
    if (age > latency + late_from) late_++;
    age_.add(age);
    if (!options_.latency) latency_.store(age_.seconds(latency_deviations), std::memory_order_release);
  }
  iterations_ += planner_.iterations();
  plans_.fetch_add(1, std::memory_order_release);
}

RecedingStats Receding::stats() const {
  RecedingStats s;
  s.plans = plans(), s.failed = failed_.load(), s.late = late_.load();
  s.iterations = static_cast<double>(iterations_.load()) / static_cast<double>(std::max(s.plans, 1L));
  s.spent = percentiles(spent_, s.plans - 1), s.age = percentiles(ages_, s.plans - 1);
  return s;
}

}  // namespace featherstorm
