// An environment's step on the device compared with the host: kernels of traced stages, of drawn numbers, and of the
// contact solver, one after another.
#include <gtest/gtest.h>

#include "host/rollout/draw_stage.h"
#include "host/simulation/environment_sequence.h"
#include "tests/device/sequence_cases.h"
#include "tests/host/simulation/falling_task.h"
#include "tests/support/robots/touching_world.h"

namespace featherstorm::test_environment_stages {
namespace {

using namespace testing;

// The largest difference of the environment's state between host and device after several steps.
double compare(Precision p, long steps, bool settled, long B = 45) {
  const Robot robot = with_touching_world(load("go2"), {});
  Evaluator e(robot, {.threads = 1});
  const Model<double>& m = e.robot().model;
  const Sequence s = environment_sequence(e, {"world", 2, 0, {}, false, {100, p == Precision::float32 ? 1e-6 : 1e-12}},
                                          p, falling_task(m, 4));
  Twin q(p, B, m.nq, 1), v(p, B, m.nv, 1), qacc(p, B, m.nv, 1), action(p, B, m.world.nu, 1), key(p, B, 6, 1),
      step(p, B, 1, 1), sums(p, B, 1, 1), episode(p, B, 1, 1), done(p, B, 1, 1);
  q.fill([&](long i, long k) {
    return k == 2 ? (settled ? 0.1 : 0.2) + 0.004 * static_cast<double>(i) : k == 3 ? 1.0 : 0.0;
  });
  action.fill([](long i, long k) { return std::sin(static_cast<double>(i) + 0.4 * static_cast<double>(k)); });
  key.fill([](long i, long k) { return draw_key(5, static_cast<std::uint32_t>(i))[static_cast<std::size_t>(k)]; });
  step.fill([](long i, long) { return static_cast<double>(i % 4); });
  const std::vector<std::pair<std::string, const Twin*>> state = {
      {"q", &q}, {"v", &v}, {"qacc", &qacc}, {"env_step", &step}, {"env_sums", &sums}, {"env_episode", &episode}};
  double worst = 0, ended = 0;
  for (long t = 0; t < steps; t++) {
    for (const bool there : {false, true}) {
      std::vector<SequenceMemory> in, out;
      for (const auto& [name, x] : state)
        in.push_back(x->memory(name, there, false)), out.push_back(x->memory(name, there, false));
      in.push_back(action.memory("env_action", there, false)), in.push_back(key.memory("env_key", there, false));
      out.push_back(done.memory("env_done", there, false));
      s.run(1, B, in, {}, out);
    }
    for (const auto& [name, x] : state)
      if (name != "qacc") worst = std::max(worst, x->difference());
    worst = std::max(worst, done.difference());
    for (long i = 0; i < B; i++) ended += done.get(done.host, i, 0);
  }
  EXPECT_GT(ended, 5);
  EXPECT_LT(ended, static_cast<double>(B * steps) / 1.5);
  return worst;
}

TEST(EnvironmentStages, AreTheHostsStepByStep) {
  EXPECT_LT(compare(Precision::float64, 6, false), bound(1e-9, 1e-6));
  EXPECT_LT(compare(Precision::float64, 2, true), bound(1e-9, 1e-6));
  EXPECT_LT(compare(Precision::float32, 2, true), bound(2e-4, 5e-3));
}

}  // namespace
}  // namespace featherstorm::test_environment_stages
