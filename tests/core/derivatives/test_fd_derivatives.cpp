#include <gtest/gtest.h>

#include "core/derivatives/fd_derivatives.h"

#include "core/derivatives/fd_linearization.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_fd_derivatives {
namespace {

using namespace testing;
using Eigen::MatrixXd;

struct Derivatives {
  Eigen::VectorXd qdd;
  MatrixXd by_q, by_qd, by_tau;
};
Derivatives analytic(const Model<double>& m, const State& s) {
  const int n = m.nv;
  Numbers a(n, NAN), q(n * n, NAN), v(n * n, NAN), tau(n * n, NAN);
  fd_derivatives(m, s.q.data(), s.v.data(), s.tau.data(), s.f_ext.data(), a.data(), q.data(), v.data(), tau.data());
  const auto matrix = [&](const Numbers& x) {
    return MatrixXd(Eigen::Map<const MatrixXd>(x.data(), n, n).transpose());
  };
  return {vector(a), matrix(q), matrix(v), matrix(tau)};
}

TEST(FdDerivatives, AreThoseOfArticulatedBodiesOnDualNumbers) {
  using D = Dual<double>;
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    const State& s = c.state;
    const Derivatives d = analytic(m, s);
    const MatrixXd H = c.oracle.crba(s.q);
    const std::vector<D> q(s.q.begin(), s.q.end()), v(s.v.begin(), s.v.end()), tau(s.tau.begin(), s.tau.end()),
        f(s.f_ext.begin(), s.f_ext.end());
    EXPECT_LT(force_error(c, d.qdd, call_articulated_bodies(m, s.q, s.v, s.tau, s.f_ext)), 1e-12);
    // compared as joint forces, H d
    const double tolerance = 1e-13 * condition(H);
    const double scale_q = 1 + (H * d.by_q).cwiseAbs().maxCoeff(), scale_v = 1 + (H * d.by_qd).cwiseAbs().maxCoeff();
    for (int k = 0; k < m.nv; k++) {
      std::vector<D> u(m.nv, 0.0), q1(m.nq), v1 = v, tau1 = tau, qdd(m.nv);
      u[k].d = 1, v1[k].d = 1, tau1[k].d = 1;
      integrate(m, q.data(), u.data(), 1.0, q1.data());
      const auto error = [&](const MatrixXd& got, double scale) {
        Eigen::VectorXd e(m.nv);
        for (int i = 0; i < m.nv; i++) e(i) = got(i, k) - qdd[i].d;
        return (H * e).cwiseAbs().maxCoeff() / scale;
      };
      articulated_bodies(m, q1.data(), v.data(), tau.data(), f.data(), qdd.data());
      EXPECT_LT(error(d.by_q, scale_q), tolerance) << "column " << k;
      articulated_bodies(m, q.data(), v1.data(), tau.data(), f.data(), qdd.data());
      EXPECT_LT(error(d.by_qd, scale_v), tolerance) << "column " << k;
      articulated_bodies(m, q.data(), v.data(), tau1.data(), f.data(), qdd.data());
      EXPECT_LT(error(d.by_tau, 1), tolerance) << "column " << k;
    }
  });
}

TEST(FdLinearization, PredictsHowNeighbouringMotionsPart) {
  for_random_robots(
      [](const Case& c) {
        const Model<double>& m = c.model();
        const State& s = c.state;
        const int n = m.nv;
        const MatrixXd H = c.oracle.crba(s.q);
        if (condition(H) > 1e4) return;
        using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        Rows A = Rows::Constant(2 * n, 2 * n, NAN), B = Rows::Constant(2 * n, n, NAN);
        Numbers qdd(n);
        fd_linearization(m, s.q.data(), s.v.data(), s.tau.data(), s.f_ext.data(), qdd.data(), A.data(), B.data());
        // another motion a step e (dq, dqd) away; the rate at which the step between the two grows
        const Numbers dq = random_state(m, 5).v, dqd = random_state(m, 6).v;
        const auto growth = [&](double e) {
          const Numbers q1 = moved(m, s.q, dq, e), v1 = sum(s.v, dqd, e);
          return derivative([&](double t) {
            const Numbers a = moved(m, s.q, s.v, t), b = moved(m, q1, v1, t);
            Numbers d(n);
            difference(m, a.data(), b.data(), d.data());
            return Eigen::VectorXd(vector(d));
          });
        };
        Eigen::VectorXd x(2 * n);
        x << vector(dq), vector(dqd);
        const Eigen::VectorXd expected = derivative([&](double e) { return growth(e); }, 1e-2), got = (A * x).head(n);
        EXPECT_LT((got - expected).norm(), 1e-5 * (1 + expected.norm()));
        const Eigen::VectorXd acceleration = derivative(
            [&](double e) { return c.oracle.aba(moved(m, s.q, dq, e), sum(s.v, dqd, e), sum(s.tau, dqd, e), s.f_ext); },
            1e-4);
        const Eigen::VectorXd bottom = (A * x + B * vector(dqd)).tail(n);
        EXPECT_LT((bottom - acceleration).norm(), 1e-6 * condition(H) * (1 + acceleration.norm()));
        EXPECT_EQ(B.topRows(n).norm(), 0);
      },
      30);
}

}  // namespace
}  // namespace featherstorm::test_fd_derivatives
