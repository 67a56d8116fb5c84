#include "core/program/order.h"

#include <gtest/gtest.h>

#include <ctime>

#include "core/program/count.h"
#include "tests/support/tools/examples.h"

namespace featherstorm::order_test {
namespace {

struct Order {
  const char* name;
  std::vector<int> (*make)(const Program&);
};

const Order orders[] = {{"trace", trace_order},
                        {"greedy", greedy_order},
                        {"sethi_ullman", sethi_ullman_order},
                        {"latency", [](const Program& p) { return latency_order(p); }}};

// Runs the statements in the given order; a value used before it is computed is NaN.
std::vector<double> run(const Program& p, const std::vector<int>& order, const Arrays<double>& in) {
  std::vector<double> v(p.graph.size(), std::nan(""));
  for (int i = 0; i < p.graph.size(); ++i) {
    if (p.graph.node(i).op == Op::Const) v[i] = p.graph.node(i).value;
  }
  for (int i : order) {
    const Node& n = p.graph.node(i);
    double x[3] = {};
    for (int k = 0; k < arity(n.op); ++k) x[k] = value_of(n.operand[k], v);
    v[i] = n.op == Op::Input ? in[n.array][n.component] : apply(n.op, x[0], x[1], x[2]);
  }
  std::vector<double> out;
  for (Expr e : p.results[0]) out.push_back(value_of(e.edge(), v));
  return out;
}

TEST(Order, OrdersAreTopologicalAndGiveTheSameResults) {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    Program p = examples::random_program(seed, 100, true);
    std::mt19937 random(seed);
    Arrays<double> in = examples::random_inputs(p, random);
    for (const Order& o : orders) {
      SCOPED_TRACE(std::string(o.name) + " seed " + std::to_string(seed));
      auto order = o.make(p);
      EXPECT_TRUE(is_valid_order(p, order));
      EXPECT_EQ(run(p, order, in), evaluate(p, in)[0]);
    }
  }
}

TEST(Order, ValidityIsNoticedWhenBroken) {
  Program p = examples::pendulum_program();
  auto order = trace_order(p);
  EXPECT_TRUE(is_valid_order(p, order));
  auto reversed = std::vector<int>(order.rbegin(), order.rend());
  EXPECT_FALSE(is_valid_order(p, reversed));
  auto repeated = order;
  repeated.push_back(order.back());
  EXPECT_FALSE(is_valid_order(p, repeated));
  order.pop_back();
  EXPECT_FALSE(is_valid_order(p, order));
}

TEST(Order, CarriedInputsStandFirst) {
  Program p = examples::step_program();
  for (const Order& o : orders) {
    auto order = o.make(p);
    ASSERT_TRUE(is_valid_order(p, order));
    for (int k = 0; k < 2; ++k) EXPECT_EQ(p.graph.node(order[k]).op, Op::Input) << o.name;
  }
}

// n sines, traced before the n square roots that use them.
Program wide_program(int n) {
  Program p;
  auto x = p.input("x", n);
  Tracing scope(p.graph);
  std::vector<Expr> sines, roots;
  for (int i = 0; i < n; ++i) sines.push_back(sin(x[i]));
  for (int i = 0; i < n; ++i) roots.push_back(sqrt(sines[i]));
  p.output("z", roots);
  return p;
}

TEST(Order, GreedyAndSethiUllmanHoldFewValues) {
  Program p = wide_program(100);
  EXPECT_EQ(count(p, trace_order(p)).max_live, 100);
  EXPECT_EQ(count(p, greedy_order(p)).max_live, 1);
  EXPECT_EQ(count(p, sethi_ullman_order(p)).max_live, 1);
}

TEST(Order, GreedyHoldsNoMoreThanTheTrace) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    Program p = examples::random_program(seed, 300, true);
    EXPECT_LE(count(p, greedy_order(p)).max_live, count(p, trace_order(p)).max_live + 1) << "seed " << seed;
  }
}

TEST(Order, LatencyOrderOverlapsChainsWithinItsRegisters) {
  Program p = wide_program(200);
  EXPECT_GE(count(p, latency_order(p, 16)).max_live, 8);
  EXPECT_LE(count(p, latency_order(p, 16)).max_live, 17);
}

TEST(Order, LatencyOrderStartsTheLongestChainFirst) {
  Program p;
  auto x = p.input("x", 2);
  Tracing scope(p.graph);
  Expr quick = x[0] * 2, slow = rcp(rcp(sqrt(x[1]) + 1) + 1);
  p.output("y", {quick, slow});
  auto order = latency_order(p);
  EXPECT_EQ(order[0], x[1].edge().node());
}

TEST(Order, TenThousandNodesTakeLittleTime) {
  Program p = examples::random_program(3, 9000, false);
  p.outputs.clear(), p.results.clear();
  std::vector<Expr> all;
  for (int i = 1; i < p.graph.size(); i += 40) all.push_back(Expr(Edge::of(i)));
  p.output("all", all);
  const std::clock_t start = std::clock();  // of the processor: other programs do not count
  auto order = greedy_order(p);
  const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_GT(order.size(), 10000u);
  EXPECT_LT(seconds, 0.5);  // about 5 ms optimised; the margin is for debug builds
}

TEST(Count, CountsThePendulum) {
  Program p;
  auto x = p.input("x", 3);
  Tracing scope(p.graph);
  Expr s, c;
  sincos(x[0], s, c);
  Expr product = x[1] * x[2];
  p.output("y", {s * x[1] + c * x[2], product + s, sqrt(product), rcp(c), max(s, c)});
  Counts n = count(p, trace_order(p));
  EXPECT_EQ(n.mul, 3);  // s x1, c x2, x1 x2
  EXPECT_EQ(n.add, 2);
  EXPECT_EQ(n.fused, 1);  // one of the two products of the first sum; x1 x2 is a square root's operand too
  EXPECT_EQ(n.instructions(), 4);
  EXPECT_EQ(n.sincos, 1);
  EXPECT_EQ(n.sqrt, 1);
  EXPECT_EQ(n.rcp, 1);
  EXPECT_EQ(n.other, 1);
  EXPECT_EQ(n.loads, 3);
  EXPECT_EQ(n.stores, 5);
}

TEST(Count, AProductThatIsAnOutputIsNotFolded) {
  Program p;
  auto x = p.input("x", 3);
  Tracing scope(p.graph);
  Expr product = x[0] * x[1];
  p.output("y", {product, product + x[2]});
  EXPECT_EQ(count(p, trace_order(p)).fused, 0);
}

}  // namespace
}  // namespace featherstorm::order_test
