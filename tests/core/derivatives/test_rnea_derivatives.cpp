#include <gtest/gtest.h>

#include "core/derivatives/rnea_derivatives.h"

#include "core/dynamics/rnea.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_rnea_derivatives {
namespace {

using namespace testing;
using Eigen::MatrixXd;

struct Derivatives { MatrixXd by_q, by_qd; };
Derivatives analytic(const Model<double>& m, const State& s, bool forces = true) {
  Numbers q(m.nv * m.nv, NAN), v(m.nv * m.nv, NAN);
  if (forces) rnea_derivatives(m, s.q.data(), s.v.data(), s.a.data(), s.f_ext.data(), q.data(), v.data());
  else rnea_derivatives(m, s.q.data(), s.v.data(), s.a.data(), Zeros<double>{}, q.data(), v.data());
  const auto matrix = [&](const Numbers& a) {
    return MatrixXd(Eigen::Map<const MatrixXd>(a.data(), m.nv, m.nv).transpose());
  };
  return {matrix(q), matrix(v)};
}
// the same derivatives column by column, with the text of inverse dynamics run on dual numbers
Derivatives by_dual_numbers(const Model<double>& m, const State& s) {
  using D = Dual<double>;
  Derivatives r{MatrixXd(m.nv, m.nv), MatrixXd(m.nv, m.nv)};
  const std::vector<D> q(s.q.begin(), s.q.end()), v(s.v.begin(), s.v.end()), a(s.a.begin(), s.a.end()),
      f(s.f_ext.begin(), s.f_ext.end());
  for (int k = 0; k < m.nv; k++) {
    std::vector<D> u(m.nv, 0.0), q1(m.nq), v1 = v, tau(m.nv);
    u[k].d = 1, v1[k].d = 1;
    integrate(m, q.data(), u.data(), 1.0, q1.data());
    rnea(m, q1.data(), v.data(), a.data(), f.data(), tau.data());
    for (int i = 0; i < m.nv; i++) r.by_q(i, k) = tau[i].d;
    rnea(m, q.data(), v1.data(), a.data(), f.data(), tau.data());
    for (int i = 0; i < m.nv; i++) r.by_qd(i, k) = tau[i].d;
  }
  return r;
}
double scale(const MatrixXd& a) { return 1 + a.cwiseAbs().maxCoeff(); }

TEST(RneaDerivatives, AreThoseOfInverseDynamicsOnDualNumbers) {
  double worst = 0;
  for_random_robots([&](const Case& c) {
    const Derivatives d = analytic(c.model(), c.state), e = by_dual_numbers(c.model(), c.state);
    const double error = std::max((d.by_q - e.by_q).cwiseAbs().maxCoeff() / scale(e.by_q),
                                  (d.by_qd - e.by_qd).cwiseAbs().maxCoeff() / scale(e.by_qd));
    worst = std::max(worst, error);
    EXPECT_LT(error, 1e-12);
  });
  RecordProperty("worst", std::to_string(worst * 1e12) + "e-12");
}

TEST(RneaDerivatives, StayAccurateFarFromTheWorldsOrigin) {
  RandomOptions o;
  o.floating = true, o.roots = 0;
  for (unsigned seed = 1; seed <= 5; seed++) {
    const Robot robot = random_robot(seed, o);
    const Model<double>& m = robot.model;
    const Model<float> mf = cast<float>(m);
    State s = random_state(robot, seed);
    ASSERT_EQ(robot.joint("root"), 1);
    s.q[0] += 1024;
    const std::vector<float> q(s.q.begin(), s.q.end()), v(s.v.begin(), s.v.end()), a(s.a.begin(), s.a.end());
    std::vector<float> by_q(m.nv * m.nv), by_qd(m.nv * m.nv);
    rnea_derivatives(mf, q.data(), v.data(), a.data(), Zeros<float>{}, by_q.data(), by_qd.data());
    const Derivatives d = analytic(m, s, false);
    for (int i = 0; i < m.nv; i++)
      for (int k = 0; k < m.nv; k++) {
        EXPECT_NEAR(by_q[i * m.nv + k], d.by_q(i, k), 2e-5 * scale(d.by_q));
        EXPECT_NEAR(by_qd[i * m.nv + k], d.by_qd(i, k), 2e-5 * scale(d.by_qd));
      }
  }
}

}  // namespace
}  // namespace featherstorm::test_rnea_derivatives
