// Random problems of Newton's method on packed rows, dense and packed.
#pragma once
#include <random>

#include "core/constraint/newton_step.h"
#include "core/reference/constraint/dense_newton.h"

namespace featherstorm::row_problems {

struct Problem {
  std::vector<int> parent;  // of M
  EliminationTree tree;     // of M and the rows
  RowPattern rows;
  std::vector<double> mass, b, jacobian, D, aref, friction;
  ConstraintProblem dense;
};

// How many rows a block of a kind has.
inline int rows_of(RowKind kind, unsigned draw) {
  if (kind == RowKind::Pyramid || kind == RowKind::Cone) return std::array{3, 4, 6}[draw % 3];
  return 1;
}

// n coordinates, blocks of one to four of them; hardness from soft to a thousand times the mass.
inline Problem random_problem(int n, int blocks, unsigned seed, const std::vector<RowKind>& kinds) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<> uniform(-1, 1);
  const auto below = [&](int k) { return static_cast<int>(engine() % static_cast<unsigned>(k)); };
  Problem p;
  std::vector<int> parent;
  for (int k = 0; k < n; k++) parent.push_back(k == 0 || below(6) == 0 ? -1 : below(k));
  std::vector<std::vector<int>> sets;
  for (int i = 0; i < blocks; i++) {
    std::vector<int> set;
    for (int m = 1 + below(4); m > 0; m--) set.push_back(below(n));
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
    const RowKind kind = kinds[i % kinds.size()];
    p.rows.add(kind, rows_of(kind, engine()), set);
    sets.push_back(set);
  }
  const int r = p.rows.rows();
  p.dense.J = Eigen::MatrixXd::Zero(r, n);
  p.dense.D.resize(r), p.dense.aref.resize(r), p.dense.friction = Eigen::VectorXd::Zero(r);
  for (const PackedBlock& b : p.rows.block) {
    p.dense.blocks.push_back(b);
    for (int i = 0; i < b.rows; i++) {
      for (int k = b.column; k < b.column + b.columns; k++)
        p.jacobian.push_back(p.dense.J(b.first + i, p.rows.column[k]) = uniform(engine));
      p.dense.D(b.first + i) = std::pow(10.0, 2 + uniform(engine)), p.dense.aref(b.first + i) = 5 * uniform(engine);
      p.dense.friction(b.first + i) = 1 + 0.9 * uniform(engine);
    }
    if (b.kind != RowKind::Cone) continue;
    // softness such that D_k / f_k^2 = D_0 / mu^2, where the pieces of a cone meet
    for (int i = 1; i < b.rows; i++)
      p.dense.D(b.first + i) =
          p.dense.D(b.first) * std::pow(p.dense.friction(b.first + i) / p.dense.friction(b.first), 2);
  }
  for (int i = 0; i < r; i++)
    p.D.push_back(p.dense.D(i)), p.aref.push_back(p.dense.aref(i)), p.friction.push_back(p.dense.friction(i));
  p.tree = elimination_tree(parent, sets), p.parent = parent;
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

}  // namespace featherstorm::row_problems
