#include "core/derivatives/fd_parameter_derivatives.h"
#include "core/derivatives/fd_second_derivatives.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/every_scalar.h"

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

TEST(FdSecondDerivatives, DoNotDependOnTheOrderOfDifferentiation) {
  // d2qdd/dq_j dtau_k both ways, d2qdd/dqd_j dtau_k = 0, d2qdd/dqd_j dqd_k symmetric
  for (unsigned seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case c = robot_of(seed);
    const Model<double>& m = c.model();
    const int n = m.nv;
    const double kappa = condition(c.oracle.crba(c.state.q)), tolerance = 1e-14 * kappa * kappa;
    std::vector<Numbers> q, qd, tau;
    Direction d(m, 0);
    for (Numbers* x : {&d.u, &d.a, &d.w}) x->assign(n, 0.0);
    for (int k = 0; k < n; k++) {
      d.u[k] = 1, q.push_back(second(c, d)), d.u[k] = 0;
      d.a[k] = 1, qd.push_back(second(c, d)), d.a[k] = 0;
      d.w[k] = 1, tau.push_back(second(c, d)), d.w[k] = 0;
    }
    // by: 0 q, 1 qd, 2 tau
    const auto at = [&](const Numbers& x, int by, int i, int k) { return x[(by * n + i) * n + k]; };
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
          EXPECT_NEAR(at(q[j], 2, i, k), at(tau[k], 0, i, j), tolerance * (1 + largest(q[j])));
          EXPECT_NEAR(at(qd[j], 1, i, k), at(qd[k], 1, i, j), tolerance * (1 + largest(qd[j])));
          EXPECT_NEAR(at(qd[j], 2, i, k), 0, tolerance * (1 + largest(qd[j])));
          EXPECT_NEAR(at(tau[j], 1, i, k), 0, tolerance * (1 + largest(tau[j])));
        }
  }
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

TEST(FdSecondDerivatives, PredictAccelerationsToThirdOrder) {
  // qdd along a straight line of (q, qd, tau) from the dense oracle: what is left of its Taylor polynomial falls as e^3
  RandomOptions o;
  o.bodies = 4, o.types = {JointType::Revolute, JointType::Prismatic, JointType::Universal}, o.reversed = 0;
  for (unsigned seed = 1; seed <= 4; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case c(random_spec(seed, o), seed);
    const Model<double>& m = c.model();
    const State& s = c.state;
    const Direction d(m, seed);
    const int n = m.nv;
    Numbers qdd(n), Q(n * n), V(n * n), T(n * n);
    fd_derivatives(m, s.q.data(), s.v.data(), s.tau.data(), s.f_ext.data(), qdd.data(), Q.data(), V.data(), T.data());
    const auto times = [&](const Numbers& A, const Numbers& x) {
      return VectorXd(Eigen::Map<const MatrixXd>(A.data(), n, n).transpose() * vector(x));
    };
    const Numbers D = second(c, d);
    const VectorXd first = times(Q, d.u) + times(V, d.a) + times(T, d.w);
    const VectorXd twice = times({D.begin(), D.begin() + n * n}, d.u) +
                           times({D.begin() + n * n, D.begin() + 2 * n * n}, d.a) +
                           times({D.begin() + 2 * n * n, D.end()}, d.w);
    const auto rest = [&](double e) {
      const VectorXd exact = c.oracle.aba(moved(m, s.q, d.u, e), sum(s.v, d.a, e), sum(s.tau, d.w, e), s.f_ext);
      return (exact - vector(qdd) - e * first - 0.5 * e * e * twice).norm();
    };
    const double e = 2e-3, ratio = rest(e) / rest(e / 2);
    EXPECT_NEAR(std::log2(ratio), 3, 0.3);
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

TEST(FdSecondDerivatives, AreTheSameForEveryScalar) {
  for (unsigned seed = 1; seed <= 2; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 3, o.floating = seed % 2 == 0, o.armature = 1;
    const Robot robot = random_robot(seed, o);
    const State s = random_state(robot, seed);
    const int n = robot.model.nv, N = n * n, columns = 10 * robot.model.nb;
    expect_every_scalar(robot.model, {s.q, s.v, s.tau, s.f_ext, s.a}, 3 * N + n + n * columns, 2e-3,
                        [&](const auto& m, const auto& in, auto out) {
                          fd_second_derivatives(m, in[0], in[1], in[2], in[3], in[1], in[4], in[2], out, out + N,
                                                out + 2 * N);
                          fd_parameter_derivatives(m, in[0], in[1], in[2], in[3], out + 3 * N, out + 3 * N + n);
                        });
  }
}

}  // namespace
}  // namespace featherstorm::test_fd_second_derivatives
