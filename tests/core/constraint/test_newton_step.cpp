// Newton's method on packed rows against the dense reference.
#include "core/constraint/newton_step.h"

#include <gtest/gtest.h>

#include "tests/core/constraint/row_problems.h"

namespace featherstorm::test_newton_step {
namespace {

using namespace row_problems;

// The most steps that a problem took.
int solve_all(const std::vector<RowKind>& kinds) {
  int most = 0;
  for (unsigned seed = 0; seed < 100; seed++) {
    const int n = 1 + static_cast<int>(seed % 13);
    const Problem c = random_problem(n, static_cast<int>(seed % 23), seed, kinds);
    const int r = c.rows.rows();
    const NewtonProblem p{c.tree,     c.rows,        c.mass.data(),    c.b.data(), c.jacobian.data(),
                          c.D.data(), c.aref.data(), c.friction.data()};
    std::vector<double> a(n, 0.0), next(n), force(r);
    NewtonOutcome<double> outcome{1, 0};
    int steps = 0;
    for (; outcome.left > 1e-12 && outcome.exact == 0 && steps < 60; steps++) {
      outcome = newton_step(p, a.data(), next.data(), force.data());
      a = next;
    }
    EXPECT_LT(steps, 60) << "seed " << seed;
    most = std::max(most, steps);
    // what said that it is exact is
    EXPECT_LE(newton_step(p, a.data(), next.data(), force.data()).left, 1e-11) << "seed " << seed;
    const ConstrainedAcceleration exact = dense_newton(c.dense, c.dense.a0, 100, 1e-15);
    for (int k = 0; k < n; k++) EXPECT_NEAR(a[k], exact.a(k), 1e-9 * (1 + exact.a.norm())) << "seed " << seed;
    for (int i = 0; i < r; i++)
      EXPECT_NEAR(force[i], exact.force(i), 1e-7 * (1 + exact.force.norm())) << "seed " << seed;
  }
  return most;
}

TEST(NewtonStep, FindsTheLeastCostOfTheDenseReference) {
  EXPECT_LE(solve_all({RowKind::Equality, RowKind::Friction, RowKind::Unilateral}), 20);
}
TEST(NewtonStep, FindsTheLeastCostOfContactsWithPyramids) {
  EXPECT_LE(solve_all({RowKind::Pyramid, RowKind::Unilateral}), 20);
}
TEST(NewtonStep, FindsTheLeastCostOfContactsWithCones) { EXPECT_LE(solve_all({RowKind::Cone, RowKind::Equality}), 25); }

TEST(NewtonStep, WithoutRowsSolvesTheEquationsOfMotionAtOnce) {
  const Problem c = random_problem(9, 0, 1, {RowKind::Equality});
  const NewtonProblem p{c.tree,     c.rows,        c.mass.data(),    c.b.data(), c.jacobian.data(),
                        c.D.data(), c.aref.data(), c.friction.data()};
  std::vector<double> a(9, 0.0), next(9), force;
  newton_step(p, a.data(), next.data(), force.data());
  for (int k = 0; k < 9; k++) EXPECT_NEAR(next[k], c.dense.a0(k), 1e-14);
  EXPECT_LT(newton_step(p, next.data(), a.data(), force.data()).left, 1e-15);
}

}  // namespace
}  // namespace featherstorm::test_newton_step
