#include "core/program/differentiate.h"

#include <gtest/gtest.h>

#include "core/program/count.h"
#include "core/program/order.h"
#include "tests/support/tools/examples.h"

namespace featherstorm::differentiate_test {
namespace {

double dot(const Arrays<double>& a, const Arrays<double>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); k++)
    for (std::size_t c = 0; c < a[k].size(); c++) sum += a[k][c] * b[k][c];
  return sum;
}

// Random numbers for the outputs of a program.
Arrays<double> random_outputs(const Program& p, std::mt19937& random) {
  Program as_inputs;
  for (const auto& a : p.outputs) as_inputs.input(a.name, a.size);
  return examples::random_inputs(as_inputs, random);
}

// The inputs of a derived program: those of p that are not uniform, the added arrays, the uniform ones.
Arrays<double> joined(const Program& p, const Arrays<double>& in, const Arrays<double>& added) {
  Arrays<double> all;
  for (std::size_t k = 0; k < in.size(); k++)
    if (!p.inputs[k].uniform) all.push_back(in[k]);
  all.insert(all.end(), added.begin(), added.end());
  for (std::size_t k = 0; k < in.size(); k++)
    if (p.inputs[k].uniform) all.push_back(in[k]);
  return all;
}

// Central differences along a direction; uniform inputs are held fixed.
Arrays<double> differences(const Program& p, const Arrays<double>& in, const Arrays<double>& direction, double h) {
  Arrays<double> high = in, low = in;
  std::size_t j = 0;
  for (std::size_t k = 0; k < in.size(); k++) {
    if (p.inputs[k].uniform) continue;
    for (std::size_t c = 0; c < in[k].size(); c++) high[k][c] += h * direction[j][c], low[k][c] -= h * direction[j][c];
    j++;
  }
  Arrays<double> slope = evaluate(p, high);
  const Arrays<double> down = evaluate(p, low);
  for (std::size_t k = 0; k < slope.size(); k++)
    for (std::size_t c = 0; c < slope[k].size(); c++) slope[k][c] = (slope[k][c] - down[k][c]) / (2 * h);
  return slope;
}

struct Sample {
  Arrays<double> in, x_tan, y_bar;
  Sample(const Program& p, std::mt19937& random, double range) : in(examples::random_inputs(p, random, range)) {
    Program directions;
    for (const auto& a : p.inputs)
      if (!a.uniform) directions.input(a.name, a.size);
    x_tan = examples::random_inputs(directions, random);
    y_bar = random_outputs(p, random);
  }
};

TEST(Differentiate, ForwardModeEqualsDifferences) {
  int compared = 0;
  for (std::uint32_t seed = 1; seed <= 200; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Program p = examples::random_program(seed, 40, false);
    const Program d = jvp(p);
    std::mt19937 random(seed);
    const Sample s(p, random, 2);
    const Arrays<double> tan = evaluate(d, joined(p, s.in, s.x_tan));
    const Arrays<double> fine = differences(p, s.in, s.x_tan, 1e-6), coarse = differences(p, s.in, s.x_tan, 1e-5);
    for (std::size_t c = 0; c < tan[0].size(); c++) {
      if (std::fabs(fine[0][c] - coarse[0][c]) > 1e-4 * (1 + std::fabs(fine[0][c]))) continue;  // a corner nearby
      EXPECT_NEAR(tan[0][c], fine[0][c], 1e-4 * (1 + std::fabs(fine[0][c])));
      compared++;
    }
  }
  EXPECT_GT(compared, 950);  // of 1000: corners are rare
}

// y_bar . (dy/dx x_tan) = x_bar . x_tan
TEST(Differentiate, ReverseModeIsTheTransposeOfForwardMode) {
  for (std::uint32_t seed = 1; seed <= 200; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Program p = examples::random_program(seed, 60, true);
    std::mt19937 random(seed);
    const Sample s(p, random, 2);
    const double forward = dot(s.y_bar, evaluate(jvp(p), joined(p, s.in, s.x_tan)));
    const double reverse = dot(s.x_tan, evaluate(vjp(p), joined(p, s.in, s.y_bar)));
    EXPECT_NEAR(reverse, forward, 1e-10 * (1 + std::fabs(forward)));
  }
}

TEST(Differentiate, HoldsUniformInputsFixed) {
  const Program p = examples::step_program();
  const Program d = vjp(p);
  ASSERT_EQ(d.outputs.size(), 3u);
  EXPECT_EQ(d.outputs[2].name, "u_bar");
  EXPECT_TRUE(d.inputs.back().uniform);
  EXPECT_TRUE(d.carried.empty());
  std::mt19937 random(3);
  const Sample s(p, random, 1);
  EXPECT_NEAR(dot(s.y_bar, evaluate(jvp(p), joined(p, s.in, s.x_tan))),
              dot(s.x_tan, evaluate(d, joined(p, s.in, s.y_bar))), 1e-12);
  const Arrays<double> slope = differences(p, s.in, s.x_tan, 1e-6), tan = evaluate(jvp(p), joined(p, s.in, s.x_tan));
  for (int k = 0; k < 3; k++) EXPECT_NEAR(tan[k][0], slope[k][0], 1e-8);
}

TEST(Differentiate, CornersTakeTheBranchThatGaveTheValue) {
  Program p;
  const auto x = p.input("x", 1);
  {
    Tracing scope(p.graph);
    const Expr guarded = sqrt(max(x[0], Expr(1e-4)));
    p.output("y", {select(x[0] < Expr(1e-4), 3 * x[0], guarded), abs(x[0]), floor(x[0]), min(x[0], Expr(2))});
  }
  const auto slopes_at = [&](double at) { return evaluate<double>(jvp(p), {{at}, {1}})[0]; };
  EXPECT_EQ(slopes_at(0), (std::vector<double>{3, 1, 0, 1}));
  EXPECT_EQ(slopes_at(4), (std::vector<double>{0.25, 1, 0, 0}));
  EXPECT_EQ(slopes_at(-1), (std::vector<double>{3, -1, 0, 1}));
}

TEST(Differentiate, ReplayGivesTheProgramAgain) {
  const Program p = examples::pendulum_program();
  Program r;
  TracedArrays in;
  for (const auto& a : p.inputs) in.push_back(r.input(a.name, a.size));
  TracedArrays out;
  {
    Tracing scope(r.graph);
    out = replay(p, in);
  }
  r.output("tau", out[0]);
  const Counts a = count(p, trace_order(p)), b = count(r, trace_order(r));
  EXPECT_EQ(a.mul, b.mul);
  EXPECT_EQ(a.add, b.add);
  std::mt19937 random(1);
  const Arrays<double> x = examples::random_inputs(p, random);
  EXPECT_EQ(evaluate(p, x), evaluate(r, x));
}

// Cheap gradients: all of them for a small multiple of the program's cost.
TEST(Differentiate, ReverseModeCostsASmallMultiple) {
  const Program p = examples::pendulum_program(), d = vjp(p);
  EXPECT_LE(count(d, trace_order(d)).flops(), 4 * count(p, trace_order(p)).flops());
}

// The same numbers as of all, where the other cotangents are zero; and none of the operations that only those need.
TEST(Differentiate, OfSomeOutputsBySomeInputs) {
  const Program p = examples::step_program();
  const std::string of = "v_next", by = "q";
  const Program all = vjp(p), some = vjp(p, {of}, {by});
  ASSERT_EQ(some.outputs.size(), 1U);
  EXPECT_LT(count(some, trace_order(some)).flops(), count(all, trace_order(all)).flops());
  std::mt19937 random(1);
  Arrays<double> x = examples::random_inputs(all, random), y;
  for (std::size_t k = 0; k < all.inputs.size(); k++) {
    const std::string& name = all.inputs[k].name;
    if (name.ends_with(cotangent_suffix) && name != of + cotangent_suffix) std::ranges::fill(x[k], 0.0);
    else y.push_back(x[k]);
  }
  EXPECT_EQ(evaluate(some, y).front(), evaluate(all, x).front());
  EXPECT_THROW(vjp(p, {"nothing"}, {by}), std::invalid_argument);
  EXPECT_THROW(vjp(p, {of}, {"nothing"}), std::invalid_argument);
}

TEST(Differentiate, RefusesNamesThatAreTaken) {
  Program p;
  const auto x = p.input("y_bar", 1);
  p.output("y", {x[0]});
  EXPECT_THROW(vjp(p), std::invalid_argument);
}

}  // namespace
}  // namespace featherstorm::differentiate_test
