#include <gtest/gtest.h>

#include "core/hybrid/hybrid_derivatives.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_hybrid_derivatives {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<char> random_joints(const Model<double>& m, unsigned seed) {
  Random random(seed);
  std::vector<char> p(m.nb + 1, 0);
  for (int i = 1; i <= m.nb; i++) p[i] = random.chance(0.5);
  return p;
}
template <class F>
void for_robots(F f, unsigned count) {
  for (unsigned seed = 1; seed <= count; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 1 + static_cast<int>(seed % 6), o.floating = seed % 3 == 0;
    f(Case(random_spec(seed, o), seed));
  }
}
struct Derivatives {
  VectorXd qdd, tau;
  MatrixXd by_q, by_qd, by_x;
};
Derivatives analytic(const Model<double>& m, const std::vector<char>& p, const State& s) {
  const int n = m.nv;
  State in = s;  // what must not be read is poisoned
  for (int k = 0; k < n; k++) (p[m.dof_body[k]] ? in.tau : in.a)[k] = NAN;
  Numbers a(n, NAN), tau(n, NAN), q(n * n, NAN), v(n * n, NAN), x(n * n, NAN);
  hybrid_derivatives(m, p, s.q.data(), s.v.data(), in.a.data(), in.tau.data(), s.f_ext.data(), a.data(), tau.data(),
                     q.data(), v.data(), x.data());
  const auto matrix = [&](const Numbers& x) {
    return MatrixXd(Eigen::Map<const MatrixXd>(x.data(), n, n).transpose());
  };
  return {vector(a), vector(tau), matrix(q), matrix(v), matrix(x)};
}
// y with the dense inverse dynamics and inertia of the oracle. Kim (34)
VectorXd dense_hybrid(const Case& c, const std::vector<char>& p, const Numbers& q, const Numbers& v, const Numbers& x) {
  const Model<double>& m = c.model();
  Numbers a(m.nv, 0.0);
  std::vector<int> free;
  for (int k = 0; k < m.nv; k++) {
    if (p[m.dof_body[k]]) a[k] = x[k];
    else free.push_back(k);
  }
  const VectorXd bias = c.oracle.rnea(q, v, a, c.state.f_ext);
  const MatrixXd H = c.oracle.crba(q);
  const int n1 = static_cast<int>(free.size());
  MatrixXd H11(n1, n1);
  VectorXd b(n1);
  for (int i = 0; i < n1; i++) {
    b(i) = x[free[i]] - bias(free[i]);
    for (int j = 0; j < n1; j++) H11(i, j) = H(free[i], free[j]);
  }
  const VectorXd qdd1 = H11.ldlt().solve(b);
  for (int i = 0; i < n1; i++) a[free[i]] = qdd1(i);
  VectorXd y = c.oracle.rnea(q, v, a, c.state.f_ext);
  for (int i = 0; i < n1; i++) y(free[i]) = qdd1(i);
  return y;
}

TEST(HybridDerivatives, AreThoseOfDifferencesOfTheDenseOracle) {
  for_robots(
      [](const Case& c) {
        const Model<double>& m = c.model();
        const State& s = c.state;
        const std::vector<char> p = random_joints(m, m.nv);
        Numbers x(m.nv);
        for (int k = 0; k < m.nv; k++) x[k] = p[m.dof_body[k]] ? s.a[k] : s.tau[k];
        const Derivatives d = analytic(m, p, s);
        if (condition(c.oracle.crba(s.q)) > 1e5) return;  // differences of accelerations are worth nothing there
        const VectorXd y = dense_hybrid(c, p, s.q, s.v, x);
        for (int k = 0; k < m.nv; k++) {
          const bool given = p[m.dof_body[k]];
          EXPECT_NEAR(given ? d.tau(k) : d.qdd(k), y(k), 1e-9 * (1 + y.cwiseAbs().maxCoeff()));
          EXPECT_EQ(given ? d.qdd(k) : d.tau(k), x[k]);
          Numbers e(m.nv, 0.0);
          e[k] = 1;
          const auto by = [&](auto f) { return derivative(f, 1e-4); };
          const auto expect = [&](const MatrixXd& got, const VectorXd& expected, const char* what) {
            EXPECT_LT((got.col(k) - expected).norm(), 1e-5 * (1 + got.norm())) << what << ", column " << k;
          };
          expect(d.by_q, by([&](double t) { return dense_hybrid(c, p, moved(m, s.q, e, t), s.v, x); }), "q");
          expect(d.by_qd, by([&](double t) { return dense_hybrid(c, p, s.q, sum(s.v, e, t), x); }), "qd");
          expect(d.by_x, by([&](double t) { return dense_hybrid(c, p, s.q, s.v, sum(x, e, t)); }), "x");
        }
      },
      8);
}

}  // namespace
}  // namespace featherstorm::test_hybrid_derivatives
