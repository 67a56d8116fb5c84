#include "core/trace/expr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace featherstorm::expr_test {
namespace {

// Neither an Expr nor a condition may steer a branch.
template <class T>
concept Steers = requires(T x) { x ? 1 : 2; };
static_assert(!Steers<Expr> && !Steers<ExprCondition>);
static_assert(!std::is_convertible_v<Expr, bool> && !std::is_constructible_v<bool, Expr>);
static_assert(!std::is_constructible_v<bool, ExprCondition> && !std::is_constructible_v<Expr, bool>);
static_assert(std::is_convertible_v<double, Expr> && std::is_convertible_v<int, Expr>);

class ExprTest : public ::testing::Test {
 protected:
  Expr input(int i) { return Expr(graph.input(0, i)); }
  bool same(Expr a, Expr b) { return a.edge() == b.edge(); }
  bool same(ExprCondition a, ExprCondition b) { return a.edge() == b.edge(); }
  bool is(Expr a, double value) { return graph.is_constant(a.edge(), value); }

  Graph graph;
  Expr x = input(0), y = input(1), z = input(2);
  Tracing scope{graph};
};

TEST_F(ExprTest, DefaultIsZero) {
  EXPECT_TRUE(is(Expr(), 0));
  EXPECT_TRUE(same(Expr(), Expr(0.0)));
  EXPECT_TRUE(same(-Expr(), Expr(-0.0)));
}

TEST_F(ExprTest, ConstantsAreFolded) {
  EXPECT_TRUE(is(Expr(2) + 3.5 * Expr(2.0f), 9));
  EXPECT_TRUE(is(Expr(1) / 4, 0.25));
  EXPECT_TRUE(is(sin(Expr(0.5)), std::sin(0.5)));
  EXPECT_TRUE(is(sqrt(Expr(9)), 3));
  EXPECT_TRUE(is(rcp(Expr(-4)), -0.25));
  EXPECT_TRUE(is(atan2(Expr(1), Expr(-1)), std::atan2(1, -1)));
  EXPECT_TRUE(is(min(Expr(2), Expr(-3)), -3));
  EXPECT_TRUE(is(max(Expr(2), Expr(-3)), 2));
  EXPECT_TRUE(is(abs(Expr(-3)), 3));
  EXPECT_TRUE(is(floor(Expr(-2.5)), -3));
  EXPECT_TRUE(is(select(Expr(1) < Expr(2), 5, 6), 5));
}

TEST_F(ExprTest, NeutralElementsVanish) {
  EXPECT_TRUE(same(x + 0, x));
  EXPECT_TRUE(same(0 - x, -x));
  EXPECT_TRUE(same(x * 1, x));
  EXPECT_TRUE(same(x * -1, -x));
  EXPECT_TRUE(is(x * 0, 0));
  EXPECT_TRUE(is(x - x, 0));
  EXPECT_TRUE(is(x / x, 1));
  EXPECT_TRUE(is(-x / x, -1));
  EXPECT_TRUE(same(rcp(rcp(x)), x));
  EXPECT_TRUE(same(sqrt(x) * sqrt(x), x));
}

TEST_F(ExprTest, EqualTermsShareANode) {
  int before = (void(x * y + z), graph.size());
  EXPECT_TRUE(same(z + y * x, x * y + z));
  EXPECT_EQ(graph.size(), before);
}

TEST_F(ExprTest, SubtractionSharesANodeWithItsNegative) {
  EXPECT_TRUE(same(x - y, -(y - x)));
  EXPECT_EQ((x - y).edge().node(), (y - x).edge().node());
}

TEST_F(ExprTest, SignsTravelOutwards) {
  EXPECT_TRUE(same(-x * y, -(x * y)));
  EXPECT_TRUE(same(-x * -y, x * y));
  EXPECT_TRUE(same(-x - y, -(x + y)));
  EXPECT_TRUE(same(sin(-x), -sin(x)));
  EXPECT_TRUE(same(cos(-x), cos(x)));
  EXPECT_TRUE(same(rcp(-x), -rcp(x)));
  EXPECT_TRUE(same(abs(-x), abs(x)));
  EXPECT_TRUE(same(atan2(-y, x), -atan2(y, x)));
  EXPECT_TRUE(same(max(-x, -y), -min(x, y)));
  EXPECT_TRUE(same(select(x < y, -x, y), -select(x < y, x, -y)));
  EXPECT_TRUE(same(-(-x), x));
}

TEST_F(ExprTest, ConstantFactorsMerge) {
  EXPECT_TRUE(same(2 * (3 * x), 6 * x));
  EXPECT_TRUE(same((x * -2) * 0.5, -x));
  EXPECT_TRUE(same(x + x, 2 * x));
  EXPECT_TRUE(same(x / 2, 0.5 * x));
  EXPECT_TRUE(same(rcp(4 * x), 0.25 * rcp(x)));
}

TEST_F(ExprTest, ConstantTermsMerge) {
  EXPECT_TRUE(same(1 + (2 + x), x + 3));
  EXPECT_TRUE(same(1 - (2 - x), x - 1));
  EXPECT_TRUE(same((x + 3) - 3, x));
  EXPECT_TRUE(same(1 + (x - 4), x - 3));
}

TEST_F(ExprTest, SumsCancel) {
  EXPECT_TRUE(same(x + (y - x), y));
  EXPECT_TRUE(same((y - x) + x, y));
  EXPECT_TRUE(same(x - (x - y), y));
  EXPECT_TRUE(same((x + y) - x, y));
  EXPECT_TRUE(same((x + y) - y, x));
  EXPECT_TRUE(same(y - (x + y), -x));
  EXPECT_TRUE(same(-x - (y - x), -y));
  EXPECT_TRUE(same((x - y) - x, -y));
  // what looks alike and is not
  for (const Expr& e : {x + (y + x), x - (y - x), (x - y) + z, x - (z - y)})
    for (const Expr& operand : {x, y, z, -x, -y, -z}) EXPECT_FALSE(same(e, operand));
}

TEST_F(ExprTest, ExtremaOfEqualsAndConstantsFold) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(same(min(x, x), x));
  EXPECT_TRUE(same(min(x, Expr(infinity)), x));
  EXPECT_TRUE(same(max(Expr(-infinity), x), x));
  EXPECT_TRUE(same(min(Expr(1), min(x, Expr(2))), min(x, Expr(1))));
  EXPECT_TRUE(same(max(Expr(1), max(x, Expr(2))), max(x, Expr(2))));
}

TEST_F(ExprTest, ConditionsAreNormalised) {
  EXPECT_TRUE(same(x > y, y < x));
  EXPECT_TRUE(same(!(x < y), y <= x));
  EXPECT_TRUE(same(!!(x < y && y < z), x < y && y < z));
  EXPECT_TRUE(same(!(x < y && y < z), y <= x || z <= y));
  EXPECT_TRUE(same(-x < -y, y < x));
  EXPECT_TRUE(same(x < y && Expr(0) < Expr(1), x < y));
  EXPECT_TRUE(same(select(x <= y, x, z), select(y < x, z, x)));
  EXPECT_TRUE(same(select(x < x, y, z), z));
  EXPECT_TRUE(same(select(x < y, z, z), z));
}

TEST_F(ExprTest, InnermostScopeRecords) {
  Graph inner;
  {
    Tracing nested(inner);
    Expr two(2);
    EXPECT_EQ(inner.size(), 2);
  }
  int before = graph.size();
  Expr(17.5);
  EXPECT_EQ(graph.size(), before + 1);
}

#ifndef NDEBUG
TEST(Expr, AssertsOutsideOfAScope) { EXPECT_DEATH(Expr(1.0), "outside of a Tracing scope"); }
#endif

}  // namespace
}  // namespace featherstorm::expr_test
