// The joint-space inertia matrix. RBDA sections 6.2-6.4.
#include "core/dynamics/crba.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"

namespace featherstorm::test_crba {
namespace {

using namespace testing;

using dense::MatrixX;

TEST(Crba, EqualsDenseOracle) {
  for_random_robots([](const Case& c) {
    const MatrixX H = c.oracle.crba(c.state.q), G = dense::unpacked(c.model(), call_crba(c.model(), c.state.q));
    EXPECT_LT((G - H).cwiseAbs().maxCoeff(), tolerance<double>("crba") * H.cwiseAbs().maxCoeff());
  });
}

// Column k is the inverse dynamics of a unit acceleration at rest without gravity: RBDA (6.3).
TEST(Crba, ColumnsAreInverseDynamicsOfUnitAccelerations) {
  for_random_robots([](const Case& c) {
    Model<double> m = c.model();
    m.gravity = Vec3d::Zero();
    const MatrixX H = dense::unpacked(m, call_crba(m, c.state.q));
    const MatrixX columns = c.oracle.inertia_by_columns(c.state.q);
    const double bound = tolerance<double>("crba") * H.cwiseAbs().maxCoeff();
    EXPECT_LT((columns - H).cwiseAbs().maxCoeff(), bound);
    std::vector<double> rest(m.nv, 0.0);
    for (int k = 0; k < m.nv; k++) {
      std::vector<double> a(m.nv, 0.0);
      a[k] = 1;
      EXPECT_LT(relative_error(call_rnea(m, c.state.q, rest, a, {}), H.col(k).eval(), 1), bound);
      EXPECT_LT(relative_error(call_newton_euler(m, c.state.q, rest, a, {}), H.col(k).eval(), 1), bound);
    }
  });
}

// Every entry is written: poison stays nowhere. RBDA: code must not rely on a cleared matrix.
TEST(Crba, WritesEveryEntryOfThePackedMatrix) {
  for_random_robots([](const Case& c) {
    std::vector<double> H(c.model().nh, std::numeric_limits<double>::quiet_NaN());
    crba(c.model(), c.state.q.data(), H.data());
    for (double x : H) EXPECT_TRUE(std::isfinite(x));
  });
}

}  // namespace
}  // namespace featherstorm::test_crba
