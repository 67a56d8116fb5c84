// Stages that draw random numbers on a device, and stages without swaps that run where
// they are needed, compared with the host.
#include <gtest/gtest.h>

#include <climits>

#include "host/memory/device_graph.h"
#include "tests/device/sequence_cases.h"
#include "tests/host/rollout/renewal.h"

namespace featherstorm::test_draw_stage {
namespace {

using namespace testing;

// Environments, their episodes and steps, and the drawn numbers, on host and device.
struct Drawing {
  static constexpr long T = 3;
  Precision p;
  long B;
  Twin key, episode, step, done, u;
  Drawing(Precision p, long B, int count)
      : p(p), B(B), key(p, B, 6, 1), episode(p, B, 1, 1), step(p, B, 1, T), done(p, B, 1, T), u(p, B, count, T) {
    key.fill([](long i, long k) {
      return draw_key(0xfedcba9876543210ull + static_cast<std::uint64_t>(i % 3),
                      0xfffffff0u + static_cast<std::uint32_t>(i))[static_cast<std::size_t>(k)];
    });
    episode.fill([](long i, long) { return i % 4 == 3 ? 16777215 : 5 * i; });
    step.fill([](long i, long t) { return 10 * t + i % 7; });
    done.fill([](long i, long t) { return (i + t) % 5 == 0 ? 1 : i % 3 == 0 ? -1 : 0; });
    u.fill([](long, long) { return -7; });
  }
  Sequence sequence(const DrawOptions& o) const {
    Sequence s(p, 1);
    s.array("key", 6), s.array("episode", 1), s.array("step", 1), s.array("done", 1), s.array("u", u.components);
    s.stage(draw_stage(p, "", o, "u"));
    return s;
  }
  void run(const Sequence& s, bool there, void* stream = nullptr) const {
    s.run(T, B,
          {key.memory("key", there, false), episode.memory("episode", there, false), step.memory("step", there, true),
           done.memory("done", there, true)},
          {}, {u.memory("u", there, true)}, nullptr, stream);
  }
  Buffer back(void* stream = nullptr) const {
    Buffer b(p, B, u.components * T);
    copy(u.there.ref(), b.ref(), stream);
    return b;
  }
};

TEST(DrawStage, IsTheHostsBitForBit) {
  for (const Precision p : {Precision::float32, Precision::float64})
    for (const long B : {1L, 33L, 1000L})
      for (const int count : {1, 4, 7, 30})
        for (const bool next : {false, true}) {
          SCOPED_TRACE(std::to_string(B) + " instances, " + std::to_string(count) + " numbers" +
                       (next ? ", next" : ""));
          const Drawing d(p, B, count);
          const Sequence s = d.sequence({.count = count, .function = 65535, .next_episode = next});
          d.run(s, false), d.run(s, true);
          const Buffer back = d.back();
          for (long i = 0; i < B; i++)
            for (long k = 0; k < count * d.T; k++) {
              ASSERT_EQ(d.u.get(back, i, k), d.u.get(d.u.host, i, k)) << i << " " << k;
              ASSERT_GT(d.u.get(back, i, k), 0) << i << " " << k;
            }
        }
}

TEST(DrawStage, LeavesAloneWhoNeedsNone) {
  for (const Precision p : {Precision::float32, Precision::float64}) {
    const Drawing d(p, 77, 6);
    const Sequence all = d.sequence({.count = 6}), some = d.sequence({.count = 6, .needed = "done"});
    d.run(all, false), d.run(some, true);
    const Buffer back = d.back();
    long drawn = 0;
    for (long i = 0; i < d.B; i++)
      for (long t = 0; t < d.T; t++)
        for (long k = 6 * t; k < 6 * t + 6; k++) {
          const bool needed = d.done.get(d.done.host, i, t) > 0;
          ASSERT_EQ(d.u.get(back, i, k), needed ? d.u.get(d.u.host, i, k) : -7) << i << " " << k;
          drawn += needed;
        }
    EXPECT_GT(drawn, 6 * 30);
  }
}

TEST(DrawStage, TakesNoMemoryWhenWarmAndIsCaptured) {
  const DeviceStream stream(device);
  Drawing d(Precision::float32, 50, 5);
  const Sequence s = d.sequence({.count = 5});
  d.run(s, true, stream.get());
  synchronise(device, stream.get());
  const StandInCounts before = counts_before();
  d.run(s, true, stream.get());
  if (!real_gpu) {
    EXPECT_EQ(counts().launches - before.launches, d.T) << "a launch a step";
    EXPECT_EQ(counts().pool_allocations, before.pool_allocations);
    EXPECT_EQ(counts().waits, before.waits);
  }
  const DeviceGraph graph(device, stream.get(), [&] { d.run(s, true, stream.get()); });
  d.key.fill([](long i, long k) { return draw_key(3, static_cast<std::uint32_t>(i))[static_cast<std::size_t>(k)]; });
  graph.launch(stream.get());
  d.run(s, false);
  EXPECT_EQ(d.u.difference(stream.get()), 0);
}

// A toy environment with episodes, whose stages are fused around the stage that draws, or are all in one kernel.
TEST(DrawStage, EpisodesAreTheHosts) {
  constexpr long B = 70, T = 40;
  for (const Precision p : {Precision::float32, Precision::float64})
    for (const bool draws : {false, true}) {
      SCOPED_TRACE(draws ? "drawn" : "given");
      const Sequence s = renewal_sequence(p, "", 1, draws, [p](const Program& x) { return interpreted(x, p); });
      Twin key(p, B, 6, 1), a(p, B, 1, 1), given(p, B, 2, 1);
      key.fill([](long i, long k) {
        return draw_key(renewal_seed, static_cast<std::uint32_t>(i))[static_cast<std::size_t>(k)];
      });
      a.fill([](long i, long) { return renewal_growth(i); });
      given.fill([](long i, long k) { return renewal_number(i, static_cast<int>(k)); });
      const Twin x(p, B, 1, T), mark(p, B, 1, T), episode(p, B, 1, T), step(p, B, 1, T);
      for (const bool there : {false, true}) {
        std::vector<SequenceMemory> in = {key.memory("key", there, false), a.memory("a", there, false)};
        if (!draws) in.push_back(given.memory("u", there, false));
        s.run(T, B, in, {},
              {x.memory("x", there, true), mark.memory("mark", there, true), episode.memory("episode", there, true),
               step.memory("step", there, true)});
      }
      for (const Twin* y : {&x, &mark, &episode, &step}) EXPECT_EQ(y->difference(), 0) << "sums alone: the same bits";
      for (long i = 0; i < B && p == Precision::float64; i++) {
        const Renewed r = renewal(i, T, draws);
        EXPECT_EQ(x.get(x.host, i, T - 1), r.x) << i;
        EXPECT_EQ(mark.get(mark.host, i, T - 1), r.mark) << i;
        EXPECT_EQ(episode.get(episode.host, i, T - 1), r.episode) << i;
      }
    }
}

// x grows. Above 5 it restarts from half its value and a drawn number, and its position among the steps is marked.
Program again() {
  Program p;
  const auto x = p.input("x", 1), u = p.input("u", 2), t = p.input("t", 1, true);
  Tracing scope(p.graph);
  p.output("x_again", {0.5 * x[0] - 2.0 + u[0]});
  p.output("mark_again", {t[0] + u[1]});
  return p;
}
TEST(DrawStage, AStageInPlaceLeavesAloneWhoNeedsItNot) {
  constexpr long B = 70, T = 30;
  std::vector<double> times;
  for (long t = 0; t < T; t++) times.push_back(static_cast<double>(t));
  for (const Precision p : {Precision::float32, Precision::float64})
    for (const bool every : {false, true}) {
      SCOPED_TRACE(every ? "every step" : "the last");
      Sequence s(p, 1, "");
      s.array("key", 6), s.array("u", 2), s.uniform("t", 1);
      for (const char* name : {"a", "x", "grown", "done", "mark", "x_again", "mark_again", "episode", "step"})
        s.array(name, 1);
      Stage grow = interpreted(growth(), p), begin = interpreted(again(), p);
      grow.swaps = {{"x", "grown"}};
      s.stage(grow);
      s.stage(draw_stage(p, "", {.count = 2, .function = 3, .next_episode = true, .needed = "done"}, "u"));
      begin.needed = "done", begin.swaps = {{"x", "x_again"}, {"mark", "mark_again"}};
      s.stage(begin);
      Twin key(p, B, 6, 1), a(p, B, 1, 1), x(p, B, 1, every ? T : 1), mark(p, B, 1, every ? T : 1);
      key.fill([](long i, long k) { return draw_key(7, static_cast<std::uint32_t>(i))[static_cast<std::size_t>(k)]; });
      a.fill([](long i, long) { return renewal_growth(i); });
      mark.fill([](long i, long) { return -static_cast<double>(i); });
      x.fill([](long i, long) { return static_cast<double>(i % 5); });
      for (const bool there : {false, true}) {
        std::vector<SequenceMemory> in = {key.memory("key", there, false), a.memory("a", there, false)};
        if (!every) in.push_back(mark.memory("mark", there, false)), in.push_back(x.memory("x", there, false));
        s.run(T, B, in, {{"t", times}}, {x.memory("x", there, every), mark.memory("mark", there, every)});
      }
      for (const Twin* y : {&x, &mark}) EXPECT_EQ(y->difference(), 0);
      if (every) continue;
      long begun = 0;
      for (long i = 0; i < B; i++) begun += mark.get(mark.host, i, 0) != -static_cast<double>(i);
      EXPECT_GT(begun, 20);
      EXPECT_LT(begun, B);
    }
}

TEST(DrawStage, WhatIsMissingIsNamed) {
  const Drawing d(Precision::float32, 5, 2);
  const auto words = [&] {
    const Sequence s = d.sequence({.count = 2});
    return message([&] { d.run(s, true); });
  };
  fail_next("launch", out_of_resources);
  EXPECT_EQ(words().find("draws: CUDA device 1: "), 0u) << words();
  EXPECT_EQ(words(), "no error");
  const CudaTable& table = cuda_for("test", device);
  const UniformDraw draw{2, 0, false, false};
  const Array none[4] = {};
  EXPECT_FALSE(table.draw(device, nullptr, false, &draw, none, none, long{INT_MAX} + 1));
  EXPECT_STREQ(table.last_error(),
               "2147483648 instances are to draw 2 numbers, expected at most 2147483647 and 262144");
  EXPECT_TRUE(table.draw(device, nullptr, false, &draw, none, none, 0));
}

}  // namespace
}  // namespace featherstorm::test_draw_stage
