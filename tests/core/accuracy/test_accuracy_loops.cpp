// Rounding near singular loop-closure constraints, the fourth of the causes of RBDA section 10.1.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/loops/fd_loops.h"
#include "tests/support/robots/linkages.h"
#include "tests/support/tools/tolerance.h"

namespace featherstorm::test_accuracy_loops {
namespace {

using namespace testing;

constexpr double epsilon = std::numeric_limits<float>::epsilon();

// Four bars of lengths 0.3 + 0.8 = 0.5 + 0.6 that nearly lie on a line, where K loses a rank.
Linkage flat_four_bar(double angle) {
  return finish("four_bar", open_four_bar(0.5, {0, -9.81, 0}), {pin("coupler", {0.8, 0, 0}, "rocker", {0.6, 0, 0})},
                {angle, -angle, angle}, {1, 0, 0}, {1, 0, 0}, 1);
}
template <class T>
std::vector<T> accelerations(const Linkage& l, const Numbers& v, double tolerance) {
  const int n = l.model().nv;
  const std::vector<T> q(l.q.begin(), l.q.end()), qd(v.begin(), v.end()), tau{T(1), T(2), T(-1)};
  std::vector<T> qdd(n, T(NAN)), lambda(l.loops.nc);
  T rank(0);
  fd_loops(cast<T>(l.model()), cast<T>(l.loops), q.data(), qd.data(), tau.data(), Zeros<T>{}, T(0), T(tolerance),
           qdd.data(), lambda.data(), &rank);
  EXPECT_EQ(rank, T(2));
  return qdd;
}
// Error of float for a state that float has exactly, relative to the largest acceleration.
double error(double angle) {
  Linkage l = flat_four_bar(angle);
  for (double& x : l.q) x = static_cast<float>(x);
  Numbers v = admissible(l.model(), l.loops, l.q, {3, -2, 1});
  for (double& x : v) x = static_cast<float>(x);
  const Numbers expected = accelerations<double>(l, v, 1e-11);
  return relative_error(accelerations<float>(l, v, 1e-5), expected, largest(expected));
}

// In proportion to the inverse of the distance from the singular configuration, and not worse.
TEST(AccuracyOfLoops, FallsTowardsSingularConfigurations) {
  for (double angle : {1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003})
    EXPECT_LT(error(angle), epsilon * (4 + 0.5 / angle)) << angle;
  EXPECT_GT(error(0.0003), 30 * error(0.3));
}

}  // namespace
}  // namespace featherstorm::test_accuracy_loops
