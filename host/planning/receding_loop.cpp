#include "host/planning/receding_loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "host/planning/sampled_plan.h"
#include "host/system/error.h"

namespace featherstorm {
namespace {

constexpr unsigned fresh = 4, woken = 8;  // flags beside an index
constexpr double latency_deviations = 4;  // beyond the mean: a longer latency costs little, a late plan more
constexpr double late_from = 1e-4;        // from this time on a plan is late [s]
constexpr long kept = 4096;               // times of plans

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

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

RecedingLoop::RecedingLoop(Calls calls, RecedingOptions options)
    : calls_(std::move(calls)),
      options_(checked(std::move(options))),
      latency_(options_.latency.value_or(0)),
      spent_(kept),
      ages_(kept) {}

void RecedingLoop::make_memory(std::size_t x) {
  for (MeasuredState& s : states_) s.x.resize(x), s.p = options_.p;
}

RecedingLoop::~RecedingLoop() { stop(); }

void RecedingLoop::start(std::optional<double> begins) {
  stop();
  if (begins) begins_ = begins;
  stopped_.store(false), newest_.fetch_and(~woken);
  thread_ = std::thread([this] { run(); });
}

void RecedingLoop::stop() {
  stopped_.store(true);
  newest_.fetch_or(woken), newest_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void RecedingLoop::check() const {
  if (ended_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
}

void RecedingLoop::submit(std::span<const double> x, double t, std::span<const double> p) {
  check();
  if (!p.empty() && p.size() != options_.p.size())
    throw Error("Receding: p has " + std::to_string(p.size()) + " numbers, expected " +
                std::to_string(options_.p.size()) + " as the options have");
  if (writing_.test_and_set(std::memory_order_acquire)) return;
  if (!p.empty()) std::copy(p.begin(), p.end(), options_.p.begin());
  MeasuredState& s = states_[written_];
  s.x.assign(x.begin(), x.end()), s.p.assign(options_.p.begin(), options_.p.end());
  s.t = t;
  written_ = newest_.exchange(written_ | fresh, std::memory_order_acq_rel) & 3;
  writing_.clear(std::memory_order_release);
  newest_.notify_one();
}

// Wait for a state with which no plan has begun; null: the thread is to end.
const MeasuredState* RecedingLoop::next() {
  for (;;) {
    const unsigned seen = newest_.load(std::memory_order_acquire);
    if (stopped_.load()) return nullptr;
    if (seen & fresh) break;
    newest_.wait(seen, std::memory_order_acquire);
  }
  taken_ = newest_.exchange(taken_, std::memory_order_acq_rel) & 3;
  return &states_[taken_];
}

void RecedingLoop::run() {
  try {
    while (const MeasuredState* m = next()) {
      const bool first = !warm_ && calls_.warm;
      if (first) calls_.warm(*m);
      warm_ = true;
      const bool old = first && (newest_.load() & fresh);
      if (!old) plan(*m);
    }
  } catch (...) {
    error_ = std::current_exception();
    ended_.store(true, std::memory_order_release);
  }
}

void RecedingLoop::plan(const MeasuredState& m) {
  const bool first = plans_.load() == 0;
  const double begin = seconds();
  double latency = expected_latency(), begins = m.t + latency;
  if (begins_ && begins < *begins_) begins = *begins_, latency = begins - m.t;  // the expected latency has shrunk
  bool failed = false;
  int iterations = 0;
  try {
    iterations = calls_.plan(m, latency, options_.budget);
  } catch (const PlanningError&) { failed = true; }
  const double spent = seconds() - begin, age = clock() - m.t;
  if (options_.log) options_.log({m.t, latency, spent, age, iterations, failed});
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
  iterations_ += iterations;
  plans_.fetch_add(1, std::memory_order_release);
}

RecedingStats RecedingLoop::stats() const {
  RecedingStats s;
  s.plans = plans(), s.failed = failed_.load(), s.late = late_.load();
  s.iterations = static_cast<double>(iterations_.load()) / static_cast<double>(std::max(s.plans, 1L));
  s.spent = percentiles(spent_, s.plans - 1), s.age = percentiles(ages_, s.plans - 1);
  return s;
}

}  // namespace featherstorm
