// Plans by gradients: minima of quadratic functions in a box, a backward pass by dense algebra, a cart that is driven.
#include "host/planning/ilqr.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "host/planning/backward_pass.h"
#include "host/simulation/simulation.h"
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

RolloutOptions cart_to_half() {
  RolloutOptions o = testing::pushed_cart();
  o.cost = {};
  o.residual = [](const TracedState& x, const Traced& u, Expr, const Traced& goal) -> Traced {
    return {x.q[0] - goal[0], 0.1 * x.v[0], 0.02 * u[0]};
  };
  o.terminal_residual = [](const TracedState& x, Expr, const Traced& goal) -> Traced {
    return {5.0 * (x.q[0] - goal[0]), x.v[0]};
  };
  return o;
}

TEST(Ilqr, DrivesACartToAGoalWithinItsBounds) {
  Evaluator evaluator(load("cartpole"), {.threads = 1});
  Ilqr planner(evaluator, cart_to_half(), {.horizon = 20, .lower = {-4}, .upper = {4}});
  Simulation robot(evaluator, 1, {.dt = 0.01}, Precision::float64);
  const Buffer tau(Precision::float64, 1, 2);
  for (int k = 0; k < 200; k++) {
    const double t = 0.01 * k;
    if (k % 5 == 0) planner.command({.q = robot.q(), .v = robot.v(), .p = {0.5}}, t);
    planner.control(t, {tau.component<double>(0), 1});
    ASSERT_LE(std::abs(tau.component<double>(0)[0]), 4);
    robot.step(tau.ref());
  }
  EXPECT_NEAR(testing::numbers_of(robot.q())[0], 0.5, 0.02);
  EXPECT_TRUE(planner.last().converged);
}

// The same sum as a cost, or as a cost beside residuals: where residuals are linear, Gauss-Newton is exact.
TEST(Ilqr, PlansTheSameForACostAsForItsResiduals) {
  Evaluator evaluator(load("cartpole"), {.threads = 1});
  const testing::AtRest rest(2);
  RolloutOptions o = cart_to_half();
  const auto residual = o.residual;
  const auto last = o.terminal_residual;
  const auto plan = [&] {
    Ilqr planner(evaluator, o, {.horizon = 12, .iterations = 3, .tolerance = 0});
    planner.command(rest.with({0.5}), 0);
    return planner.last();
  };
  const IlqrPlan of_residuals = plan();
  o.terminal_residual = {};
  o.terminal = [&](const TracedState& x, Expr t, const Traced& p) {
    const Traced r = last(x, t, p);
    return 0.5 * (r[0] * r[0] + r[1] * r[1]);
  };
  o.residual = [&](const TracedState& x, const Traced& u, Expr t, const Traced& p) -> Traced {
    return {residual(x, u, t, p)[0]};
  };
  o.cost = [&](const TracedState& x, const Traced& u, Expr t, const Traced& p) {
    const Traced r = residual(x, u, t, p);
    return 0.5 * (r[1] * r[1] + r[2] * r[2]);
  };
  const IlqrPlan of_costs = plan();
  EXPECT_NEAR(of_costs.cost, of_residuals.cost, 1e-9 * of_residuals.cost);
  EXPECT_LT(testing::farthest(of_costs.u, of_residuals.u), 1e-6);
  EXPECT_LT(testing::farthest(of_costs.gains, of_residuals.gains), 1e-6);
}

TEST(Ilqr, LeavesAPlanWithoutAFiniteCostAsItWas) {
  Evaluator evaluator(load("cartpole"), {.threads = 1});
  Ilqr planner(evaluator, cart_to_half(), {.horizon = 8});
  const Buffer q(Precision::float64, 1, 2), v(Precision::float64, 1, 2);
  planner.command({.q = q.ref(), .v = v.ref(), .p = {0.5}}, 0);
  const std::vector<double> u = planner.last().u;
  q.component<double>(0)[0] = std::nan("");
  EXPECT_THROW(planner.command({.q = q.ref(), .v = v.ref(), .p = {0.5}}, 0.05), Error);
  EXPECT_EQ(planner.last().u, u);
}

TEST(Ilqr, NamesWhatItRefuses) {
  Evaluator evaluator(load("cartpole"), {.threads = 1});
  const auto refuses = [&](const RolloutOptions& o, const IlqrOptions& i, const std::string& why) {
    EXPECT_NE(testing::message([&] { Ilqr(evaluator, o, i); }).find(why), std::string::npos) << why;
  };
  RolloutOptions no_cost = cart_to_half();
  no_cost.residual = {}, no_cost.terminal_residual = {};
  refuses(no_cost, {.horizon = 8}, "the rollout has no cost, expected a cost or a residual");
  refuses(cart_to_half(), {.horizon = 0}, "horizon is 0, expected 1 or more");
  refuses(cart_to_half(), {.horizon = 8, .lower = {0, 0}}, "lower has 2 numbers, expected 1 or 1");
  refuses(cart_to_half(), {.horizon = 8, .lower = {1}, .upper = {0}}, "lower is above upper");
  refuses(cart_to_half(), {.horizon = 8, .difference = 0}, "difference is 0");
}

}  // namespace
}  // namespace featherstorm::test_ilqr
