// Random matrices and their comparison, for tests of spatial algebra. All sizes are dynamic: products of fixed sizes
// are unrolled at each use and take a minute to compile.
#pragma once
#include <Eigen/Dense>
#include <functional>

#include "tests/support/robots/random_robot.h"

namespace featherstorm::testing {

// Entries in [-1, 1].
Eigen::MatrixXd random_matrix(Random& random, int rows, int columns);
// Six numbers.
Eigen::VectorXd random_vector(Random& random);
// 6x6 inertia matrix of a physically valid body about the origin
Eigen::MatrixXd random_inertia(Random& random);

// f(random) for twenty seeds.
void for_seeds(const std::function<void(Random&)>& f);

// Largest difference, relative to 1 + the largest entry of b.
void expect_near(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b, double bound = 1e-12);

}  // namespace featherstorm::testing
