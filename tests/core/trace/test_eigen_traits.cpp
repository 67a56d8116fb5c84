#include "core/trace/eigen_traits.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "core/program/count.h"
#include "core/program/order.h"
#include "core/trace/evaluate.h"

namespace featherstorm::eigen_traits_test {
namespace {

using Vec3 = Eigen::Matrix<Expr, 3, 1>;
using Mat3 = Eigen::Matrix<Expr, 3, 3>;

Program program(const std::vector<Expr> (*f)(const Vec3&, const Mat3&)) {
  Program p;
  auto x = p.input("x", 3), m = p.input("m", 9);
  Tracing scope(p.graph);
  Mat3 matrix;
  for (int i = 0; i < 9; ++i) matrix(i / 3, i % 3) = m[i];
  p.output("out", f(Vec3(x[0], x[1], x[2]), matrix));
  return p;
}

const Arrays<double> numbers = {{0.3, -1.2, 0.7}, {1, 0.2, -0.4, 0.1, 2, 0.6, -0.3, 0.5, 1.5}};
const Eigen::Vector3d x(0.3, -1.2, 0.7);
const Eigen::Matrix3d m{{1, 0.2, -0.4}, {0.1, 2, 0.6}, {-0.3, 0.5, 1.5}};

std::vector<Expr> list(const Vec3& v) { return {v[0], v[1], v[2]}; }

void expect_equal(const Program& p, const Eigen::Vector3d& expected) {
  auto out = evaluate<double>(p, numbers)[0];
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(out[i], expected[i], 1e-14);
}

TEST(EigenTraits, TracesProductsOfExpr) {
  expect_equal(program([](const Vec3& x, const Mat3& m) -> const std::vector<Expr> {
                 return list(m * x + m.transpose() * x.cross(m * x) * x.dot(x));
               }),
               m * x + m.transpose() * x.cross(m * x) * x.dot(x));
}

TEST(EigenTraits, MixesDoubleAndExpr) {
  expect_equal(program([](const Vec3& x, const Mat3&) -> const std::vector<Expr> {
                 Vec3 a = eigen_traits_test::m * x, b = 2.0 * x, c = x * 0.5, d = eigen_traits_test::x.cross(x + a);
                 return list(a + b - c + d + eigen_traits_test::x.cast<Expr>());
               }),
               m * x + 2 * x - 0.5 * x + x.cross(x + m * x) + x);
}

TEST(EigenTraits, InvertsAndNormalises) {
  expect_equal(program([](const Vec3& x, const Mat3& m) -> const std::vector<Expr> {
                 return list(m.inverse() * (x / x.norm()));
               }),
               m.inverse() * (x / x.norm()));
}

TEST(EigenTraits, ZerosOfConstantMatricesCostNothing) {
  Program p = program([](const Vec3& x, const Mat3&) -> const std::vector<Expr> {
    Eigen::Matrix3d turn{{0, -1, 0}, {1, 0, 0}, {0, 0, 1}};
    return list(turn * x);
  });
  Counts c = count(p, trace_order(p));
  EXPECT_EQ(c.flops(), 0);
  EXPECT_EQ(c.loads, 3);
}

}  // namespace
}  // namespace featherstorm::eigen_traits_test
