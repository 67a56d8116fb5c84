#include "core/trace/zero_test.h"

#include <gtest/gtest.h>

#include "tests/support/tools/examples.h"

namespace featherstorm::zero_test_test {
namespace {

TEST(ZeroTest, FindsACancellationThatAlgebraHides) {
  Program p;
  auto x = p.input("x", 2);
  Tracing scope(p.graph);
  Expr a = x[0], b = x[1];
  Expr zero = (a + b) * (a - b) - (a * a - b * b);
  p.output("y", {zero * a + b});
  ZeroTest t = zero_test(p);
  ASSERT_FALSE(t.zero.empty());
  EXPECT_EQ(t.zero[0], zero.edge().node());
}

TEST(ZeroTest, FindsEqualNodesUpToSign) {
  Program p;
  auto x = p.input("x", 2);
  Tracing scope(p.graph);
  Expr a = x[0], b = x[1];
  Expr first = (a + b) * a, second = -(a * a) - a * b;
  p.output("y", {sin(first), exp(second)});
  ZeroTest t = zero_test(p);
  EXPECT_TRUE(t.zero.empty());
  ASSERT_EQ(t.equal.size(), 1u);
  EXPECT_EQ(t.equal[0].node, second.edge().node());
  EXPECT_EQ(t.equal[0].earlier, first.edge().node());
  // second's edge has a sign of its own: its node is a*a + a*b, the same number as first
  EXPECT_EQ(t.equal[0].negative, !second.edge().negative());
}

TEST(ZeroTest, FindsASumThatIsAConstant) {
  Program p;
  Expr x = p.input("x", 1)[0];
  Tracing scope(p.graph);
  Expr one = sin(x) * sin(x) + cos(x) * cos(x);
  p.output("y", {one * x});
  EXPECT_EQ(zero_test(p).constant, std::vector<int>{one.edge().node()});
}

TEST(ZeroTest, FindsNothingInThePendulum) {
  Program p = examples::pendulum_program();
  EXPECT_TRUE(zero_test(p).zero.empty());
  EXPECT_TRUE(zero_test(p).constant.empty());
  EXPECT_TRUE(zero_test(p).equal.empty());
}

}  // namespace
}  // namespace featherstorm::zero_test_test
