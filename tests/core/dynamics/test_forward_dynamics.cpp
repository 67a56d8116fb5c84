#include <gtest/gtest.h>

#include "core/dynamics/forward_dynamics.h"

#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_forward_dynamics {
namespace {

using namespace testing;

TEST(ForwardDynamics, InvertsRneaAndAgreesWithAba) {
  for_robots_in_states(60, [](const Model<double>& m, const State& s) {
    Numbers a(m.nv, NAN), c(m.nv, NAN), tau(m.nv, NAN);
    fd_crba(m, s.q.data(), s.v.data(), s.tau.data(), s.f_ext.data(), a.data());
    articulated_bodies(m, s.q.data(), s.v.data(), s.tau.data(), s.f_ext.data(), c.data());
    EXPECT_LT((vector(a) - vector(c)).norm(), 1e-10 * (1 + vector(c).norm()));
    for (const Numbers& qdd : {a, c}) {
      rnea(m, s.q.data(), s.v.data(), qdd.data(), s.f_ext.data(), tau.data());
      EXPECT_LT((vector(tau) - vector(s.tau)).norm(), 1e-9 * (1 + vector(s.tau).norm()));
    }
  });
}

TEST(AbaSolve, SolvesWithTheJointSpaceInertiaAndAnAddedDiagonal) {
  for_robots_in_states(60, [](const Model<double>& m, const State& s) {
    Numbers d(m.nv), H(m.nh);
    for (int k = 0; k < m.nv; k++) d[k] = std::abs(s.a[k]);
    crba(m, s.q.data(), H.data());
    // (H + diag(d)) x - b = 0, with and without d
    Numbers x = s.tau, y(m.nv);
    aba_solve(m, s.q.data(), d.data(), x.data());
    mul_h(m, H.data(), x.data(), y.data());
    for (int k = 0; k < m.nv; k++) EXPECT_NEAR(y[k] + d[k] * x[k], s.tau[k], 1e-10 * scale_of(s.tau));
    x = s.tau;
    aba_solve(m, s.q.data(), Zeros<double>{}, x.data());
    mul_h(m, H.data(), x.data(), y.data());
    for (int k = 0; k < m.nv; k++) EXPECT_NEAR(y[k], s.tau[k], 1e-9 * scale_of(s.tau));
  });
}

}  // namespace
}  // namespace featherstorm::test_forward_dynamics
