// Derivatives of traced costs: against differences along geodesics, for a floating robot.
#include "host/planning/cost_derivatives.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "core/kinematics/integrate.h"
#include "core/trace/evaluate.h"
#include "host/simulation/rollout.h"
#include "tests/support/robots/worlds.h"

namespace featherstorm::test_cost_derivatives {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Numbers = std::map<std::string, std::vector<double>>;

std::vector<std::vector<double>> run(const Program& p, const Numbers& numbers) {
  std::vector<std::vector<double>> in;
  for (const Program::Array& a : p.inputs) in.push_back(numbers.at(a.name));
  return evaluate(p, in);
}

// A Go2 with four controls, in a random state at the time 0.4 s.
class CostDerivativesOfGo2 : public ::testing::Test {
 protected:
  const Robot robot = load("go2");
  const int nv = robot.model.nv, m = 4, width = 2 * nv + m;
  RolloutOptions o;
  Numbers at;

  void SetUp() override {
    o.stepping = {.dt = 0.02}, o.controls = m, o.parameters = 2, o.precision = Precision::float64;
    o.control = [this](const TracedState&, const Traced& u, Expr, const Traced&) -> RolloutOptions::Drive {
      Traced tau(static_cast<std::size_t>(nv));
      for (int c = 0; c < m; c++) tau[static_cast<std::size_t>(6 + c)] = u[static_cast<std::size_t>(c)];
      return {tau};
    };
    std::mt19937_64 engine(7);
    at["q"] = sample_q(robot.model, engine);
    at["v"] = testing::numbers_of(testing::noise(Precision::float64, 1, nv, 1, 1).ref());
    at["u"] = testing::numbers_of(testing::noise(Precision::float64, 1, m, 1, 2).ref());
    at["p"] = {0.3, -0.2}, at["t_next"] = {0.4}, at["total"] = {0.0};
  }
  // The numbers after a change dw.
  Numbers moved(const VectorXd& dw) const {
    Numbers x = at;
    integrate(robot.model, at.at("q").data(), dw.data(), 1.0, x["q"].data());
    for (int c = 0; c < nv; c++) x["v"][static_cast<std::size_t>(c)] += dw[nv + c];
    for (int c = 0; c < m; c++) x["u"][static_cast<std::size_t>(c)] += dw[2 * nv + c];
    return x;
  }
  VectorXd value(const Program& p, const VectorXd& dw) const {
    const std::vector<double> x = run(p, moved(dw))[0];
    return Eigen::Map<const VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
  }
  QuadraticStep step(const CostDerivatives& d) const {
    const auto out = run(d.program(), at);
    QuadraticStep s{{}, MatrixXd(0, width), VectorXd::Zero(width)};
    d.add(out[0], d.slopes() > 0 ? out[1] : std::vector<double>{}, MatrixXd::Identity(width, width), s);
    return s;
  }
  CostDerivatives derivatives(const Program& p, bool residual) const {
    return {robot, p, residual, m, 0, {"p", "t_next"}};
  }
};

TEST_F(CostDerivativesOfGo2, OfResidualsAreThoseOfDifferences) {
  o.residual = [](const TracedState& x, const Traced& u, Expr t, const Traced& p) -> Traced {
    const Traced foot = x.position("FL_foot"), turned = x.rotation("base"), speed = x.velocity("RR_foot");
    return {foot[0] - p[0] * t,
            foot[2],
            turned[6],
            turned[7] * turned[3],
            speed[1] * speed[5],
            x.q[4] * x.q[5],
            sqrt(1 + x.v[7] * x.v[7]),
            u[1] * x.q[9],
            2 * u[2]};
  };
  const Program r = rollout_stages(robot, o, false).residual;
  const QuadraticStep s = step(derivatives(r, true));
  const VectorXd r0 = value(r, VectorXd::Zero(width));
  MatrixXd J(r0.size(), width);
  for (int c = 0; c < width; c++) {
    const VectorXd d = 1e-5 * VectorXd::Unit(width, c);
    J.col(c) = (value(r, d) - value(r, -d)) / 2e-5;
  }
  EXPECT_LT((s.J - J).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((s.g - J.transpose() * r0).cwiseAbs().maxCoeff(), 1e-6);
}

TEST_F(CostDerivativesOfGo2, OfCostsAreThoseOfDifferencesWithoutNegativeCurvature) {
  o.cost = [](const TracedState& x, const Traced& u, Expr t, const Traced& p) {
    const Traced foot = x.position("FL_foot"), turned = x.rotation("base");
    return foot[0] * foot[2] + p[0] * t * turned[8] + sin(x.v[3] * x.v[9]) + exp(0.5 * u[1] * x.q[9]) - x.v[4] * x.v[4];
  };
  const Program l = rollout_stages(robot, o, false).cost;
  const QuadraticStep s = step(derivatives(l, false));
  const double h = 3e-4;
  const auto cost = [&](int a, double x, int b, double y) {
    return value(l, x * h * VectorXd::Unit(width, a) + y * h * VectorXd::Unit(width, b))[0];
  };
  VectorXd g(width);
  MatrixXd H(width, width);
  for (int a = 0; a < width; a++) {
    const VectorXd d = 1e-5 * VectorXd::Unit(width, a);
    g[a] = (value(l, d)[0] - value(l, -d)[0]) / 2e-5;
    for (int b = 0; b <= a; b++)
      H(a, b) = H(b, a) = (cost(a, 1, b, 1) - cost(a, 1, b, -1) - cost(a, -1, b, 1) + cost(a, -1, b, -1)) / (4 * h * h);
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(H);
  ASSERT_LT(eigen.eigenvalues()[0], -1.0);  // there is something to leave out
  const MatrixXd without =
      eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() * eigen.eigenvectors().transpose();
  EXPECT_LT((s.g - g).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((s.J.transpose() * s.J - without).cwiseAbs().maxCoeff(), 2e-6);
}

TEST_F(CostDerivativesOfGo2, OfTheLengthOfAZeroVectorAreZero) {
  o.residual = [](const TracedState& x, const Traced& u, Expr, const Traced&) -> Traced {
    return {sqrt(x.v[0] * x.v[0] + x.v[1] * x.v[1]), u[0]};
  };
  at["v"].assign(static_cast<std::size_t>(nv), 0.0);
  const QuadraticStep s = step(derivatives(rollout_stages(robot, o, false).residual, true));
  MatrixXd expected = MatrixXd::Zero(2, width);
  expected(1, 2 * nv) = 1;
  EXPECT_EQ(s.J, expected);
}

}  // namespace
}  // namespace featherstorm::test_cost_derivatives
