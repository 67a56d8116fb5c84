// An environment's step against the same stages one by one: the world's own sequence, and numbers in double.
#include <gtest/gtest.h>

#include <algorithm>

#include "host/rollout/draw_stage.h"
#include "tests/host/simulation/falling_task.h"
#include "tests/support/robots/touching_world.h"
#include "tests/support/robots/worlds.h"

namespace featherstorm::test_environment_sequence {
namespace {

using namespace testing;
constexpr long B = 37;
constexpr int passes = 2;
constexpr double steps = 6;

struct State {
  Buffer q, v, qacc, step{Precision::float64, B, 1}, sums{Precision::float64, B, 1}, episode{Precision::float64, B, 1},
      key{Precision::float64, B, 6}, done{Precision::float64, B, 1};
  explicit State(const Model<double>& m)
      : q(Precision::float64, B, m.nq), v(Precision::float64, B, m.nv), qacc(Precision::float64, B, m.nv) {
    for (long i = 0; i < B; i++) {
      q.component<double>(2)[i] = 0.1 + 0.006 * static_cast<double>(i), q.component<double>(3)[i] = 1;
      step.component<double>(0)[i] = static_cast<double>(i % 4);
      const auto numbers = draw_key(77, static_cast<std::uint32_t>(i));
      for (long c = 0; c < 6; c++) key.component<double>(c)[i] = numbers[static_cast<std::size_t>(c)];
    }
  }
  std::vector<SequenceMemory> in() const {
    std::vector<SequenceMemory> all = out();
    all.pop_back();
    all.push_back({"env_key", key.ref()});
    return all;
  }
  std::vector<SequenceMemory> out() const {
    return {{"q", q.ref()},           {"v", v.ref()},           {"qacc", qacc.ref()},
            {"env_step", step.ref()}, {"env_sums", sums.ref()}, {"env_episode", episode.ref()},
            {"env_done", done.ref()}};
  }
};

Stepping world_steps() { return {"world", passes, 0, {}, false, {100, 1e-10}}; }

TEST(EnvironmentSequence, IsTheStepThenTheStages) {
  const Robot robot = with_touching_world(load("go2"), {});
  Evaluator e(robot, {.threads = 1});
  const Model<double>& m = e.robot().model;
  const Sequence s = environment_sequence(e, world_steps(), Precision::float64, falling_task(m, steps));
  const Sequence pass = world_sequence(e, Precision::float64, {100, 1e-10, .forces = false});
  const Buffer action = noise(Precision::float64, B, m.world.nu, 1, 3);
  State x(m);
  long ended = 0;
  for (int t = 0; t < 8; t++) {
    // pass by pass
    State y(m);
    for (const auto& [from, to] : {std::pair{&x.q, &y.q}, {&x.v, &y.v}, {&x.qacc, &y.qacc}})
      for (long c = 0; c < from->ref().components; c++)
        std::copy_n(from->component<double>(c), B, to->component<double>(c));
    const Buffer ctrl(Precision::float64, B, m.world.nu);
    for (int k = 0; k < passes; k++) {
      for (int c = 0; c < m.world.nu; c++)
        for (long i = 0; i < B; i++)
          ctrl.component<double>(c)[i] =
              action.component<double>(c)[i] - 0.1 * y.v.component<double>(m.nv - m.world.nu + c)[i];
      const std::vector<SequenceMemory> state = {{"q", y.q.ref()}, {"v", y.v.ref()}, {"qacc", y.qacc.ref()}};
      std::vector<SequenceMemory> in = state;
      in.push_back({"ctrl", ctrl.ref()});
      pass.run(1, B, in, {}, state);
    }
    const std::vector<double> step = numbers_of(x.step.ref()), sums = numbers_of(x.sums.ref()),
                              episode = numbers_of(x.episode.ref());
    std::vector<SequenceMemory> in = x.in();
    in.push_back({"env_action", action.ref()});
    s.run(1, B, in, {}, x.out());
    for (long i = 0; i < B; i++) {
      const double height = y.q.component<double>(2)[i];
      const bool ends = height < low || step[static_cast<std::size_t>(i)] + 1 >= steps;
      const std::size_t at = static_cast<std::size_t>(i);
      ASSERT_EQ(x.done.component<double>(0)[i], ends) << "instance " << i << ", step " << t;
      ended += ends;
      EXPECT_EQ(x.episode.component<double>(0)[i], episode[at] + ends);
      EXPECT_EQ(x.step.component<double>(0)[i], ends ? 0 : step[at] + 1);
      if (!ends) {
        EXPECT_NEAR(x.sums.component<double>(0)[i], sums[at] + height, 1e-12);
        for (int c = 0; c < m.nq; c++) EXPECT_NEAR(x.q.component<double>(c)[i], y.q.component<double>(c)[i], 1e-12);
        for (int c = 0; c < m.nv; c++) EXPECT_NEAR(x.v.component<double>(c)[i], y.v.component<double>(c)[i], 1e-9);
        continue;
      }
      EXPECT_EQ(x.sums.component<double>(0)[i], 0);
      EXPECT_GT(x.q.component<double>(2)[i], 0.5 * high);
      EXPECT_LT(x.q.component<double>(2)[i], high);
      for (int c = 0; c < m.nv; c++) EXPECT_EQ(x.v.component<double>(c)[i], 0);
    }
  }
  EXPECT_GT(ended, 20);
  EXPECT_LT(ended, 7 * B);
}

TEST(EnvironmentSequence, BeginsEpisodesAlone) {
  const Robot robot = with_touching_world(load("go2"), {});
  Evaluator e(robot, {.threads = 1});
  const Model<double>& m = e.robot().model;
  EnvironmentStages stages = falling_task(m, steps);
  stages.steps = false, stages.after.erase(stages.after.begin()), stages.pass.clear();
  const Sequence s = environment_sequence(e, world_steps(), Precision::float64, stages);
  State x(m);
  const std::vector<double> before = numbers_of(x.q.ref());
  for (long i = 0; i < B; i++) x.done.component<double>(0)[i] = i % 3 == 0;
  std::vector<SequenceMemory> in = x.in(), out = x.out();
  in.push_back(out.back()), out.pop_back();
  s.run(1, B, in, {}, out);
  for (long i = 0; i < B; i++) {
    EXPECT_EQ(x.episode.component<double>(0)[i], i % 3 == 0);
    EXPECT_EQ(x.q.component<double>(2)[i] == before[static_cast<std::size_t>(i * m.nq + 2)], i % 3 != 0);
  }
}

TEST(EnvironmentSequence, ArraysHaveOneSize) {
  const Robot robot = with_touching_world(load("go2"), {});
  Evaluator e(robot, {.threads = 1});
  EnvironmentStages stages = falling_task(e.robot().model, steps);
  Program p;
  const auto x = p.input("env_step", 2);
  p.output("other", {x[0]});
  stages.after.push_back({.program = p});
  EXPECT_THROW(environment_sequence(e, world_steps(), Precision::float64, stages), Error);
}

}  // namespace
}  // namespace featherstorm::test_environment_sequence
