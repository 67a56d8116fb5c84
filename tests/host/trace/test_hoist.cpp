// What all passes of a loop compute alike is computed once, and gives the same numbers.
#include <gtest/gtest.h>

#include "core/program/count.h"
#include "core/program/hoist.h"
#include "core/program/order.h"
#include "host/assemble/assemble.h"
#include "host/load/load.h"
#include "host/memory/buffer.h"
#include "host/memory/cpu_library.h"
#include "host/table/ops.h"
#include "host/trace/trace_op.h"
#include "tests/support/tools/examples.h"

namespace featherstorm::test_hoist {
namespace {

Program step_of(const std::string& robot, const std::vector<std::string>& parameters) {
  const Robot r = load(robot);
  return trace_best(op_index("step"), r.model, 0, Derivative::none, Parameters(r, parameters));
}
const std::vector<std::string> inertial = {"mass", "com", "inertia"};

// A loop whose state is x and whose y is given.
Program random_loop(std::uint32_t seed) {
  Program p;
  std::vector<Expr> x = p.input("x", 3), y = p.input("y", 4);
  Tracing scope(p.graph);
  const std::vector<Expr> given = examples::random_values(seed, 25, y, true);
  x.insert(x.end(), given.end() - 6, given.end());
  const std::vector<Expr> values = examples::random_values(seed + 1000, 40, x, true);
  p.output("next", std::vector<Expr>(values.end() - 3, values.end()));
  p.output("seen", {values[20], given.back(), -given[5], Expr(2), y[1]});
  p.carry("next", "x");
  return p;
}

void expect_same_bits(const Program& p, const Split& s, std::uint32_t seed) {
  std::mt19937 random(seed);
  const Arrays<double> in = examples::random_inputs(p, random);
  Arrays<double> unread = in, with = in;
  for (auto [from, to] : p.carried) unread[to].assign(unread[to].size(), std::numeric_limits<double>::quiet_NaN());
  with.push_back(evaluate(s.setup, unread)[0]);
  for (long repeat : {1, 3}) EXPECT_EQ(evaluate(s.pass, with, repeat), evaluate(p, in, repeat));
}

TEST(Hoist, RandomLoopsGiveTheSameBits) {
  int split = 0;
  for (std::uint32_t seed = 0; seed < 200; seed++) {
    SCOPED_TRACE(seed);
    const Program p = random_loop(seed);
    if (const auto s = hoist(p)) {
      split++;
      expect_same_bits(p, *s, seed);
      for (const auto& order : {trace_order(p), greedy_order(p), latency_order(p)}) {
        EXPECT_TRUE(is_valid_order(s->setup, setup_order(*s, order)));
        EXPECT_TRUE(is_valid_order(s->pass, pass_order(*s, order)));
      }
    }
  }
  EXPECT_GE(split, 150);
}

// Robots whose inertial parameters are inputs: at most 17 % more operations in a pass.
TEST(Hoist, PassesOfRobotsWithParametersCostLittleMore) {
  for (const char* robot : {"go2", "atlas", "humanoid"}) {
    SCOPED_TRACE(robot);
    const Program p = step_of(robot, inertial), constant = step_of(robot, {});
    EXPECT_FALSE(hoist(constant)) << "nothing but the state is computed with";
    const auto s = hoist(p);
    ASSERT_TRUE(s);
    expect_same_bits(p, *s, 1);
    const auto operations = [](const Program& x) { return count(x, trace_order(x)).instructions(); };
    EXPECT_GT(operations(p), 1.15 * operations(constant));
    EXPECT_LT(operations(s->pass), 1.17 * operations(constant));
    EXPECT_NEAR(operations(s->setup) + operations(s->pass), operations(p), 0.01 * operations(p))
        << "only products are in both";
  }
}

// Kernels of K passes against K kernels of one, and against the interpreter.
template <class Real> void check_assembled(const std::string& isa, const char* robot) {
  const Program p = step_of(robot, inertial);
  const Precision precision = precision_of<Real>();
  const AssembledKernel k = assemble(p, trace_order(p), isa, precision);
  const long n = 2 * k.width, repeat = 4;
  const Robot r = load(robot);
  std::mt19937 random(5);
  std::vector<Arrays<double>> instances;
  for (long i = 0; i < n; i++) {
    Arrays<double> x = examples::random_inputs(p, random);
    for (std::size_t a = 0; a < p.inputs.size(); a++) {
      for (const std::string& name : inertial)  // near the robot's own
        if (p.inputs[a].name == name) {
          const std::vector<double> own = parameter_values(r, name);
          for (std::size_t c = 0; c < own.size(); c++) x[a][c] = own[c] * (1 + 0.1 * x[a][c]);
        }
      if (p.inputs[a].uniform) x[a].assign(x[a].size(), 1e-3);
      for (double& number : x[a]) number = Real(number);
    }
    instances.push_back(std::move(x));
  }
  std::vector<std::vector<Real>> in, out;
  std::vector<Array> in_arrays, out_arrays;
  for (std::size_t a = 0; a < p.inputs.size(); a++) {
    auto& data = in.emplace_back(p.inputs[a].size * n);
    for (long c = 0; c < p.inputs[a].size; c++)
      for (long i = 0; i < n; i++)
        if (p.inputs[a].uniform) data[c] = Real(instances[0][a][c]);
        else data[c * n + i] = Real(instances[i][a][c]);
  }
  for (const auto& a : p.outputs) out.emplace_back(a.size * n);
  for (auto& a : in) in_arrays.push_back({a.data(), n});
  for (auto& a : out) out_arrays.push_back({a.data(), n});
  k.kernel(nullptr, in_arrays.data(), out_arrays.data(), repeat, 0, n);
  const auto together = out;
  for (long i = 0; i < n; i++) {
    const Arrays<double> expected = evaluate(p, instances[i], repeat);
    for (std::size_t a = 0; a < p.outputs.size(); a++)
      for (int c = 0; c < p.outputs[a].size; c++)
        ASSERT_NEAR(together[a][c * n + i], expected[a][c],
                    (sizeof(Real) == 4 ? 1e-3 : 1e-11) * (1 + std::abs(expected[a][c])));
  }
  for (long pass = 0; pass < repeat; pass++) {
    k.kernel(nullptr, in_arrays.data(), out_arrays.data(), 1, 0, n);
    for (auto [from, to] : p.carried) in[to] = out[from], in_arrays[to].data = in[to].data();
  }
  EXPECT_EQ(out, together);
}

TEST(Hoist, AssembledLoopsAgreeWithSinglePassesAndTheInterpreter) {
  for (const std::string& isa : supported_isas()) {
    if (!can_assemble(isa)) continue;
    SCOPED_TRACE(isa);
    check_assembled<float>(isa, "iiwa14");
    check_assembled<double>(isa, "iiwa14");
    check_assembled<float>(isa, "go2");
    check_assembled<double>(isa, "go2");
  }
}

}  // namespace
}  // namespace featherstorm::test_hoist
