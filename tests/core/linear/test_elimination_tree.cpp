// Factors of matrices that couple coordinates of several limbs, against dense ones.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "core/linear/elimination_tree.h"
#include "core/linear/ltdl.h"

namespace featherstorm::test_elimination_tree {
namespace {

using Sets = std::vector<std::vector<int>>;

// A tree of n coordinates, and sets of some of them.
struct Case {
  std::vector<int> parent;
  Sets together;
};
Case random_case(int n, std::mt19937& engine) {
  const auto below = [&](int k) { return static_cast<int>(engine() % static_cast<unsigned>(k)); };
  Case c;
  for (int k = 0; k < n; k++) c.parent.push_back(k == 0 || below(8) == 0 ? -1 : below(k));
  for (int s = below(4); s > 0; s--) {
    auto& set = c.together.emplace_back();
    for (int m = 1 + below(4); m > 0; m--) set.push_back(below(n));
  }
  return c;
}

TEST(EliminationTree, IsTheRobotsWhereNothingIsCoupled) {
  const std::vector<int> parent{-1, 0, 1, 1, 0, 4};
  const EliminationTree t = elimination_tree(parent, {});
  EXPECT_EQ(t.dof_parent, parent);
  EXPECT_EQ(t.depth, (std::vector<int>{0, 1, 2, 2, 1, 2}));
  EXPECT_EQ(t.nh, 14);
}

TEST(EliminationTree, TwoLimbsThatAreCoupledFillTheirPathsAlone) {
  //  0 - 1 - 2        3 coupled with 2; 4 - 5 apart
  //   \ 3, 4 - 5
  const EliminationTree t = elimination_tree({-1, 0, 1, 0, 0, 4}, {{2, 3}});
  EXPECT_EQ(t.dof_parent, (std::vector<int>{-1, 0, 1, 2, 0, 4}));
}

TEST(EliminationTree, IsTheSameInMemoryOfACaller) {
  std::mt19937 engine(2);
  for (int round = 0; round < 300; round++) {
    const int n = 1 + round % 150, words = (n + 63) / 64;
    const Case c = random_case(n, engine);
    const EliminationTree t = elimination_tree(c.parent, c.together);
    std::vector<int> parent(n), depth(n), start(n + 1);
    std::vector<std::uint64_t> row(static_cast<std::size_t>(n) * words);
    const auto add = [&](int k, int j) { row[k * words + j / 64] |= std::uint64_t{1} << (j % 64); };
    for (int k = 0; k < n; k++)
      if (c.parent[k] >= 0) add(k, c.parent[k]);
    for (const auto& set : c.together)
      for (int i : set)
        for (int j : set)
          if (j < i) add(i, j);
    EliminationTreeIn found{n, 0, parent.data(), depth.data(), start.data(), row.data()};
    eliminate(words, found);
    EXPECT_EQ(parent, t.dof_parent);
    EXPECT_EQ(depth, t.depth);
    EXPECT_EQ(start, t.row_start);
    EXPECT_EQ(found.nh, t.nh);
    for (int k = 0; k < n; k++) {
      std::vector<int> ancestors;
      for (int j = 0; j < n; j++)
        if ((row[k * words + j / 64] >> (j % 64) & 1) != 0) ancestors.push_back(j);
      ASSERT_EQ(ancestors, std::vector<int>(t.column.begin() + t.row_start[k], t.column.begin() + t.row_start[k + 1]));
    }
  }
}

TEST(EliminationTree, FactorsSolveWhateverIsCoupled) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<> uniform(-1, 1);
  for (int round = 0; round < 200; round++) {
    const int n = 1 + round % 14;
    const Case c = random_case(n, engine);
    const EliminationTree t = elimination_tree(c.parent, c.together);
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, n);
    const auto couple = [&](int i, int j) { A(i, j) = A(j, i) = uniform(engine); };
    for (int i = 0; i < n; i++)
      for (int j = c.parent[i]; j >= 0; j = c.parent[j]) couple(i, j);
    for (const auto& set : c.together)
      for (int i : set)
        for (int j : set) couple(i, j);
    for (int i = 0; i < n; i++) A(i, i) = n + 1;  // definite
    std::vector<double> H(t.nh, 0.0), x(n);
    double kept = 0;
    for (int i = 0; i < n; i++)
      for (int j = i; j >= 0; j = t.dof_parent[j]) H[t.at(i, j)] = A(i, j), kept += std::abs(A(i, j));
    ASSERT_DOUBLE_EQ(kept, A.triangularView<Eigen::Lower>().toDenseMatrix().cwiseAbs().sum()) << "entries are left out";
    for (double& b : x) b = uniform(engine);
    const Eigen::VectorXd b = Eigen::Map<Eigen::VectorXd>(x.data(), n);
    std::vector<double> product(n);
    mul_h(t, H, x, product.data());
    ltdl(t, H.data());
    solve<Factor::LTDL>(t, H.data(), x.data());
    const Eigen::VectorXd exact = A.ldlt().solve(b), Ab = A * b;
    for (int k = 0; k < n; k++) {
      EXPECT_NEAR(x[k], exact(k), 1e-13);
      EXPECT_NEAR(product[k], Ab(k), 1e-12);
    }
  }
}

}  // namespace
}  // namespace featherstorm::test_elimination_tree
