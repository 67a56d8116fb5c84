#include "tests/support/oracles/random_matrices.h"

#include <gtest/gtest.h>

#include "core/reference/spatial/matrices.h"

namespace featherstorm::testing {

Eigen::MatrixXd random_matrix(Random& random, int rows, int columns) {
  Eigen::MatrixXd A(rows, columns);
  for (int i = 0; i < A.size(); i++) A(i) = random.uniform(-1, 1);
  return A;
}
Eigen::VectorXd random_vector(Random& random) { return random_matrix(random, 6, 1); }
Eigen::MatrixXd random_inertia(Random& random) {
  const LinkSpec l = random_link(random, "body");
  return matrices::mcI(l.mass, l.com, l.inertia);
}

void for_seeds(const std::function<void(Random&)>& f) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    f(random);
  }
}

void expect_near(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double bound) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  double largest = 0, difference = 0;
  for (int i = 0; i < a.size(); i++) {
    ASSERT_TRUE(std::isfinite(a(i)));
    largest = std::max(largest, std::abs(b(i))), difference = std::max(difference, std::abs(a(i) - b(i)));
  }
  EXPECT_LT(difference, bound * (1 + largest));
}

}  // namespace featherstorm::testing
