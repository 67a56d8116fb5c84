// Half-solved rows against dense inverses.
#include "core/constraint/delassus.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <random>

#include "core/linear/elimination_tree.h"

namespace featherstorm::test_delassus {
namespace {

// A random tree and a matrix with its pattern.
struct Tree {
  EliminationTree tree;
  std::vector<double> mass, factor;
  std::vector<int> diagonal;
  Eigen::MatrixXd M;
};
Tree random_tree(int n, std::mt19937& engine) {
  std::uniform_real_distribution<> uniform(-1, 1);
  std::vector<int> parent;
  for (int k = 0; k < n; k++)
    parent.push_back(k == 0 || engine() % 6 == 0 ? -1 : static_cast<int>(engine() % static_cast<unsigned>(k)));
  Tree t{elimination_tree(parent, {}), {}, {}, {}, Eigen::MatrixXd::Zero(n, n)};
  t.mass.resize(static_cast<std::size_t>(t.tree.nh));
  for (int i = 0; i < n; i++) {
    for (int j = i; j >= 0; j = parent[static_cast<std::size_t>(j)]) {
      const double h = i == j ? 1 + 0.3 * n : 0.3 * uniform(engine);
      t.M(i, j) = t.M(j, i) = t.mass[static_cast<std::size_t>(t.tree.at(i, j))] = h;
    }
    t.diagonal.push_back(t.tree.at(i, i));
  }
  t.factor = t.mass;
  half_factor(t.tree, t.mass, t.factor.data());
  return t;
}

TEST(Delassus, IsTheProductOfHalfSolvedRows) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<> uniform(-1, 1);
  for (int n = 1; n < 25; n++) {
    const Tree t = random_tree(n, engine);
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(6, n), Y = J;
    for (int block = 0; block < 2; block++) {
      std::vector<int> columns;
      for (int k = 0; k < n; k++)
        if (engine() % 3 == 0 || (columns.empty() && k == n - 1)) columns.push_back(k);
      const HalfSolution h = half_solution(t.tree, columns);
      std::vector<double> packed, half(3 * h.column.size());
      for (int i = 0; i < 3; i++)
        for (const int k : columns) packed.push_back(J(3 * block + i, k) = uniform(engine));
      half_solve<3>(h, t.factor, t.diagonal, packed, half.data());
      for (std::size_t k = 0; k < h.column.size(); k++)
        for (int i = 0; i < 3; i++) Y(3 * block + i, h.column[k]) = half[3 * k + static_cast<std::size_t>(i)];
    }
    const Eigen::MatrixXd A = J * t.M.llt().solve(J.transpose());
    EXPECT_LE((Y * Y.transpose() - A).norm(), 1e-14 * (1 + A.norm())) << n << " coordinates";
  }
}

TEST(Delassus, AFactorGivesItsMatrixBack) {
  std::mt19937 engine(3);
  for (int n = 1; n < 25; n++) {
    const Tree t = random_tree(n, engine);
    std::vector<double> mass(t.mass.size());
    mass_of_half_factor(t.tree, t.factor, mass.data());
    for (std::size_t k = 0; k < mass.size(); k++) EXPECT_NEAR(mass[k], t.mass[k], 1e-14 * t.M.norm()) << n;
  }
}

TEST(Delassus, TheHalvesOfASolutionAreOne) {
  std::mt19937 engine(2);
  for (int n = 1; n < 25; n++) {
    const Tree t = random_tree(n, engine);
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(n, -1, 2), x = t.M.llt().solve(b);
    Eigen::VectorXd y = b;
    solve_from_tips(t.tree, t.factor, y.data());
    EXPECT_NEAR(y.squaredNorm(), b.dot(x), 1e-13 * (1 + b.dot(x)));
    solve_from_root(t.tree, t.factor, y.data());
    EXPECT_LE((y - x).norm(), 1e-14 * (1 + x.norm())) << n << " coordinates";
  }
}

}  // namespace
}  // namespace featherstorm::test_delassus
