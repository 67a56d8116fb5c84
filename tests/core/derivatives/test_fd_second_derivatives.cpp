#include <gtest/gtest.h>

#include "core/derivatives/fd_parameter_derivatives.h"
#include "core/derivatives/fd_second_derivatives.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_fd_second_derivatives {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct Direction {
  Numbers u, a, w;
  Direction(const Model<double>& m, unsigned seed)
      : u(random_state(m, seed + 50).v), a(random_state(m, seed + 60).v), w(random_state(m, seed + 70).v) {}
};
Case robot_of(unsigned seed) {
  RandomOptions o;
  o.bodies = 1 + static_cast<int>(seed % 5), o.floating = seed % 3 == 0;
  return Case(random_spec(seed, o), seed);
}
// the three matrices of fd_second_derivatives, one after the other
Numbers second(const Case& c, const Direction& d) {
  const State& s = c.state;
  const int n = c.model().nv * c.model().nv;
  Numbers got(3 * n, NAN);
  fd_second_derivatives(c.model(), s.q.data(), s.v.data(), s.tau.data(), s.f_ext.data(), d.u.data(), d.a.data(),
                        d.w.data(), got.data(), got.data() + n, got.data() + 2 * n);
  return got;
}

TEST(FdSecondDerivatives, AreThoseOfDifferences) {
  for (unsigned seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case c = robot_of(seed);
    const Model<double>& m = c.model();
    const State& s = c.state;
    if (condition(c.oracle.crba(s.q)) > 1e4) continue;
    const Direction d(m, seed);
    const int n = m.nv * m.nv;
    const Numbers got = second(c, d);
    const VectorXd expected = derivative(
        [&](double t) {
          Numbers r(3 * n), qdd(m.nv);
          const Numbers q = moved(m, s.q, d.u, t), v = sum(s.v, d.a, t), tau = sum(s.tau, d.w, t);
          fd_derivatives(m, q.data(), v.data(), tau.data(), s.f_ext.data(), qdd.data(), r.data(), r.data() + n,
                         r.data() + 2 * n);
          return VectorXd(vector(r));
        },
        1e-4);
    EXPECT_LT((vector(got) - expected).norm(), 1e-5 * (1 + expected.norm()));
  }
}

TEST(FdParameterDerivatives, AreThoseOfDifferencesByEachParameter) {
  for (unsigned seed = 1; seed <= 8; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case c = robot_of(seed);
    const Model<double>& m = c.model();
    const State& s = c.state;
    const double kappa = condition(c.oracle.crba(s.q));
    Numbers qdd(m.nv, NAN), D(m.nv * 10 * m.nb, NAN);
    fd_parameter_derivatives(m, s.q.data(), s.v.data(), s.tau.data(), s.f_ext.data(), qdd.data(), D.data());
    EXPECT_LT(force_error(c, qdd, call_articulated_bodies(m, s.q, s.v, s.tau, s.f_ext)), 1e-12);
    if (kappa > 1e4) continue;
    for (int h = 0; h < 10 * m.nb; h++) {
      const VectorXd expected = derivative(
          [&](double t) {
            Model<double> changed = m;
            RigidBodyInertia<double>& I = changed.body[1 + h / 10].I;
            double* const parameter[] = {&I.m,    &I.h(0), &I.h(1), &I.h(2), &I.I.xx,
                                         &I.I.yy, &I.I.zz, &I.I.xy, &I.I.xz, &I.I.yz};
            *parameter[h % 10] += t;
            changed.body[1 + h / 10].second_moments = second_moments(I.I);
            return VectorXd(vector(call_articulated_bodies(changed, s.q, s.v, s.tau, s.f_ext)));
          },
          1e-5);
      VectorXd got(m.nv);
      for (int i = 0; i < m.nv; i++) got(i) = D[i * 10 * m.nb + h];
      EXPECT_LT((got - expected).norm(), 1e-5 * (1 + expected.norm())) << "parameter " << h;
    }
  }
}

}  // namespace
}  // namespace featherstorm::test_fd_second_derivatives
