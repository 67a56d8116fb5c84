#include <gtest/gtest.h>

#include "core/rates/rates.h"

#include "core/derivatives/rnea_second_derivatives.h"
#include "core/rates/crba_rate.h"
#include "tests/support/oracles/coriolis.h"
#include "tests/support/oracles/lagrange.h"

namespace featherstorm::test_rates {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

TEST(Rates, AreDerivativesAlongTheMotion) {
  for_random_robots(
      [](const Case& c) {
        const Model<double>& m = c.model();
        const State& s = c.state;
        Numbers gd(m.nv, NAN), Cd(m.nv * m.nv, NAN);
        gravity_torques_rate(m, s.q.data(), s.v.data(), gd.data());
        const Numbers rest(m.nv, 0.0);
        const VectorXd expected =
            derivative([&](double t) { return c.oracle.rnea(moved(m, s.q, s.v, t), rest, rest, {}); });
        EXPECT_LT((vector(gd) - expected).norm(), 1e-8 * (1 + expected.norm()));
        for_every_form([&](auto form) {
          coriolis_matrix_rate<form()>(m, s.q.data(), s.v.data(), s.v.data(), s.a.data(), Cd.data());
          const VectorXd d = rate(m, s.q, s.v, s.a, [&](const Numbers& q, const Numbers& v) {
            const MatrixXd C = coriolis<form()>(m, q, v);
            return VectorXd(Eigen::Map<const VectorXd>(C.data(), C.size()));
          });
          const MatrixXd D = Eigen::Map<const MatrixXd>(d.data(), m.nv, m.nv);
          EXPECT_LT(largest_entry(square(Cd, m.nv) - D), 1e-6 * (1 + largest_entry(D)));
        });
        // Jd qd is the acceleration of the frame at qdd = 0
        Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> Jd(6, m.nv);
        Numbers a(6);
        jacobian_rate(m, s.q.data(), s.v.data(), m.nf - 1, Jd.data());
        jdot_v(m, s.q.data(), s.v.data(), m.nf - 1, a.data());
        EXPECT_LT((Jd * vector(s.v) - vector(a)).norm(), 1e-11 * scale_of(a));
      },
      20);
}

using Rows = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;
Rows jacobian_rate_of(const Model<double>& m, const Numbers& q, const Numbers& u) {
  Rows Jd = Rows::Constant(6, m.nv, NAN);
  jacobian_rate(m, q.data(), u.data(), m.nf - 1, Jd.data());
  return Jd;
}
VectorXd flat(const MatrixXd& a) { return Eigen::Map<const VectorXd>(a.data(), a.size()); }
Numbers unit(int n, int k) {
  Numbers e(n, 0.0);
  e[k] = 1;
  return e;
}

TEST(JacobianRate, AndItsDerivativesAreThoseOfDifferences) {
  for (unsigned seed = 1; seed <= 15; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case c(random_spec(seed), seed);
    const Model<double>& m = c.model();
    const State& s = c.state;
    const VectorXd Jd = derivative([&](double t) {
      Rows J(6, m.nv);
      const Numbers q = moved(m, s.q, s.v, t);
      jacobian(m, q.data(), m.nf - 1, J.data());
      return flat(J);
    });
    EXPECT_LT((flat(jacobian_rate_of(m, s.q, s.v)) - Jd).norm(), 1e-8 * (1 + Jd.norm()));
    Rows Jdd = Rows::Constant(6, m.nv, NAN);
    jacobian_second_rate(m, s.q.data(), s.v.data(), s.v.data(), s.a.data(), m.nf - 1, Jdd.data());
    const VectorXd d =
        rate(m, s.q, s.v, s.a, [&](const Numbers& q, const Numbers& v) { return flat(jacobian_rate_of(m, q, v)); });
    EXPECT_LT((flat(Jdd) - d).norm(), 1e-6 * (1 + d.norm()));
    // dJd/dqd_k = dJ/dq_k. Garofalo et al. (32)
    const Numbers rest(m.nv, 0.0);
    for (int k = 0; k < m.nv; k++) {
      const Numbers e = unit(m.nv, k);
      jacobian_second_rate(m, s.q.data(), s.v.data(), rest.data(), e.data(), m.nf - 1, Jdd.data());
      EXPECT_LT((Jdd - jacobian_rate_of(m, s.q, e)).norm(), 1e-12 * (1 + Jdd.norm()));
    }
  }
}

TEST(SecondDerivatives, OfInverseDynamicsAreThoseOfDifferences) {
  for (unsigned seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 5, o.floating = seed % 3 == 0;
    const Case c(random_spec(seed, o), seed);
    const Model<double>& m = c.model();
    const State& s = c.state;
    const int n = m.nv * m.nv;
    // a direction in position, velocity and acceleration at once, and external forces that stay
    const Numbers u = random_state(m, seed + 50).v, a = random_state(m, seed + 60).v, b = random_state(m, seed + 70).v;
    Numbers got(2 * n, NAN);
    rnea_second_derivatives(m, s.q.data(), s.v.data(), s.a.data(), s.f_ext.data(), u.data(), a.data(), b.data(),
                            got.data(), got.data() + n);
    const VectorXd expected = derivative([&](double t) {
      Numbers d(2 * n);
      const Numbers q = moved(m, s.q, u, t), v = sum(s.v, a, t), w = sum(s.a, b, t);
      rnea_derivatives(m, q.data(), v.data(), w.data(), s.f_ext.data(), d.data(), d.data() + n);
      return VectorXd(vector(d));
    });
    EXPECT_LT((vector(got) - expected).cwiseAbs().maxCoeff(), 1e-7 * (1 + expected.cwiseAbs().maxCoeff()));
    rnea_second_derivatives(m, s.q.data(), s.v.data(), s.a.data(), Zeros<double>{}, u.data(), a.data(), b.data(),
                            got.data(), got.data() + n);
    // d2tau/dqd2 is symmetric: twice the Christoffel symbols where velocities are derivatives
    const Numbers rest(m.nv, 0.0);
    std::vector<MatrixXd> hessian;
    for (int k = 0; k < m.nv; k++) {
      rnea_second_derivatives(m, s.q.data(), s.v.data(), s.a.data(), Zeros<double>{}, rest.data(), unit(m.nv, k).data(),
                              rest.data(), got.data(), got.data() + n);
      hessian.push_back(square(Numbers(got.begin() + n, got.end()), m.nv));
    }
    for (int k = 0; k < m.nv; k++)
      for (int l = 0; l < m.nv; l++)
        EXPECT_LT((hessian[k].col(l) - hessian[l].col(k)).norm(), 1e-12 * (1 + hessian[k].norm()));
  }
}

}  // namespace
}  // namespace featherstorm::test_rates
