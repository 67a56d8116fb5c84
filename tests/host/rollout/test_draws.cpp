// Stages that draw: against the definition, number by number, with the words of noise.h, whose known answers
// test_noise.cpp has; and the same bits for whatever batch, thread, instruction set and precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "host/memory/cpu_library.h"
#include "host/rollout/draw_stage.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_draws {
namespace {

// The definition in core/scalar/draws.h.
double expected(std::uint64_t seed, std::uint32_t env, std::uint32_t episode, std::uint32_t step,
                std::uint32_t function, std::uint32_t slot) {
  std::uint32_t w[4];
  noise_kernels("base").words(w, 1, 1, {seed, function << 16 | slot / 4}, env, episode, step);
  return (std::floor(w[slot % 4] / 512.0) + 0.5) / 8388608.0;
}

// Whose numbers an instance draws.
struct Who {
  std::uint64_t seed;
  std::uint32_t env;
  long episode, step;
};

// A stage's kernel on arrays with guards behind them. Numbers that nobody wrote are `untouched`.
template <class Real>
struct Drawn {
  static constexpr Real untouched = -7;
  static constexpr long room = 32;  // of instances behind the last one
  long B, n;
  std::vector<Real> u;  // (n + 1, B + room), instance fastest
  Drawn(const std::vector<Who>& who, DrawOptions o, const std::string& isa = "", const std::vector<Real>& needed = {})
      : B(static_cast<long>(who.size())), n(o.count), u(static_cast<std::size_t>((n + 1) * (B + room)), untouched) {
    if (!needed.empty()) o.needed = "needed";
    const long stride = B + room;
    std::vector<Real> key(static_cast<std::size_t>(6 * stride)), episode(key), step(key), whether(needed);
    for (long i = 0; i < B; i++) {
      const Who& w = who[static_cast<std::size_t>(i)];
      const auto pieces = draw_key(w.seed, w.env);
      for (long k = 0; k < 6; k++) key[static_cast<std::size_t>(k * stride + i)] = static_cast<Real>(pieces[k]);
      episode[static_cast<std::size_t>(i)] = static_cast<Real>(w.episode);
      step[static_cast<std::size_t>(i)] = static_cast<Real>(w.step);
    }
    const Stage s = draw_stage(sizeof(Real) == 4 ? Precision::float32 : Precision::float64, isa, o, "u");
    const BoundKernel k = s.kernel();
    const Array in[] = {{key.data(), stride}, {episode.data(), stride}, {step.data(), stride}, {whether.data(), 0}};
    const Array out[] = {{u.data(), stride}};
    k.kernel(k.model, in, out, 1, 0, B);
  }
  Real at(long i, long slot) const { return u[static_cast<std::size_t>(slot * (B + room) + i)]; }
};

// Seeds, envs, episodes and steps with bits in all their pieces.
std::vector<Who> everybody(long B) {
  std::vector<Who> who;
  for (long i = 0; i < B; i++)
    who.push_back({0x123456789abcdef0ull + 0x1000100010001ull * static_cast<std::uint64_t>(i % 3),
                   0xfffffff0u + 3 * static_cast<std::uint32_t>(i), i % 5 == 4 ? (1l << 24) - 1 : 7 * i,
                   999 - i % 100});
  return who;
}

template <class Real>
void check_definition() {
  for (const std::string& isa : supported_isas())
    for (const long B : {1L, 15L, 16L, 17L, 50L})
      for (const int n : {1, 4, 7, 48})
        for (const bool next : {false, true}) {
          SCOPED_TRACE(isa + ", " + std::to_string(B) + " instances, " + std::to_string(n) + " numbers");
          const std::vector<Who> who = everybody(B);
          const Drawn<Real> d(who, {.count = n, .function = 0xfedc, .next_episode = next}, isa);
          for (long slot = 0; slot <= n; slot++)
            for (long i = 0; i < B + d.room; i++) {
              if (slot == n || i >= B) {
                ASSERT_EQ(d.at(i, slot), d.untouched) << "instance " << i << ", slot " << slot << " is a guard";
                continue;
              }
              const Who& w = who[static_cast<std::size_t>(i)];
              ASSERT_EQ(
                  static_cast<double>(d.at(i, slot)),
                  expected(w.seed, w.env, static_cast<std::uint32_t>(w.episode + (next ? 1 : 0)),
                           static_cast<std::uint32_t>(next ? 0 : w.step), 0xfedc, static_cast<std::uint32_t>(slot)))
                  << "instance " << i << ", slot " << slot;
            }
        }
}
TEST(Draws, AreTheDefinitionInBothPrecisionsForEveryInstructionSet) {
  check_definition<float>(), check_definition<double>();
}

TEST(Draws, ReachTheLastSlot) {
  const Drawn<float> d({{5, 6, 7, 8}}, {.count = most_draws, .function = 65535});
  for (const long slot : {0L, 65535L, 65536L, most_draws - 1L})
    EXPECT_EQ(static_cast<double>(d.at(0, slot)), expected(5, 6, 7, 8, 65535, static_cast<std::uint32_t>(slot)));
}

// Groups of which none needs numbers are left alone, whatever is in there; who needs some has those that he has otherwise.
template <class Real>
void check_needed() {
  constexpr long B = 100;
  const std::vector<Who> who = everybody(B);
  const DrawOptions o{.count = 6, .function = 3};
  const Drawn<Real> all(who, o);
  std::vector<Real> needed(B, 0);
  needed[0] = 1, needed[40] = Real(1e-30), needed[99] = 1e30, needed[41] = -1, needed[70] = NAN;
  for (const std::string& isa : supported_isas()) {
    const Drawn<Real> d(who, o, isa, needed);
    for (long i = 0; i < B; i++)
      for (long slot = 0; slot < o.count; slot++) {
        if (needed[static_cast<std::size_t>(i)] > 0) ASSERT_EQ(d.at(i, slot), all.at(i, slot)) << i << " " << slot;
        const long group = i / draw_group;
        if (group != 0 && group != 40 / draw_group && group != 99 / draw_group)
          ASSERT_EQ(d.at(i, slot), d.untouched) << i << " " << slot;
      }
  }
}
TEST(Draws, AreMadeWhereTheyAreNeeded) { check_needed<float>(), check_needed<double>(); }

// u (B, T, n) of a sequence with these envs, from step 0 of episode 3 on.
template <class Real>
std::vector<Real> in_sequence(const std::vector<long>& envs, int threads, const std::string& isa) {
  constexpr long T = 3, n = 5;
  const long B = static_cast<long>(envs.size());
  const Precision p = sizeof(Real) == 4 ? Precision::float32 : Precision::float64;
  std::vector<Real> key(static_cast<std::size_t>(6 * B)), episode(static_cast<std::size_t>(B), 3);
  std::vector<Real> step(static_cast<std::size_t>(T * B)), u(static_cast<std::size_t>(B * T * n), -1);
  for (long i = 0; i < B; i++) {
    const auto pieces = draw_key(11, static_cast<std::uint32_t>(envs[static_cast<std::size_t>(i)]));
    for (long k = 0; k < 6; k++) key[static_cast<std::size_t>(i * 6 + k)] = static_cast<Real>(pieces[k]);
    for (long t = 0; t < T; t++) step[static_cast<std::size_t>(t * B + i)] = static_cast<Real>(t);
  }
  Sequence s(p, threads, isa);
  s.array("key", 6), s.array("episode", 1), s.array("step", 1), s.array("u", n);
  s.stage(draw_stage(p, isa, {.count = n, .function = 1}, "u"));
  s.run(T, B,
        {{"key", {key.data(), p, B, 6, 6, 1, false}, false, 0},
         {"episode", {episode.data(), p, B, 1, 1, 1, false}, false, 0},
         {"step", {step.data(), p, B, 1, 1, 1, false}, true, B}},
        {}, {{"u", {u.data(), p, B, n, T * n, 1, false}, true, n}});
  return u;
}

TEST(Draws, AreTheSameBitsForAnyBatchPlaceThreadsInstructionSetAndPrecision) {
  std::vector<long> envs(4096);
  for (std::size_t i = 0; i < envs.size(); i++) envs[i] = static_cast<long>(i);
  const std::vector<float> all = in_sequence<float>(envs, 1, "base");
  for (std::size_t i = 0; i < all.size(); i++)
    ASSERT_EQ(static_cast<double>(all[i]), expected(11, static_cast<std::uint32_t>(i / 15), 3, i / 5 % 3, 1, i % 5));
  for (const long B : {1L, 7L, 64L, 4096L})
    for (const int threads : {1, 2})
      for (const std::string& isa : supported_isas()) {
        SCOPED_TRACE(isa + ", " + std::to_string(B) + " instances, " + std::to_string(threads) + " threads");
        // the last B envs, in reverse
        const std::vector<long> some(envs.rbegin(), envs.rbegin() + B);
        const std::vector<float> single = in_sequence<float>(some, threads, isa);
        const std::vector<double> twice = in_sequence<double>(some, threads, isa);
        for (std::size_t i = 0; i < single.size(); i++) {
          const std::size_t env = static_cast<std::size_t>(some[i / 15]);
          ASSERT_EQ(single[i], all[env * 15 + i % 15]);
          ASSERT_EQ(twice[i], static_cast<double>(all[env * 15 + i % 15]));
        }
      }
}

TEST(Draws, NameWhatDoesNotFit) {
  const auto message = [](const DrawOptions& o, long key = 6, long u = 4, bool uniform = false) {
    return testing::message([&] {
      Sequence s(Precision::float32, 1);
      if (uniform) s.uniform("key", key);
      else s.array("key", key);
      s.array("episode", 1), s.array("step", 1), s.array("done", 2), s.array("u", u);
      s.stage(draw_stage(Precision::float32, "", o, "u"));
    });
  };
  EXPECT_EQ(message({.count = 4}), "no error");
  EXPECT_EQ(message({.count = 0}), "a stage draws 0 numbers, expected 1 to 262144");
  EXPECT_EQ(message({.count = 262145}), "a stage draws 262145 numbers, expected 1 to 262144");
  EXPECT_EQ(message({.count = 4, .function = 65536}), "function of a stage that draws is 65536, expected 0 to 65535");
  EXPECT_EQ(message({.count = 4}, 2), "array 'key' has 2 components, the stage expects 6");
  EXPECT_EQ(message({.count = 4}, 6, 3), "array 'u' has 3 components, the stage expects 4");
  EXPECT_EQ(message({.count = 4, .needed = "done"}), "array 'done' has 2 components, the stage expects 1");
  EXPECT_EQ(message({.count = 4, .step = "time"}), "the sequence has no array 'time'");
  EXPECT_EQ(message({.count = 4}, 6, 4, true),
            "array 'key' is uniform, a stage with a kernel for devices expects numbers for each instance");
}

}  // namespace
}  // namespace featherstorm::test_draws
