// Forces of friction without slip: many sweeps end at the least cost, few sweeps keep what belongs together.
#include "core/rigid/no_slip.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

namespace featherstorm::test_no_slip {
namespace {

// Random rows of one island: single ones, and cones of 2, 3 and 5 tangents.
struct Problem {
  std::vector<SlipBlock<double>> block;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> Y;
  std::vector<double> b, mu, f, z;

  Problem(unsigned seed, int columns) : z(static_cast<std::size_t>(columns)) {
    std::mt19937 engine(seed);
    std::normal_distribution<> normal;
    std::uniform_real_distribution<> some(0.2, 1.5);
    int n = 0;
    for (const int rows : {1, 2, 1, 3, 5, 1, 2}) {
      block.push_back({n, rows, 0, rows > 1, some(engine)});
      n += rows;
    }
    Y.resize(n, columns);
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < columns; k++) Y(i, k) = normal(engine);
      b.push_back(3 * normal(engine)), mu.push_back(some(engine)), f.push_back(0);
    }
  }
  void sweep(int sweeps, double least_gain = 0, int island = 0) {
    const SlipRows<SlipBlock<double>*, double*> rows{
        block.data(), static_cast<int>(block.size()), static_cast<int>(z.size()), Y.data(), b.data(), mu.data()};
    no_slip_sweeps(rows, island, sweeps, least_gain, 0.0, z.data(), f.data());
  }
  double force(int i) const { return f[static_cast<std::size_t>(i)]; }
  double coefficient(int i) const { return mu[static_cast<std::size_t>(i)]; }
  // the slope of the cost
  double slope(int i) const {
    double sum = b[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < z.size(); k++) sum += Y(i, static_cast<int>(k)) * z[k];
    return sum;
  }
};

TEST(NoSlip, ManySweepsEndAtTheLeastCost) {
  int inside = 0, on_edge = 0;
  for (unsigned seed = 0; seed < 30; seed++) {
    Problem p(seed, 20);
    p.sweep(3000);
    for (const SlipBlock<double>& s : p.block) {
      double square = 0, along = 0, steep = 0;
      for (int i = s.first; i < s.first + s.rows; i++) {
        const double mu = s.cone ? p.coefficient(i) : 1, x = p.force(i) / mu, slope = p.slope(i) * mu;
        square += x * x, along += x * slope, steep += slope * slope;
      }
      EXPECT_LT(std::sqrt(square), s.bound * (1 + 1e-9));
      if (std::sqrt(square) < s.bound * (1 - 1e-6)) {
        inside++;
        EXPECT_LT(std::sqrt(steep), 1e-6);
      } else {
        on_edge++;  // the slope points inwards: against the force
        EXPECT_NEAR(along, -std::sqrt(square * steep), 1e-6);
      }
    }
  }
  EXPECT_GT(inside, 20);
  EXPECT_GT(on_edge, 20);
}

TEST(NoSlip, SweepsKeepTheImpulseOfTheirForces) {
  Problem p(1, 20);
  p.sweep(3);
  const Eigen::Map<Eigen::VectorXd> f(p.f.data(), static_cast<long>(p.f.size()));
  const Eigen::Map<Eigen::VectorXd> z(p.z.data(), static_cast<long>(p.z.size()));
  EXPECT_LT((p.Y.transpose() * f - z).norm(), 1e-12);
}

TEST(NoSlip, SweepsEndWhereTheyGainLittleAndAtOtherIslands) {
  Problem one(2, 20), more(2, 20), other(2, 20);
  one.sweep(1), more.sweep(50, 1e30), other.sweep(50, 0, 1);
  EXPECT_EQ(one.f, more.f);
  EXPECT_EQ(other.f, std::vector<double>(other.f.size()));
}

// Planar robots have tangents that move nothing: MuJoCo takes such a cone for singular, and its forces stay where zero is
// no better.
TEST(NoSlip, ConesWithATangentThatMovesNothingStay) {
  Problem p(3, 20);
  p.block = {{0, 2, 0, true, 1.0}};
  p.Y.row(1).setZero(), p.b[1] = 0;
  p.f[0] = p.b[0] < 0 ? 0.01 : -0.01;
  for (int k = 0; k < 20; k++) p.z[static_cast<std::size_t>(k)] = p.Y(0, k) * p.f[0];
  const std::vector<double> before = p.f;
  p.sweep(5);
  EXPECT_EQ(p.f, before);
}

}  // namespace
}  // namespace featherstorm::test_no_slip
