#include "core/linear/reduced.h"

#include "tests/support/oracles/cases.h"
#include "tests/support/oracles/random_matrices.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_reduced {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Any G of full rank and any g, against the dense equations.
TEST(Reduced, SolvesTheProjectedEquationsOfMotion) {
  for (unsigned seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case c(random_spec(seed), seed);
    const Model<double>& m = c.model();
    const int n = m.nv, ny = 1 + static_cast<int>(seed) % n;
    Random random(seed);
    const RowMatrix G = random_matrix(random, n, ny);
    const VectorXd g = random_matrix(random, n, 1), b = vector(c.state.tau);
    VectorXd ydd = VectorXd::Constant(ny, NAN), qdd = VectorXd::Constant(n, NAN);
    solve_reduced(m, call_crba<double>(m, c.state.q).data(), b.data(), G.data(), g.data(), ny, ydd.data());
    expand_reduced(m, G.data(), g.data(), ny, ydd.data(), qdd.data());
    const MatrixXd H = c.oracle.crba(c.state.q), A = G.transpose() * H * G;
    const VectorXd w = G.transpose() * (b - H * g);
    EXPECT_LT((A * ydd - w).norm(), 1e-11 * (1 + w.norm() + A.norm() * ydd.norm()));
    EXPECT_LT((qdd - (G * ydd + g)).norm(), 1e-13 * (1 + qdd.norm()));
  }
}

// Nothing is read of G and ydd, which are empty.
TEST(Reduced, LeavesTheBiasOfAStructureThatCannotMove) {
  const Robot robot = random_robot(3);
  std::vector<double> g(robot.model.nv), qdd(robot.model.nv, -1);
  for (std::size_t k = 0; k < g.size(); k++) g[k] = 0.5 * static_cast<double>(k) + 1;
  const double* nothing = nullptr;
  expand_reduced(robot.model, nothing, g.data(), 0, nothing, qdd.data());
  EXPECT_EQ(qdd, g);
}

}  // namespace
}  // namespace featherstorm::test_reduced
