// Newton's method on packed rows against the dense reference.
#include "core/constraint/newton_step.h"

#include <gtest/gtest.h>

#include <random>

#include "core/reference/constraint/dense_newton.h"

namespace featherstorm::test_newton_step {
namespace {

struct Problem {
  EliminationTree tree;
  RowPattern rows;
  std::vector<double> mass, b, jacobian, D, aref, loss;
  ConstraintProblem dense;
};

// n coordinates, r rows of one to four of them, of every kind; hardness from soft to a thousand times the mass.
Problem random_problem(int n, int r, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<> uniform(-1, 1);
  const auto below = [&](int k) { return static_cast<int>(engine() % static_cast<unsigned>(k)); };
  Problem p;
  std::vector<int> parent;
  for (int k = 0; k < n; k++) parent.push_back(k == 0 || below(6) == 0 ? -1 : below(k));
  std::vector<std::vector<int>> sets;
  p.dense.J = Eigen::MatrixXd::Zero(r, n);
  p.dense.D.resize(r), p.dense.aref.resize(r), p.dense.loss = Eigen::VectorXd::Zero(r);
  p.rows.start.push_back(0);
  for (int i = 0; i < r; i++) {
    std::vector<int> set;
    for (int m = 1 + below(4); m > 0; m--) set.push_back(below(n));
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    const RowKind kind = std::array{RowKind::Equality, RowKind::Friction, RowKind::Unilateral}[i % 3];
    p.rows.kind.push_back(kind), p.dense.blocks.push_back({kind, i, 1});
    for (int k : set) p.rows.column.push_back(k), p.jacobian.push_back(p.dense.J(i, k) = uniform(engine));
    p.rows.start.push_back(static_cast<int>(p.rows.column.size()));
    sets.push_back(set);
    p.dense.D(i) = std::pow(10.0, 2 + uniform(engine)), p.dense.aref(i) = 5 * uniform(engine);
    if (kind == RowKind::Friction) p.dense.loss(i) = 1 + uniform(engine);
    p.D.push_back(p.dense.D(i)), p.aref.push_back(p.dense.aref(i)), p.loss.push_back(p.dense.loss(i));
  }
  p.tree = elimination_tree(parent, sets);
  p.dense.M = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < n; i++) {
    for (int j = parent[i]; j >= 0; j = parent[j]) p.dense.M(i, j) = p.dense.M(j, i) = 0.3 * uniform(engine);
    p.dense.M(i, i) = 1 + 0.3 * n;
  }
  p.mass.assign(p.tree.nh, 0.0);
  for (int i = 0; i < n; i++)
    for (int j = i; j >= 0; j = p.tree.dof_parent[j]) p.mass[p.tree.at(i, j)] = p.dense.M(i, j);
  for (int k = 0; k < n; k++) p.b.push_back(5 * uniform(engine));
  p.dense.a0 = p.dense.M.llt().solve(Eigen::Map<Eigen::VectorXd>(p.b.data(), n));
  return p;
}

TEST(NewtonStep, FindsTheLeastCostOfTheDenseReference) {
  int most = 0;
  for (unsigned seed = 0; seed < 300; seed++) {
    const int n = 1 + static_cast<int>(seed % 13), r = static_cast<int>(seed % 23);
    const Problem c = random_problem(n, r, seed);
    const NewtonProblem p{c.tree,     c.rows,        c.mass.data(), c.b.data(), c.jacobian.data(),
                          c.D.data(), c.aref.data(), c.loss.data()};
    std::vector<double> a(n, 0.0), next(n), force(r);
    double left = 1;
    int steps = 0;
    for (; left > 1e-12 && steps < 60; steps++) {
      left = newton_step(p, a.data(), next.data(), force.data());
      a = next;
    }
    EXPECT_LE(left, 1e-12) << "seed " << seed;
    most = std::max(most, steps);
    const ConstrainedAcceleration exact = dense_newton(c.dense, c.dense.a0, 100, 1e-15);
    for (int k = 0; k < n; k++) EXPECT_NEAR(a[k], exact.a(k), 1e-9 * (1 + exact.a.norm())) << "seed " << seed;
    for (int i = 0; i < r; i++)
      EXPECT_NEAR(force[i], exact.force(i), 1e-7 * (1 + exact.force.norm())) << "seed " << seed;
  }
  EXPECT_LE(most, 16);
}

TEST(NewtonStep, WithoutRowsSolvesTheEquationsOfMotionAtOnce) {
  const Problem c = random_problem(9, 0, 1);
  const NewtonProblem p{c.tree,     c.rows,        c.mass.data(), c.b.data(), c.jacobian.data(),
                        c.D.data(), c.aref.data(), c.loss.data()};
  std::vector<double> a(9, 0.0), next(9), force;
  newton_step(p, a.data(), next.data(), force.data());
  for (int k = 0; k < 9; k++) EXPECT_NEAR(next[k], c.dense.a0(k), 1e-14);
  EXPECT_LT(newton_step(p, next.data(), a.data(), force.data()), 1e-15);
}

}  // namespace
}  // namespace featherstorm::test_newton_step
