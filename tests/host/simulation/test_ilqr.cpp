// Plans by gradients: minima of quadratic functions in a box, a backward pass by dense algebra, what is refused. That
// plans are minima and drive robots: tests/python/horizon/test_ilqr.py.
#include "host/planning/ilqr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/planning/backward_pass.h"
#include "tests/support/robots/worlds.h"

namespace featherstorm::test_ilqr {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class Random {
 public:
  MatrixXd operator()(long rows, long columns) {
    return MatrixXd::NullaryExpr(rows, columns, [this] { return normal_(engine_); });
  }

 private:
  std::mt19937_64 engine_{3};
  std::normal_distribution<double> normal_;
};

TEST(BoxMinimum, SatisfiesTheConditionsOfAMinimum) {
  Random random;
  int held = 0;
  for (int k = 0; k < 200; k++) {
    const MatrixXd root = random(5, 5), H = root * root.transpose() + 0.1 * MatrixXd::Identity(5, 5);
    const VectorXd g = 3 * random(5, 1), lower = -random(5, 1).cwiseAbs(), upper = random(5, 1).cwiseAbs();
    const std::optional<BoxMinimum> found = box_minimum(H, g, lower, upper);
    ASSERT_TRUE(found);
    const VectorXd slope = g + H * found->x;
    for (int c = 0; c < 5; c++) {
      ASSERT_TRUE(lower[c] <= found->x[c] && found->x[c] <= upper[c]);
      const bool at_lower = found->x[c] == lower[c], at_upper = found->x[c] == upper[c];
      held += at_lower || at_upper;
      if (!at_lower) EXPECT_LT(slope[c], 1e-5);
      if (!at_upper) EXPECT_GT(slope[c], -1e-5);
    }
  }
  EXPECT_GT(held, 100);
  EXPECT_FALSE(box_minimum(-MatrixXd::Identity(2, 2), VectorXd::Zero(2), VectorXd::Constant(2, -1.0),
                           VectorXd::Constant(2, 1.0)));
}

// The steps of a linear system are one least-squares problem in all controls.
TEST(BackwardPass, IsTheLeastSquaresSolutionOfALinearSystem) {
  Random random;
  const long n = 4, m = 2, R = 5, T = 6;
  std::vector<QuadraticStep> steps;
  std::vector<VectorXd> residuals;
  for (long t = 0; t < T; t++) {
    steps.push_back({0.5 * random(n, n + m), random(R, n + m), {}});
    residuals.push_back(random(R, 1));
    steps.back().g = steps.back().J.transpose() * residuals.back();
  }
  const std::vector<VectorXd> u(T, VectorXd::Zero(m));
  const std::optional<BackwardPass> pass = backward_pass(steps, u, {}, {}, 0.0);
  ASSERT_TRUE(pass);
  MatrixXd J = MatrixXd::Zero(T * R, T * m), moved = MatrixXd::Zero(n, T * m);
  VectorXd r(T * R);
  for (long t = 0; t < T; t++) {
    J.middleRows(t * R, R) = steps[t].J.leftCols(n) * moved;
    J.block(t * R, t * m, R, m) += steps[t].J.rightCols(m);
    r.segment(t * R, R) = residuals[t];
    moved = (steps[t].F.leftCols(n) * moved).eval();
    moved.middleCols(t * m, m) += steps[t].F.rightCols(m);
  }
  const VectorXd best = -(J.transpose() * J).ldlt().solve(J.transpose() * r);
  VectorXd dx = VectorXd::Zero(n);
  for (long t = 0; t < T; t++) {
    const VectorXd du = pass->k[t] + pass->K[t] * dx;
    for (long c = 0; c < m; c++) EXPECT_NEAR(du[c], best[t * m + c], 1e-9);
    dx = (steps[t].F.leftCols(n) * dx + steps[t].F.rightCols(m) * du).eval();
  }
  const double decrease = 0.5 * (r + J * best).squaredNorm() - 0.5 * r.squaredNorm();
  EXPECT_NEAR(pass->linear + pass->quadratic, decrease, 1e-9 * std::abs(decrease));

  steps[2].J(1, 1) = std::nan("");
  EXPECT_FALSE(backward_pass(steps, u, {}, {}, 0.0));
}

TEST(Ilqr, NamesWhatItRefuses) {
  Evaluator evaluator(load("cartpole"), {.threads = 1});
  const auto refuses = [&](const RolloutOptions& o, const IlqrOptions& i, const std::string& why) {
    EXPECT_NE(testing::message([&] { Ilqr(evaluator, o, i); }).find(why), std::string::npos) << why;
  };
  const RolloutOptions cart = testing::pushed_cart();
  RolloutOptions no_cost = cart;
  no_cost.cost = {};
  refuses(no_cost, {.horizon = 8}, "the rollout has no cost, expected a cost or a residual");
  refuses(cart, {.horizon = 0}, "horizon is 0, expected 1 or more");
  refuses(cart, {.horizon = 8, .lower = {0, 0}}, "lower has 2 numbers, expected 1 or 1");
  refuses(cart, {.horizon = 8, .lower = {1}, .upper = {0}}, "lower is above upper");
  refuses(cart, {.horizon = 8, .difference = 0}, "difference is 0");
}

}  // namespace
}  // namespace featherstorm::test_ilqr
