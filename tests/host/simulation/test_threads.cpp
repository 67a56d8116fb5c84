// Threads that share the engine's objects: first uses, kernels made in the background, notices, caches, pools of threads. These
// run with the thread sanitizer too (`.ci/run threads`).
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <mutex>
#include <thread>

#include "host/compile/compile.h"
#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/planning/receding.h"
#include "host/rollout/reduction.h"
#include "host/simulation/simulation.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::test_threads {
namespace {

constexpr long B = 600;

// Calls f(k) on threads k at the same time.
void at_once(int threads, const std::function<void(int)>& f) {
  std::atomic<int> waiting{threads};
  std::vector<std::thread> all;
  for (int k = 0; k < threads; k++)
    all.emplace_back([&, k] {
      waiting--;
      while (waiting > 0) std::this_thread::yield();
      f(k);
    });
  for (std::thread& t : all) t.join();
}

Buffer numbers(long components, Precision p, double size = 1) {
  const Buffer b(p, B, components);
  for (long c = 0; c < components; c++)
    for (long i = 0; i < B; i++) {
      const double x = size * static_cast<double>((7 * c + 3 * i) % 11 - 5) / 5;
      if (p == Precision::float32) b.component<float>(c)[i] = static_cast<float>(x);
      else b.component<double>(c)[i] = x;
    }
  return b;
}

std::vector<float> floats(const ArrayRef& a) {
  std::vector<float> x;
  for (long c = 0; c < a.components; c++)
    for (long i = 0; i < a.instances; i++) x.push_back(static_cast<const float*>(a.data)[c * a.component_stride + i]);
  return x;
}

struct Arm {
  Robot robot = load("double_pendulum");
  Buffer q = numbers(2, Precision::float32), v = numbers(2, Precision::float32), a = numbers(2, Precision::float32);
  std::vector<float> run(Evaluator& e, const std::string& op) const {
    const Buffer result(Precision::float32, B, e.op(op).out[0].components);
    if (op == "crba") e.run(op, {q.ref()}, {result.ref()});
    else e.run(op, {q.ref(), v.ref(), a.ref()}, {result.ref()});
    return floats(result.ref());
  }
};

TEST(Threads, FirstUsesOfAnEvaluatorAreShared) {
  const Arm arm;
  Evaluator known(arm.robot, {.threads = 1});
  const std::vector<std::string> ops = {"fd", "rnea", "crba"};
  std::vector<std::vector<float>> expected;
  for (const std::string& op : ops) expected.push_back(arm.run(known, op));
  Evaluator shared(arm.robot, {.threads = 2});
  std::atomic<int> wrong{0};
  at_once(6, [&](int k) {
    for (int n = 0; n < 6; n++) {
      const auto which = static_cast<std::size_t>((k + n) % 3);
      if (arm.run(shared, ops[which]) != expected[which]) wrong++;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, KernelsAreMadeWhileOthersRun) {
  const Arm arm;
  const test::Scratch folder;
  const test::Environment cache("FEATHERSTORM_CACHE", folder.path().string());
  std::mutex mutex;
  std::vector<std::string> notices;
  const auto notice = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    notices.push_back(text);
  };
  Evaluator shared(arm.robot, {.threads = 2, .assemble = false, .notice = notice});
  const std::vector<float> before = arm.run(shared, "fd");
  std::atomic<int> far{0};
  std::atomic<bool> made{false};
  at_once(4, [&](int k) {
    if (k == 0) {
      shared.specialise("fd", Precision::float32);
      made = true;
    }
    for (int n = 0; n < 400 && (n < 3 || !made); n++) {
      const std::vector<float> now = arm.run(shared, "fd");
      for (std::size_t i = 0; i < now.size(); i++)
        far += !(std::abs(now[i] - before[i]) <= 1e-3f * (1 + std::abs(before[i])));
      shared.specialised("fd", Precision::float32), shared.checks();
      shared.notify("the same sentence of all threads");
    }
  });
  EXPECT_EQ(far, 0);
  EXPECT_EQ(std::count(notices.begin(), notices.end(), "the same sentence of all threads"), 1);
}

TEST(Threads, SimulationsShareAnEvaluator) {
  const Robot robot = load("cartpole", {.world = UrdfWorld{.ground = true, .motors = true, .timestep = 0.005}});
  const auto walk = [](Evaluator& e) {
    Simulation s(e, B);
    const Buffer start = numbers(2, Precision::float32, 0.3);
    for (long c = 0; c < 2; c++)
      std::copy_n(start.component<float>(c), B, static_cast<float*>(s.v().data) + c * s.v().component_stride);
    for (int k = 0; k < 3; k++) s.step();
    return floats(s.q());
  };
  Evaluator known(robot, {.threads = 1}), shared(robot, {.threads = 2});
  const std::vector<float> expected = walk(known);
  std::atomic<int> wrong{0};
  at_once(3, [&](int) { wrong += walk(shared) != expected; });
  EXPECT_EQ(wrong, 0);
}

RolloutOptions swing() {
  RolloutOptions o;
  o.stepping = {.dt = 0.05};
  o.cost = [](const TracedState& x, const Traced& u, Expr, const Traced&) {
    return x.q[0] * x.q[0] + 0.1 * x.v[1] * x.v[1] + 1e-3 * u[0] * u[0];
  };
  return o;
}

TEST(Threads, RolloutsAndPlannersShareAnEvaluator) {
  Evaluator known(load("cartpole"), {.threads = 1}), shared(load("cartpole"), {.threads = 2});
  const Buffer q(Precision::float32, 1, 2), v(Precision::float32, 1, 2);
  const auto plans = [&](const Rollout& roll) {
    Planner planner(roll, {.horizon = 6, .samples = 300, .sigma = {1}, .knots = 3});
    std::vector<double> all;
    for (int k = 0; k < 3; k++)
      for (const double u : planner.command({.q = q.ref(), .v = v.ref()}, 0.05 * k)) all.push_back(u);
    return all;
  };
  const Rollout one(known, swing()), many(shared, swing());
  const std::vector<double> expected = plans(one);
  std::atomic<int> wrong{0};
  at_once(3, [&](int) { wrong += plans(many) != expected; });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, APlanInAThreadIsReadByMany) {
  Evaluator dynamics(load("cartpole"), {.threads = 2});
  const Rollout roll(dynamics, swing());
  Planner planner(roll, {.horizon = 6, .samples = 300, .sigma = {1}, .knots = 3});
  Receding receding(planner, dynamics, swing());
  std::atomic<int> wrong{0};
  at_once(3, [&](int) {
    const std::vector<double> x(4, 0.1);
    std::vector<double> u(2);
    while (receding.plans() < 10) {
      receding.submit(x, receding.clock());
      receding.control(receding.clock(), u);
      wrong += !std::isfinite(u[0]) || receding.stats().failed > 0;
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, CachesAreSharedByThreads) {
  const test::Scratch folder;
  KernelCache cache(folder.path(), 3000, {});
  std::atomic<int> wrong{0};
  at_once(4, [&](int k) {
    for (int n = 0; n < 40; n++) {
      const std::string key(32, static_cast<char>('a' + (k + n) % 5)), text(1000, key[0]);
      cache.store(key, text, "text");
      const auto found = cache.load(key);
      wrong += found && *found != text;  // another thread may have removed it
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace featherstorm::test_threads
