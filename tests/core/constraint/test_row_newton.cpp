// Newton's method in the space of rows and in that of coordinates against the dense reference.
#include "core/constraint/coordinate_newton.h"

#include <gtest/gtest.h>

#include "tests/core/constraint/row_problems.h"

namespace featherstorm::test_row_newton {
namespace {

using namespace row_problems;

struct HalfSolved {
  Eigen::MatrixXd Y;
  int columns = static_cast<int>(Y.cols());
  void times(const double* x, double* y) const {
    Eigen::Map<Eigen::VectorXd>(y, Y.rows()) = Y * Eigen::Map<const Eigen::VectorXd>(x, Y.cols());
  }
  void transposed_times(const double* f, double* x) const {
    Eigen::Map<Eigen::VectorXd>(x, Y.cols()) = Y.transpose() * Eigen::Map<const Eigen::VectorXd>(f, Y.rows());
  }
};

enum class Space { Rows, Coordinates };

struct Rows {
  HalfSolved half;
  std::vector<double> A, r0, guess;
};

Rows rows_of(const Problem& c, const Eigen::VectorXd& a) {
  const auto factor = c.dense.M.llt();
  const Eigen::MatrixXd Y = factor.matrixL().solve(c.dense.J.transpose()).transpose();
  const Eigen::VectorXd r0 = c.dense.J * c.dense.a0 - c.dense.aref, guess = c.dense.J * a - c.dense.aref;
  Rows rows{{Y, static_cast<int>(Y.cols())}, {}, {r0.begin(), r0.end()}, {guess.begin(), guess.end()}};
  for (int i = 0; i < Y.rows(); i++)
    for (int j = 0; j <= i; j++) rows.A.push_back(Y.row(i).dot(Y.row(j)));
  return rows;
}

// The most steps that a problem took, from a guess that is the solution or not.
int solve_all(Space space, const std::vector<RowKind>& kinds, bool from_solution) {
  int most = 0;
  for (unsigned seed = 0; seed < 300; seed++) {
    const int n = 1 + static_cast<int>(seed % 13);
    Problem c = random_problem(n, 1 + static_cast<int>(seed % 22), seed, kinds);
    const ConstrainedAcceleration exact = dense_newton(c.dense, c.dense.a0, 100, 1e-15);
    Rows of = rows_of(c, from_solution ? exact.a : Eigen::VectorXd::Constant(n, 3.0));
    const int r = c.rows.rows();
    std::vector<double> x(static_cast<std::size_t>(n)), f(static_cast<std::size_t>(r));
    const RowProblem p{c.rows, of.half, of.A.data(), of.r0.data(), c.D.data(), c.friction.data()};
    const EliminationTree own = elimination_tree(c.parent, {});
    std::vector<double> mass;
    for (int i = 0; i < n; i++)
      for (int k = own.row_start[i]; k < own.row_start[i + 1]; k++) mass.push_back(c.dense.M(i, own.column[k]));
    const CoordinateProblem q{own,          c.tree,     c.rows,           mass.data(), c.jacobian.data(),
                              of.r0.data(), c.D.data(), c.friction.data()};
    double done = 0;
    int steps = 0;
    for (; done == 0 && steps < 60; steps++)
      done = space == Space::Rows ? row_newton_step(p, steps == 0, 1e-12, of.guess.data(), x.data(), f.data())
                                  : coordinate_newton_step(q, steps == 0, 1e-12, of.guess.data(), x.data(), f.data());
    EXPECT_LT(steps, 60) << "seed " << seed;
    most = std::max(most, steps);
    for (int i = 0; i < r; i++)
      EXPECT_NEAR(f[static_cast<std::size_t>(i)], exact.force(i), 1e-7 * (1 + exact.force.norm())) << "seed " << seed;
    const Eigen::VectorXd a =
        c.dense.a0 + c.dense.M.llt().solve(c.dense.J.transpose() * Eigen::Map<Eigen::VectorXd>(f.data(), r));
    EXPECT_LE((a - exact.a).norm(), 1e-9 * (1 + exact.a.norm())) << "seed " << seed;
  }
  return most;
}

class NewtonInASpace : public ::testing::TestWithParam<Space> {};
INSTANTIATE_TEST_SUITE_P(RowNewton, NewtonInASpace, ::testing::Values(Space::Rows, Space::Coordinates),
                         [](const auto& of) { return of.param == Space::Rows ? "Rows" : "Coordinates"; });

TEST_P(NewtonInASpace, FindsTheForcesOfTheDenseReference) {
  EXPECT_LE(solve_all(GetParam(), {RowKind::Equality, RowKind::Friction, RowKind::Unilateral}, false), 20);
}
TEST_P(NewtonInASpace, FindsTheForcesOfContactsWithPyramids) {
  EXPECT_LE(solve_all(GetParam(), {RowKind::Pyramid, RowKind::Unilateral}, false), 20);
}
TEST_P(NewtonInASpace, FindsTheForcesOfContactsWithCones) {
  EXPECT_LE(solve_all(GetParam(), {RowKind::Cone, RowKind::Equality}, false), 25);
}
TEST_P(NewtonInASpace, NeedsOneStepFromTheSolutionWhereCostsAreQuadratic) {
  const std::vector<RowKind> kinds = {RowKind::Pyramid, RowKind::Friction, RowKind::Unilateral, RowKind::Equality};
  EXPECT_LE(solve_all(GetParam(), kinds, true), 1);
}

// Dry friction and limits up to 1e5 times as hard as others: along a step the cost falls steeply at first, and rises gently after a
// kink that is as near as nothing.
TEST_P(NewtonInASpace, GetsPastKinksAtTheBeginningOfAStep) {
  int most = 0;
  for (unsigned seed = 0; seed < 500; seed++) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<> uniform(0, 1);
    const int columns = 2 + static_cast<int>(seed % 6), n = 3 + static_cast<int>(seed % 13);
    RowPattern rows;
    std::vector<int> all, chain;
    for (int k = 0; k < columns; k++) all.push_back(k), chain.push_back(k - 1);
    for (int i = 0; i < n; i++) rows.add(engine() % 2 ? RowKind::Friction : RowKind::Unilateral, 1, all);
    Eigen::MatrixXd Y(n, columns);
    std::vector<double> r0, r, D, friction, A, x(static_cast<std::size_t>(columns)), f(static_cast<std::size_t>(n));
    const double far = std::pow(10.0, 2 - 3 * uniform(engine)), guess = std::pow(10.0, 2 - 4 * uniform(engine));
    for (int i = 0; i < n; i++) {
      const double size = std::pow(10.0, 2 * uniform(engine) - 1);
      for (int k = 0; k < columns; k++) Y(i, k) = size * (4 * uniform(engine) - 2);
      D.push_back(std::pow(10.0, 5 * uniform(engine))), friction.push_back(std::pow(10.0, 3 * uniform(engine) - 1));
      r0.push_back(far * (4 * uniform(engine) - 2)), r.push_back(guess * (4 * uniform(engine) - 2));
      for (int j = 0; j <= i; j++) A.push_back(Y.row(i).dot(Y.row(j)));
    }
    const HalfSolved half{Y, columns};
    // M = 1: J is Y
    const EliminationTree tree = elimination_tree(chain, {});
    std::vector<double> mass(static_cast<std::size_t>(tree.nh)), J;
    for (int k = 0; k < columns; k++) mass[static_cast<std::size_t>(tree.at(k, k))] = 1;
    for (int i = 0; i < n; i++)
      for (int k = 0; k < columns; k++) J.push_back(Y(i, k));
    const RowProblem p{rows, half, A.data(), r0.data(), D.data(), friction.data()};
    const CoordinateProblem q{tree, tree, rows, mass.data(), J.data(), r0.data(), D.data(), friction.data()};
    double done = 0;
    int steps = 0;
    for (; done == 0 && steps < 100; steps++)
      done = GetParam() == Space::Rows ? row_newton_step(p, steps == 0, 1e-10, r.data(), x.data(), f.data())
                                       : coordinate_newton_step(q, steps == 0, 1e-10, r.data(), x.data(), f.data());
    EXPECT_EQ(done, 1) << "seed " << seed;
    most = std::max(most, steps);
  }
  EXPECT_LE(most, 40);
}

TEST(RowNewton, HalvesTheCurvatureOfABlockWithColumnsOfZeros) {
  // one edge of a pyramid: of rank one
  const double e[3] = {1, 0.7, 0};
  double W[6], G[6];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) W[lower_half(i, j)] = 1e3 * e[i] * e[j];
  half_curvature<double>(3, W, G);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      for (int k = 0; k <= j; k++) sum += G[lower_half(i, k)] * G[lower_half(j, k)];
      EXPECT_NEAR(sum, W[lower_half(i, j)], 1e-10);
    }
  EXPECT_EQ(G[lower_half(1, 1)], 0);
}

}  // namespace
}  // namespace featherstorm::test_row_newton
