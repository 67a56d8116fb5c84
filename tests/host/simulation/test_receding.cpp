// A planner in a thread against the same plans without one, under a clock that the test sets.
#include "host/planning/receding.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "host/planning/plan_history.h"
#include "tests/support/robots/worlds.h"

namespace featherstorm::test_receding {
namespace {

using namespace testing;

RolloutOptions in_substeps() {
  RolloutOptions o = pushed_cart();
  o.stepping.substeps = 5;
  return o;
}

struct Cart {
  Robot robot = load("cartpole");
  Evaluator evaluator{robot, {.threads = 1}};
  RolloutOptions options = in_substeps();
  Rollout roll{evaluator, options};
  Planner planner{roll, {.horizon = 10, .samples = 64, .sigma = {3}, .iterations = 2, .knots = 4}};
  std::atomic<double> now{0};
  Receding receding;
  explicit Cart(std::optional<double> latency = {})
      : receding(planner, evaluator, options,
                 {.clock = [this] { return now.load(); }, .latency = latency, .p = {0.5}}) {}

  // Plan for a state, ready `age` after it was measured.
  void plan(const std::vector<double>& x, double t, double age, std::span<const double> p = {}) {
    const RecedingStats before = receding.stats();
    now = t + age;
    receding.submit(x, t, p);
    const auto done = [&] {
      const RecedingStats s = receding.stats();
      return s.plans + s.failed > before.plans + before.failed;
    };
    while (!done()) std::this_thread::yield();
  }
  double control(double t) const {
    double u;
    receding.control(t, {&u, 1});
    return u;
  }
};

const std::vector<double> ages = {0.02, 0.02, 0.02, 0.06, 0.03, 0.01, 0.01, 0.01};

TEST(Receding, PlansForThePredictedStateWithTheLatencyThatItHasMeasured) {
  Cart cart, other;
  Predictor predictor(other.evaluator, other.options);
  ExpectedTime expected;
  long late = 0;
  for (std::size_t k = 0; k < ages.size(); k++) {
    const double t = 0.05 * static_cast<double>(k), place = 0.01 * static_cast<double>(k),
                 latency = expected.seconds(4);
    const std::vector<double> goal = {k < 4 ? 0.5 : 1.0};
    cart.plan({place, 0.1, 0, 0}, t, ages[k], k == 4 ? goal : std::vector<double>());
    const Buffer q(Precision::float64, 1, 2), v(Precision::float64, 1, 2);
    *q.component<double>(0) = place, *q.component<double>(1) = 0.1;
    const RolloutArrays state{.q = q.ref(), .v = v.ref(), .p = goal};
    other.planner.command(predictor.state(other.planner, state, t, latency), t + latency);
    ASSERT_EQ(cart.planner.knots(), other.planner.knots()) << "plan " << k;
    EXPECT_EQ(cart.control(t + 0.07), other.control(t + 0.07));
    if (k == 0) continue;
    const double age = t + ages[k] - t;
    late += age > latency + 1e-4;
    expected.add(age);
    EXPECT_NEAR(cart.receding.expected_latency(), expected.seconds(4), 1e-12);
  }
  const RecedingStats s = cart.receding.stats();
  EXPECT_EQ(s.plans, 8);
  EXPECT_EQ(s.failed, 0);
  EXPECT_EQ(s.iterations, 2);
  EXPECT_EQ(s.late, late);
  EXPECT_GT(late, 1);
  EXPECT_LT(late, 7);
  EXPECT_NEAR(s.age.p50, 0.02, 1e-12);
  EXPECT_NEAR(s.age.p99, 0.06, 1e-12);
  EXPECT_GT(s.spent.p50, 0);
  EXPECT_GE(s.spent.p95, s.spent.p50);
  EXPECT_GE(s.spent.p99, s.spent.p95);
}

TEST(Receding, ALatencyCanBeGiven) {
  Cart cart(0.04);
  EXPECT_EQ(cart.receding.expected_latency(), 0.04);
  for (int k = 0; k < 3; k++) cart.plan({0, 0, 0, 0}, 0.1 * k, 0.03);
  EXPECT_EQ(cart.receding.stats().late, 0);
  cart.plan({0, 0, 0, 0}, 0.3, 0.05);
  EXPECT_EQ(cart.receding.stats().late, 1);
  EXPECT_EQ(cart.receding.expected_latency(), 0.04);
  const double before = cart.control(0.3);
  cart.plan({5, 0, 0, 0}, 0.4, 0.03);  // acts from 0.44 on
  EXPECT_NE(cart.control(0.44), before);
}

TEST(Receding, KeepsItsPlanAfterOneThatFailed) {
  Cart cart;
  cart.plan({0, 0, 0, 0}, 0, 0.01);
  const double before = cart.control(0.1);
  cart.plan({NAN, 0, 0, 0}, 0.05, 0.01);
  EXPECT_EQ(cart.receding.stats().failed, 1);
  EXPECT_EQ(cart.receding.plans(), 1);
  EXPECT_EQ(cart.control(0.1), before);
  cart.plan({0.2, 0, 0, 0}, 0.1, 0.01);
  EXPECT_EQ(cart.receding.plans(), 2);
  EXPECT_NE(cart.control(0.1), before);
}

TEST(Receding, TellsTheErrorThatHasEndedItsThread) {
  const Robot robot = load("cartpole");
  Evaluator evaluator(robot, {.threads = 1});
  const RolloutOptions options = in_substeps();
  const Rollout roll(evaluator, options);
  Planner planner(roll, {.horizon = 4, .samples = 8});
  const std::vector<double> x(4);
  Receding receding(planner, evaluator, options);  // without p
  EXPECT_EQ(message([&] {
              for (;;) receding.submit(x, 0), std::this_thread::yield();
            }),
            "p has 0 numbers, expected 1, or as many for each step");
  EXPECT_EQ(message([&] { receding.submit({x.data(), 3}, 0); }),
            "p has 0 numbers, expected 1, or as many for each step");
  receding.stop(), receding.stop();

  Cart cart;
  EXPECT_EQ(message([&] { cart.receding.submit({x.data(), 3}, 0); }),
            "Receding: x has 3 numbers, expected 4, those of q, v and act");
  EXPECT_EQ(message([&] { cart.receding.submit(x, 0, {x.data(), 2}); }),
            "Receding: p has 2 numbers, expected 1 as the options have");
  EXPECT_EQ(message([&] { Cart of(-1); }), "Receding: latency is -1.000000, expected 0 or more");
}

// Plans that end by a budget of time, again from the log.
TEST(Receding, ItsLogReplaysBitForBit) {
  Cart cart, again;
  const PlannerOptions many{.horizon = 10, .samples = 64, .sigma = {3}, .iterations = 1000, .knots = 4};
  Planner planner(cart.roll, many), replayed(again.roll, many);
  std::vector<PlanRecord> log;
  std::atomic<std::size_t> logged{0};
  std::vector<std::vector<double>> states, knots;
  {
    const auto note = [&](const PlanRecord& record) { log.push_back(record), logged = log.size(); };
    Receding receding(planner, cart.evaluator, cart.options, {.budget = 2e-3, .log = note, .p = {0.5}});
    while (states.size() < 5) {
      const double t = receding.clock();
      states.push_back({0.1 * std::sin(t), 0.1, 0, 0});
      receding.submit(states.back(), t);
      while (logged < states.size()) std::this_thread::yield();
      knots.push_back(planner.knots());
    }
    EXPECT_LT(receding.stats().iterations, 1000);
  }
  Predictor predictor(again.evaluator, again.options);
  const Buffer q(Precision::float64, 1, 2), v(Precision::float64, 1, 2);
  for (std::size_t k = 0; k < log.size(); k++) {
    for (int c = 0; c < 2; c++) *q.component<double>(c) = states[k][c], *v.component<double>(c) = states[k][2 + c];
    const RolloutArrays state{.q = q.ref(), .v = v.ref(), .p = {0.5}};
    const PlanRecord& r = log[k];
    replayed.command(predictor.state(replayed, state, r.t, r.latency), r.t + r.latency, {.iterations = r.iterations});
    EXPECT_EQ(replayed.knots(), knots[k]) << "plan " << k << " of " << r.iterations << " iterations";
    EXPECT_FALSE(r.failed);
    EXPECT_GT(r.spent, 0);
  }
}

// Threads submit and ask for controls while plans are made.
TEST(Receding, ServesManyThreads) {
  Cart cart(0.0);
  std::atomic<bool> wrong{false};
  std::vector<std::thread> threads;
  for (int k = 0; k < 3; k++)
    threads.emplace_back([&] {
      const std::vector<double> x(4);
      while (cart.receding.plans() < 40) {
        cart.receding.submit(x, cart.now);
        if (!std::isfinite(cart.control(cart.now))) wrong = true;
        std::this_thread::sleep_for(std::chrono::microseconds(50));  // else the planner waits for them
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(wrong);
}

TEST(RecedingLoop, BeginsAgainAfterItsEnd) {
  std::atomic<long> plans{0};
  std::atomic<double> begins{0};
  RecedingLoop loop({.plan =
                         [&](const MeasuredState& m, double latency, double) {
                           begins = m.t + latency;
                           return ++plans, 1;
                         }},
                    {.clock = [] { return 0.0; }, .latency = 0.25});
  const std::vector<double> x(3);
  for (long k = 1; k <= 3; k++) {
    loop.start(k == 2 ? std::optional(5.0) : std::nullopt);  // a plan that begins later than the latency says
    loop.submit(x, static_cast<double>(k));
    while (plans < k) std::this_thread::yield();
    loop.stop(), loop.stop();
    EXPECT_EQ(begins, k == 1 ? 1.25 : 5.0);
    EXPECT_EQ(loop.plans(), k);
  }
}

// A plan's numbers are all from one plan, the newest or one that was the newest when the call began.
TEST(PlanHistory, IsReadWhileItIsWritten) {
  PlanHistory plans;
  plans.reset(std::vector<double>(20, 0.0));
  plans.make_memory();
  std::atomic<bool> done{false}, begun{false};
  std::thread writer([&] {
    while (!begun) std::this_thread::yield();
    for (int k = 1; k <= 20000; k++) plans.add(k, 0, std::vector<double>(20, k));
    done = true;
  });
  double last = 0;
  long mixed = 0, backwards = 0, reads = 0;
  do {
    double lowest = 0, highest = 0, begins = 0;
    plans.acting(0, [&](double at, const auto& knot) {
      begins = at, lowest = highest = knot(0);
      for (long k = 1; k < 20; k++) lowest = std::min(lowest, knot(k)), highest = std::max(highest, knot(k));
    });
    reads++, mixed += lowest != highest || begins != highest, backwards += highest < last;
    last = highest, begun = true;
  } while (!done);
  writer.join();
  EXPECT_EQ(mixed, 0);
  EXPECT_EQ(backwards, 0);
  EXPECT_GT(reads, 1);
}

TEST(PlanHistory, GoesOnWithTheOldestPlanThatItKnows) {
  PlanHistory plans;
  plans.reset({7});
  const auto acting = [&](double t) {
    double found = 0;
    plans.acting(t, [&](double, const auto& knot) { found = knot(0); });
    return found;
  };
  for (int k = 1; k <= 60; k++) plans.add(k, 100, {static_cast<double>(k)});
  EXPECT_EQ(acting(0), 7) << "no plan acts yet";
  EXPECT_EQ(acting(100), 60);
  for (int k = 61; k <= 200; k++) plans.add(k, 100, {static_cast<double>(k)});
  EXPECT_EQ(acting(0), 138) << "of the last 63";
}

}  // namespace
}  // namespace featherstorm::test_receding
