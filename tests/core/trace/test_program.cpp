#include "core/trace/program.h"

#include <gtest/gtest.h>

#include "core/program/count.h"
#include "core/program/order.h"
#include "tests/support/tools/examples.h"
#include "tests/support/tools/message.h"

namespace featherstorm::program_test {
namespace {

using testing::message;

TEST(Program, RandomTracesEqualDirectEvaluation) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Program p = examples::random_program(seed, 60, true);
    std::mt19937 random(seed);
    for (int k = 0; k < 5; ++k) {
      Arrays<double> in = examples::random_inputs(p, random, 2);
      std::vector<double> all = {in[0][0], in[0][1], in[0][2], in[1][0], in[1][1]};
      std::vector<double> values = examples::random_values(seed, 60, all, true);
      auto out = evaluate(p, in)[0];
      for (int i = 0; i < 5; ++i) EXPECT_NEAR(out[i], values[values.size() - 5 + i], 1e-9);
    }
  }
}

TEST(Program, FloatEvaluationIsCloseToDouble) {
  Program p = examples::pendulum_program();
  auto d = evaluate<double>(p, {{0.3, -0.5}, {0.1, 0.2}, {1, 2}})[0];
  auto f = evaluate<float>(p, {{0.3f, -0.5f}, {0.1f, 0.2f}, {1, 2}})[0];
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(f[i], d[i], 1e-5);
}

TEST(Program, CarriedLoopEqualsRepeatedEvaluation) {
  Program p = examples::step_program();
  double q = 0.4, v = -0.3;
  const double u = 1.1, dt = 0.01;
  for (int k = 0; k < 25; ++k) examples::pendulum_step(q, v, u, dt);
  auto out = evaluate<double>(p, {{0.4}, {-0.3}, {u}, {dt}}, 25);
  EXPECT_NEAR(out[0][0], q, 1e-13);
  EXPECT_NEAR(out[1][0], v, 1e-13);
  EXPECT_NEAR(out[2][0], 0.5 * v * v - 9.81 * std::cos(q), 1e-12);
}

TEST(Program, DropsWhatNoOutputNeeds) {
  Program p;
  auto x = p.input("x", 3);
  Tracing scope(p.graph);
  Expr unused = exp(x[1]) * x[2];
  p.output("y", {2 * x[0]});
  auto live = live_nodes(p);
  EXPECT_FALSE(live[unused.edge().node()]);
  EXPECT_FALSE(live[x[1].edge().node()]);
  EXPECT_TRUE(live[x[0].edge().node()]);
  EXPECT_EQ(count(p, trace_order(p)).loads, 1);
}

TEST(Program, RefusesWrongNamesAndSizes) {
  Program p;
  p.input("q", 2);
  p.input("dt", 1, true);
  p.output("y", {Expr()});
  EXPECT_EQ(message([&] { p.input("q", 1); }), "program: array name 'q' is taken");
  EXPECT_EQ(message([&] { p.input("2q", 1); }), "program: array name '2q' is not an identifier");
  EXPECT_EQ(message([&] { p.input("a b", 1); }), "program: array name 'a b' is not an identifier");
  EXPECT_EQ(message([&] { p.carry("z", "q"); }), "program: cannot carry 'z', there is no such output");
  EXPECT_EQ(message([&] { p.carry("y", "z"); }), "program: cannot carry into 'z', there is no such input");
  EXPECT_EQ(message([&] { p.carry("y", "dt"); }), "program: cannot carry into 'dt', it is uniform");
  EXPECT_EQ(message([&] { p.carry("y", "q"); }), "program: cannot carry 'y' of size 1 into 'q' of size 2");
  EXPECT_EQ(message([&] { evaluate<double>(p, {{0, 0}}); }), "evaluate: wrong number of input arrays");
}

}  // namespace
}  // namespace featherstorm::program_test
