// Kernels of traced programs by every way of making them, and sequences of kernels against loops over instances.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "core/trace/evaluate.h"
#include "host/compile/traced_kernel.h"
#include "host/memory/cpu_library.h"
#include "host/rollout/sequence.h"
#include "host/system/error.h"
#include "tests/host/rollout/heron.h"
#include "tests/host/rollout/renewal.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_sequence {
namespace {

// x_next = x + dt sin(u) of two components, total_next = total + x . x + t
Program integrator() {
  Program p;
  const auto x = p.input("x", 2), u = p.input("u", 2), total = p.input("total", 1);
  const auto dt = p.input("dt", 1, true), t = p.input("t", 1, true);
  Tracing scope(p.graph);
  const std::vector<Expr> next = {x[0] + dt[0] * sin(u[0]), x[1] + dt[0] * sin(u[1])};
  p.output("x_next", next);
  p.output("total_next", {total[0] + next[0] * next[0] + next[1] * next[1] + t[0]});
  return p;
}

// (B, T, n) by rows, as a user's arrays lie
struct Rows {
  Rows(long B, long T, long n) : B(B), T(T), n(n), x(static_cast<std::size_t>(B * T * n), -1e30) {}
  double& at(long b, long t, long c) { return x[(b * T + t) * n + c]; }
  // The first `count` instances; -1: all.
  SequenceMemory memory(const char* name, bool every_step, long count = -1) {
    return {name, {x.data(), Precision::float64, count < 0 ? B : count, n, T * n, 1, false}, every_step, n};
  }
  long B, T, n;
  std::vector<double> x;
};

Sequence sequence_of(const BoundKernel& kernel, int threads) {
  Sequence s(Precision::float64, threads);
  for (const char* name : {"x", "x_next", "u"}) s.array(name, 2);
  s.array("total", 1), s.array("total_next", 1);
  s.uniform("dt", 1), s.uniform("t", 1);
  s.stage({[kernel] { return kernel; },
           {"x", "u", "total", "dt", "t"},
           {"x_next", "total_next"},
           {{"x", "x_next"}, {"total", "total_next"}},
           1,
           false});
  return s;
}

TEST(Sequence, IsALoopOverStepsForEveryKindOfKernel) {
  const Program p = integrator();
  std::vector<BoundKernel> kernels = {interpret_program(p, Precision::float64)};
  for (const std::string& isa : supported_isas())
    if (const BoundKernel k = assemble_program(p, Precision::float64, isa); k.kernel) kernels.push_back(k);
  HostCompiler compiler;
  if (const BoundKernel k = compile_program(p, Precision::float64, 4, compiler); k.kernel) kernels.push_back(k);
  for (const BoundKernel& kernel : kernels)
    for (long B : {1L, 17L, 128L, 300L}) {
      const long T = 5;
      Rows x0(B, 1, 2), U(B, T, 2), states(B, T, 2), total(B, 1, 1);
      for (std::size_t k = 0; k < x0.x.size(); k++) x0.x[k] = std::cos(0.3 * static_cast<double>(k));
      for (std::size_t k = 0; k < U.x.size(); k++) U.x[k] = std::sin(0.7 * static_cast<double>(k));
      const std::vector<double> times = {1, 2, 3, 4, 5};
      sequence_of(kernel, B > 128 ? 2 : 1)
          .run(T, B, {x0.memory("x", false), U.memory("u", true)}, {{"dt", {0.1}}, {"t", times}},
               {states.memory("x", true), total.memory("total", false)});
      for (long b = 0; b < B; b++) {
        double x[2] = {x0.at(b, 0, 0), x0.at(b, 0, 1)}, sum = 0;
        for (long t = 0; t < T; t++) {
          for (int c = 0; c < 2; c++) {
            x[c] += 0.1 * std::sin(U.at(b, t, c)), sum += x[c] * x[c];
            ASSERT_NEAR(states.at(b, t, c), x[c], 1e-13);
          }
          sum += times[t];
        }
        ASSERT_NEAR(total.at(b, 0, 0), sum, 1e-12);
      }
    }
}

TEST(Sequence, GivesTheSameNumbersInWhateverOrderInstancesAreTaken) {
  const BoundKernel kernel = interpret_program(integrator(), Precision::float64);
  for (long B : {1L, 17L, 128L, 300L, 1300L}) {
    const long T = 20;
    Rows x0(B, 1, 2), U(B, T, 2);
    for (std::size_t k = 0; k < x0.x.size(); k++) x0.x[k] = std::cos(0.3 * static_cast<double>(k));
    for (std::size_t k = 0; k < U.x.size(); k++) U.x[k] = std::sin(0.7 * static_cast<double>(k));
    const std::vector<double> times(static_cast<std::size_t>(T), 0.5);
    Rows label(B, 1, 1);  // that no stage reads or writes
    for (long b = 0; b < B; b++) label.at(b, 0, 0) = static_cast<double>(b);
    std::vector<Rows> found;
    for (const bool ordered : {false, true}) {
      found.emplace_back(B, T, 2), found.emplace_back(B, 1, 1), found.emplace_back(B, T, 1);
      Sequence s = sequence_of(kernel, 1);
      s.array("label", 1);
      if (ordered) s.order_by("total");
      // a run begins in the order in which the last one ended, if it had as many instances
      for (const long n : ordered ? std::vector{B, B, (B + 1) / 2, B} : std::vector{B})
        s.run(T, n, {x0.memory("x", false, n), U.memory("u", true, n), label.memory("label", false, n)},
              {{"dt", {0.1}}, {"t", times}},
              {found[found.size() - 3].memory("x", true, n), found[found.size() - 2].memory("total", false, n),
               found.back().memory("label", true, n)});
    }
    for (std::size_t k = 0; k < 3; k++) EXPECT_EQ(found[k].x, found[k + 3].x) << "of " << B << " instances";
    for (long b = 0; b < B; b++)
      for (long t = 0; t < T; t++) ASSERT_EQ(found[5].at(b, t, 0), static_cast<double>(b));
  }
  Sequence s = sequence_of(kernel, 1);
  EXPECT_THROW(s.order_by("dt"), Error);
  EXPECT_THROW(s.order_by("nothing"), Error);
}

TEST(Sequence, StagesThatLeaveInstancesAloneDoSoInAnyOrder) {
  const BoundKernel kernel = interpret_program(testing::heron(), Precision::float64);
  const long T = 20, B = 45;
  std::vector<Rows> found;
  for (const bool ordered : {false, true}) {
    Sequence s = testing::heron_sequence({[kernel] { return kernel; }}, 2);
    if (ordered) s.order_by("passes");
    Rows x(B, 1, 1), a(B, 1, 1), more(B, 1, 1);
    for (long b = 0; b < B; b++) {
      x.at(b, 0, 0) = 1, a.at(b, 0, 0) = testing::heron_number(b);
      more.at(b, 0, 0) = a.at(b, 0, 0) > 0;
    }
    for (int k = 0; k < 3; k++) found.emplace_back(B, T, 1);
    s.run(T, B, {x.memory("x", false), a.memory("a", false), more.memory("more", false)}, {},
          {found[found.size() - 3].memory("x", true), found[found.size() - 2].memory("passes", true),
           found.back().memory("x_next", true)});
  }
  for (std::size_t k = 0; k < 3; k++) EXPECT_EQ(found[k].x, found[k + 3].x);
}

TEST(Sequence, RunsLastStagesOnce) {
  Program p;
  const auto total = p.input("total", 1);
  {
    Tracing scope(p.graph);
    p.output("total_next", {total[0] + 1});
  }
  for (bool last : {false, true}) {
    Sequence s(Precision::float64, 1);
    s.array("total", 1), s.array("total_next", 1);
    s.stage({[&p] { return interpret_program(p, Precision::float64); },
             {"total"},
             {"total_next"},
             {{"total", "total_next"}},
             1,
             last});
    Rows out(3, 1, 1);
    s.run(7, 3, {}, {}, {out.memory("total", false)});
    for (double x : out.x) EXPECT_EQ(x, last ? 1 : 7);
  }
}

TEST(Sequence, AStageIsRepeatedForTheInstancesThatNeedIt) {
  const Program p = testing::heron();
  std::vector<BoundKernel> kernels = {interpret_program(p, Precision::float64)};
  for (const std::string& isa : supported_isas())
    if (const BoundKernel k = assemble_program(p, Precision::float64, isa); k.kernel) kernels.push_back(k);
  constexpr long most = 12;
  for (const BoundKernel& kernel : kernels)
    for (long B : {1L, 16L, 45L, 300L}) {
      const Sequence s = testing::heron_sequence({[kernel] { return kernel; }}, most);
      Rows x(B, 1, 1), a(B, 1, 1), more(B, 1, 1), root(B, 1, 1), passes(B, 1, 1);
      for (long b = 0; b < B; b++) {
        x.at(b, 0, 0) = 1, a.at(b, 0, 0) = testing::heron_number(b);
        more.at(b, 0, 0) = a.at(b, 0, 0) > 0;
      }
      s.run(1, B, {x.memory("x", false), a.memory("a", false), more.memory("more", false)}, {},
            {root.memory("x", false), passes.memory("passes", false)});
      for (long b = 0; b < B; b++) {
        const testing::HeronResult r = testing::heron_result(b, most);
        ASSERT_EQ(passes.at(b, 0, 0), r.passes) << "instance " << b << " of " << B;
        ASSERT_NEAR(root.at(b, 0, 0), r.root, 1e-15 * r.root) << "instance " << b << " of " << B;
      }
    }
}

// All that a stage counts: for how many instances it was called, of all calls together.
struct Counted {
  BoundKernel kernel;
  long instances = 0;
};
BoundKernel counted(const std::shared_ptr<Counted>& c) {
  const auto run = [](const void* model, const Array* in, const Array* out, long repeat, long first, long count) {
    auto& c = *static_cast<Counted*>(const_cast<void*>(model));
    c.instances += count;
    c.kernel.kernel(c.kernel.model, in, out, repeat, first, count);
  };
  return {run, c.get(), c->kernel.width, c};
}

TEST(Sequence, AStageWithoutSwapsRunsForThePacksThatNeedIt) {
  constexpr long T = 40;
  for (const std::string& isa : supported_isas())
    for (const bool draws : {false, true})
      for (const bool ordered : {false, true})
        for (const long B : {1L, 16L, 45L, 300L}) {
          SCOPED_TRACE(isa + (draws ? ", draws" : "") + (ordered ? ", ordered" : "") + ", instances " +
                       std::to_string(B));
          const auto traced = [&](const Program& p) {
            Stage s = testing::interpreted(p, Precision::float64);
            if (const BoundKernel k = assemble_program(p, Precision::float64, isa); k.kernel)
              s.kernel = [k] { return k; };
            return s;
          };
          Sequence s = testing::renewal_sequence(Precision::float64, isa, ordered ? 2 : 1, draws, traced);
          if (ordered) s.order_by("x");
          Rows key(B, 1, 6), a(B, 1, 1), u(B, 1, 2), zero(B, 1, 1);
          for (long b = 0; b < B; b++) {
            const auto pieces = draw_key(testing::renewal_seed, static_cast<std::uint32_t>(b));
            for (long k = 0; k < 6; k++) key.at(b, 0, k) = pieces[static_cast<std::size_t>(k)];
            a.at(b, 0, 0) = testing::renewal_growth(b), zero.at(b, 0, 0) = 0;
            for (int k = 0; k < 2; k++) u.at(b, 0, k) = testing::renewal_number(b, k);
          }
          std::vector<SequenceMemory> in = {key.memory("key", false), a.memory("a", false)};
          for (const char* name : {"x", "mark", "episode", "step"}) in.push_back(zero.memory(name, false));
          if (!draws) in.push_back(u.memory("u", false));
          Rows x(B, T, 1), mark(B, T, 1), episode(B, T, 1), step(B, T, 1);
          s.run(T, B, in, {},
                {x.memory("x", true), mark.memory("mark", true), episode.memory("episode", true),
                 step.memory("step", true)});
          for (long b = 0; b < B; b++)
            for (long t = 0; t < T; t++) {
              const testing::Renewed r = testing::renewal(b, t + 1, draws);
              ASSERT_EQ(x.at(b, t, 0), r.x) << "instance " << b << ", step " << t;
              ASSERT_EQ(mark.at(b, t, 0), r.mark) << "instance " << b << ", step " << t;
              ASSERT_EQ(episode.at(b, t, 0), r.episode) << "instance " << b << ", step " << t;
              ASSERT_EQ(step.at(b, t, 0), r.step) << "instance " << b << ", step " << t;
            }
        }
}

TEST(Sequence, AStageWithoutSwapsTakesNoTimeWhereNobodyNeedsIt) {
  constexpr long B = 300;
  const auto c = std::make_shared<Counted>();
  c->kernel = interpret_program(testing::beginning(), Precision::float64);
  Sequence s(Precision::float64, 1);
  s.array("a", 1), s.array("u", 2), s.array("done", 1), s.array("fresh", 2);
  Stage begin{[c] { return counted(c); }, {"a", "u"}, {"fresh"}};
  begin.needed = "done";
  s.stage(begin);
  Rows done(B, 1, 1), fresh(B, 1, 2);
  const auto run = [&] {
    c->instances = 0;
    s.run(1, B, {done.memory("done", false)}, {}, {fresh.memory("fresh", false)});
    return c->instances;
  };
  for (double& x : done.x) x = 0;
  EXPECT_EQ(run(), 0);
  done.at(37, 0, 0) = 1;
  EXPECT_EQ(run(), c->kernel.width);
  EXPECT_EQ(fresh.at(37, 0, 0), -3);
  done.at(299, 0, 0) = 1;
  EXPECT_EQ(run(), 2 * c->kernel.width);
  EXPECT_EQ(fresh.at(299, 0, 0), -3);
}

TEST(Sequence, StagesThatRunWhereTheyAreNeededAreChecked) {
  Sequence s(Precision::float64, 1);
  s.array("x", 1), s.array("y", 1), s.array("z", 1), s.uniform("t", 1);
  const auto message = [&](const Stage& stage) { return testing::message([&] { s.stage(stage); }); };
  Stage stage{{}, {"x"}, {"y", "z"}};
  stage.needed = "x";
  EXPECT_EQ(message(stage), "no error") << "scratch";
  stage.repeat = 2;
  EXPECT_EQ(message(stage), "a stage that depends on array 'x' has no swaps and 2 passes, expected one pass");
  stage.swaps = {{"x", "y"}};
  EXPECT_EQ(message(stage), "array 'z' of a stage that is repeated for some instances has no swap, expected one");
  stage.needed = "t";
  EXPECT_EQ(message(stage), "array 't' cannot select instances, expected an array with components that is not uniform");
}

TEST(Sequence, TellsWhatItsStagesTake) {
  const Program p = integrator();
  const BoundKernel kernel = interpret_program(p, Precision::float64);
  Sequence s(Precision::float64, 1);
  for (const char* name : {"x", "x_next", "u"}) s.array(name, 2);
  s.array("total", 1), s.array("total_next", 1);
  s.uniform("dt", 1), s.uniform("t", 1);
  Stage stage{[kernel] { return kernel; }, {"x", "u", "total", "dt", "t"}, {"x_next", "total_next"}};
  stage.program = [&] { return p; }, stage.name = "integrator";
  s.stage(stage);
  stage.program = {}, stage.name = "again", stage.last = true;
  s.stage(stage);
  EXPECT_THROW(s.costs(), Error);
  s.measure();
  EXPECT_EQ(s.costs()[0].seconds, 0);
  const auto start = std::chrono::steady_clock::now();
  s.run(50, 300, {}, {{"dt", {0.1}}, {"t", {0}}}, {});
  const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::vector<StageCost> costs = s.costs();
  ASSERT_EQ(costs.size(), 2u);
  EXPECT_EQ(costs[0].name, "integrator");
  EXPECT_EQ(costs[1].name, "again");
  EXPECT_EQ(costs[0].operations, 5) << "two steps, two squares and t";
  EXPECT_EQ(costs[1].operations, 0) << "there is no program to count";
  EXPECT_GT(costs[0].seconds, costs[1].seconds) << "which ran once";
  EXPECT_GT(costs[1].seconds, 0);
  EXPECT_LT(costs[0].seconds + costs[1].seconds, passed);
}

TEST(Sequence, NamesWhatDoesNotFit) {
  const Sequence s = sequence_of(interpret_program(integrator(), Precision::float64), 1);
  Rows wide(4, 1, 3), x(4, 1, 2);
  const std::vector<UniformValues> uniforms = {{"dt", {0.1}}, {"t", {0}}};
  const auto message = [&](long steps, const std::vector<SequenceMemory>& in, const std::vector<UniformValues>& u) {
    return testing::message([&] { s.run(steps, 4, in, u, {}); });
  };
  EXPECT_EQ(message(2, {x.memory("x", false)}, uniforms), "no error");
  EXPECT_EQ(message(0, {}, uniforms), "steps is 0, expected 1 or more");
  EXPECT_EQ(message(2, {wide.memory("x", false)}, uniforms), "x has shape (4, 3), expected (4, 2)");
  EXPECT_EQ(message(2, {x.memory("y", false)}, uniforms), "the sequence has no array 'y'");
  EXPECT_EQ(message(2, {x.memory("dt", false)}, uniforms),
            "dt is an array, expected numbers that are the same for all instances");
  EXPECT_EQ(message(2, {}, {{"t", {0}}}), "dt has 0 numbers, expected 1, or as many for each step");
  SequenceMemory single = x.memory("x", false);
  single.array.precision = Precision::float32;
  EXPECT_EQ(message(2, {single}, uniforms), "x is float32, expected float64");
}

TEST(TracedKernel, FallsBackAndRefusesInfiniteConstants) {
  std::vector<std::string> notices;
  const Notice notice = [&](const std::string& n) { notices.push_back(n); };
  EXPECT_NE(traced_kernel(integrator(), Precision::float32, supported_isas().front(), true, notice).kernel, nullptr);
  Program p;
  const auto x = p.input("x", 1);
  {
    Tracing scope(p.graph);
    p.output("y", {x[0] + log(Expr(0.0))});
  }
  EXPECT_THROW(traced_kernel(p, Precision::float32, "base", true, notice), Error);
}

}  // namespace
}  // namespace featherstorm::test_sequence
