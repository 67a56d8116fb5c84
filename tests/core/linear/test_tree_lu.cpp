// Factors of matrices with the zeros of an inertia matrix that are not symmetric, against dense ones.
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>

#include "core/linear/tree_lu.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::test_tree_lu {
namespace {

TEST(TreeLu, SolvesWhatDenseFactorsSolve) {
  for (unsigned seed = 0; seed < 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Model<double> m = testing::random_robot(seed).model;
    std::mt19937 engine(seed);
    std::uniform_real_distribution<> uniform(-1, 1);
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(m.nv, m.nv);
    std::vector<double> lower(m.nh), upper(m.nh);
    for (int i = 0; i < m.nv; i++)
      for (int j = i; j >= 0; j = m.dof_parent[j]) {
        A(i, j) = lower[m.at(i, j)] = uniform(engine) + (i == j ? 6 : 0);
        if (i != j) A(j, i) = upper[m.at(i, j)] = uniform(engine);
      }
    Eigen::VectorXd b(m.nv), x;
    for (double& e : b) e = uniform(engine);
    x = b;
    tree_lu(m, lower.data(), upper.data());
    solve_tree_lu(m, lower.data(), upper.data(), x.data());
    EXPECT_LT((A * x - b).norm(), 1e-12);
  }
}

}  // namespace
}  // namespace featherstorm::test_tree_lu
