// Networks among the operations of a traced program: which stages they become, and their numbers.
#include <gtest/gtest.h>

#include "host/load/load.h"
#include "host/network/networks_inside.h"
#include "tests/host/network/dense_case.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_networks_inside {
namespace {

using namespace testing;
constexpr long B = 21;

// first = net_a(x), second = net_b(x), third = net_c(2 first_0, x_1); y = third + second_1, g x_0
struct Example {
  DenseCase a{{3, 7, 1}, DenseActivation::tanh, true, 2, 1}, b{{3, 2}, DenseActivation::tanh, false, 1, 2},
      c{{2, 10, 2}, DenseActivation::elu, false, 1, 3};
  Program program{};
  std::vector<NetworkInside> networks{
      {"a_in", "a_out", "a", a.network}, {"b_in", "b_out", "b", b.network}, {"c_in", "c_out", "c", c.network}};
  Example() {
    Program& p = program;
    const auto x = p.input("x", 3), g = p.input("g", 1, true);
    Tracing scope(p.graph);
    p.output("a_in", x);
    const auto first = p.input("a_out", 1);
    p.output("b_in", {x[0], x[1], -x[2]});
    const auto second = p.input("b_out", 2);
    p.output("c_in", {2.0 * first[0], x[1]});
    const auto third = p.input("c_out", 2);
    p.output("y", {third[0] + second[1], third[1] + g[0] * x[0]});
  }
};

Evaluator engine() { return Evaluator(load("cartpole"), {}); }

TEST(NetworksInside, AreStagesBetweenPartsOfTheProgram) {
  const Evaluator e = engine();
  const Example example;
  const std::vector<Stage> stages = stages_with(e, Precision::float64, example.program, example.networks);
  std::vector<std::vector<std::string>> in, out;
  for (const Stage& s : stages) in.push_back(s.in), out.push_back(s.out);
  using Names = std::vector<std::vector<std::string>>;
  EXPECT_EQ(out, (Names{{"b_in"}, {"a_out"}, {"b_out"}, {"c_in"}, {"c_out"}, {"y"}}));
  EXPECT_EQ(in, (Names{{"x"}, {"x", "a"}, {"b_in", "b"}, {"x", "a_out"}, {"c_in", "c"}, {"x", "g", "b_out", "c_out"}}));
}

TEST(NetworksInside, ComputeTheWhole) {
  const Evaluator e = engine();
  const Example example;
  Sequence s(Precision::float64, 1, e.isa());
  for (const auto* arrays : {&example.program.inputs, &example.program.outputs})
    for (const Program::Array& a : *arrays) a.uniform ? s.uniform(a.name, a.size) : s.array(a.name, a.size);
  for (const NetworkInside& n : example.networks) s.uniform(n.weights, dense_numbers(n.network));
  for (const Stage& stage : stages_with(e, Precision::float64, example.program, example.networks)) s.stage(stage);
  std::vector<double> x, y(2 * B);
  for (long i = 0; i < B; i++)
    for (long k = 0; k < 3; k++) x.push_back(DenseCase::input(i, k));
  const auto numbers = [](const DenseCase& c) { return packed(c.network, c.weights); };
  s.run(1, B, {{"x", {x.data(), Precision::float64, B, 3, 3, 1, false}, false, 0}},
        {{"g", {0.3}}, {"a", numbers(example.a)}, {"b", numbers(example.b)}, {"c", numbers(example.c)}},
        {{"y", {y.data(), Precision::float64, B, 2, 2, 1, false}, false, 0}});
  for (long i = 0; i < B; i++) {
    const double x0 = DenseCase::input(i, 0), x1 = DenseCase::input(i, 1), x2 = DenseCase::input(i, 2);
    const double first = example.a.outputs(i)[0];
    const auto& wb = example.b.weights;
    const double second = wb.b[0][1] + wb.W[0][3] * x0 + wb.W[0][4] * x1 - wb.W[0][5] * x2;
    const auto& wc = example.c.weights;
    double third[2] = {wc.b[1][0], wc.b[1][1]};
    for (std::size_t k = 0; k < 10; k++) {
      const double h = wc.b[0][k] + wc.W[0][2 * k] * 2 * first + wc.W[0][2 * k + 1] * x1;
      for (std::size_t o = 0; o < 2; o++) third[o] += wc.W[1][o * 10 + k] * (h > 0 ? h : std::expm1(h));
    }
    EXPECT_NEAR(y[static_cast<std::size_t>(2 * i)], third[0] + second, 1e-12);
    EXPECT_NEAR(y[static_cast<std::size_t>(2 * i + 1)], third[1] + 0.3 * x0, 1e-12);
  }
}

TEST(NetworksInside, OneThatReadsItselfIsRefused) {
  const Evaluator e = engine();
  const DenseCase c({1, 1}, DenseActivation::tanh, false, 1, 1);
  Program p;
  const auto out = p.input("out", 1);
  {
    Tracing scope(p.graph);
    p.output("in", {2.0 * out[0]});
  }
  EXPECT_EQ(message([&] { stages_with(e, Precision::float64, p, {{"in", "out", "w", c.network}}); }),
            "network 'w' depends on its own output");
}

}  // namespace
}  // namespace featherstorm::test_networks_inside
