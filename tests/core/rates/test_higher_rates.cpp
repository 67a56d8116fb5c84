#include <gtest/gtest.h>

#include "core/rates/elastic_joints.h"
#include "core/rates/higher_rates.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/oracles/coriolis.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_higher_rates {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Joints of the library whose coordinates are plain numbers, so that a motion may be a polynomial in t.
const std::vector<JointType> plain = {JointType::Revolute,  JointType::Prismatic, JointType::Helical,
                                      JointType::Universal, JointType::BallYpr,   JointType::Cylindrical};
// q(t) with its derivatives d[0..4] at t = 0
struct Motion5 {
  Numbers d[5];
  explicit Motion5(const State& s, const Model<double>& m) {
    d[0] = s.q, d[1] = s.v, d[2] = s.a;
    d[3] = random_state(m, 77).v, d[4] = random_state(m, 78).a;
  }
  // derivative number k at time t
  Numbers at(int k, double t) const {
    Numbers r(d[k].size(), 0.0);
    double f = 1;
    for (int j = k; j < 5; j++) {
      for (std::size_t i = 0; i < r.size(); i++) r[i] += d[j][i] * f;
      f *= t / (j - k + 1);
    }
    return r;
  }
};
template <class F>
void for_motions(const std::vector<JointType>& types, F f) {
  for (unsigned seed = 1; seed <= 8; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 1 + static_cast<int>(seed % 5), o.types = types;
    const Case c(random_spec(seed, o), seed);
    f(c, Motion5(c.state, c.model()));
  }
}

TEST(HigherRates, MakeUpTheRatesOfInverseDynamics) {
  for_motions(plain, [](const Case& c, const Motion5& x) {
    const Model<double>& m = c.model();
    const int n = m.nv;
    const double *q = x.d[0].data(), *v = x.d[1].data(), *a = x.d[2].data(), *j = x.d[3].data(), *s = x.d[4].data();
    Numbers tau(n, NAN), taud(n, NAN), taudd(n, NAN);
    rnea_second_rate(m, q, v, a, j, s, tau.data(), taud.data(), taudd.data());
    // differences of the dense oracle along the motion
    const auto torque = [&](double t) { return VectorXd(c.oracle.rnea(x.at(0, t), x.at(1, t), x.at(2, t), {})); };
    const VectorXd first = derivative(torque), second = (4 * (torque(1e-3) - 2 * torque(0) + torque(-1e-3)) / 1e-6 -
                                                         (torque(2e-3) - 2 * torque(0) + torque(-2e-3)) / 4e-6) /
                                                        3;
    EXPECT_LT((vector(tau) - torque(0)).norm(), 1e-12 * (1 + torque(0).norm()));
    EXPECT_LT((vector(taud) - first).norm(), 1e-6 * (1 + first.norm() + second.norm()));
    EXPECT_LT((vector(taudd) - second).norm(), 1e-4 * (1 + second.norm() + first.norm()));
    // tau = H qdd + C qd + g differentiated twice, with a C of each form
    Numbers H(m.nh), Hd(m.nh), Hdd(m.nh), g(n), gd(n), gdd(n);
    crba(m, q, H.data()), crba_rate(m, q, v, Hd.data()), crba_second_rate(m, q, v, a, Hdd.data());
    gravity_torques_rate(m, q, v, gd.data()), gravity_torques_second_rate(m, q, v, a, gdd.data());
    const MatrixXd M = dense::unpacked(m, H), Md = dense::unpacked(m, Hd), Mdd = dense::unpacked(m, Hdd);
    const auto check = [&](auto form) {
      Numbers C0(n * n), C1(n * n), C2(n * n);
      coriolis_matrix<form()>(m, q, v, C0.data());
      coriolis_matrix_rate<form()>(m, q, v, v, a, C1.data());
      coriolis_matrix_second_rate<form()>(m, q, v, a, j, C2.data());
      const MatrixXd C = square(C0, n), Cd = square(C1, n), Cdd = square(C2, n);
      const VectorXd r1 = M * vector(x.d[3]) + (Md + C) * vector(x.d[2]) + Cd * vector(x.d[1]) + vector(gd);
      const VectorXd r2 = M * vector(x.d[4]) + (2 * Md + C) * vector(x.d[3]) + (Mdd + 2 * Cd) * vector(x.d[2]) +
                          Cdd * vector(x.d[1]) + vector(gdd);
      EXPECT_LT((r1 - vector(taud)).norm(), 1e-11 * (1 + r1.norm()));
      EXPECT_LT((r2 - vector(taudd)).norm(), 1e-11 * (1 + r2.norm() + r1.norm()));
      // passivity differentiated: Cd + Cd^T = Hdd
      EXPECT_LT((Cd + Cd.transpose() - Mdd).norm(), 1e-11 * (1 + Mdd.norm()));
    };
    for_every_form(check);
  });
}

TEST(HigherRates, AreRatesOfTheFirstOnesForJointsOfEveryType) {
  // q(t + h) along the flow: the rate of the first rate
  for_motions(all_joint_types, [](const Case& c, const Motion5& x) {
    const Model<double>& m = c.model();
    const int n = m.nv;
    const State& s = c.state;
    const double *q = s.q.data(), *v = s.v.data(), *a = s.a.data(), *j = x.d[3].data();
    for_every_form([&](auto form) {
      Numbers got(m.nh + n + n * n, NAN);
      crba_second_rate(m, q, v, a, got.data());
      gravity_torques_second_rate(m, q, v, a, got.data() + m.nh);
      coriolis_matrix_second_rate<form()>(m, q, v, a, j, got.data() + m.nh + n);
      const VectorXd expected = derivative([&](double t) {
        const Numbers qt = moved(m, s.q, sum(s.v, s.a, t / 2), t), vt = sum(s.v, s.a, t), at = sum(s.a, x.d[3], t);
        Numbers r(m.nh + n + n * n);
        crba_rate(m, qt.data(), vt.data(), r.data());
        gravity_torques_rate(m, qt.data(), vt.data(), r.data() + m.nh);
        coriolis_matrix_rate<form()>(m, qt.data(), vt.data(), vt.data(), at.data(), r.data() + m.nh + n);
        return VectorXd(vector(r));
      });
      EXPECT_LT((vector(got) - expected).norm(), 1e-6 * (1 + expected.norm()));
    });
  });
}

TEST(ElasticFeedforward, DrivesTheLinksAlongTheMotion) {
  RandomOptions o;
  o.bodies = 2, o.types = {JointType::Revolute}, o.armature = 0, o.roots = 0;
  const Case c(random_spec(5, o), 5);
  const Model<double>& m = c.model();
  const int n = m.nv;
  const Motion5 x(c.state, m);
  Numbers K(n), B(n);
  for (int k = 0; k < n; k++) K[k] = 300 + 100 * k, B[k] = 0.2 + 0.1 * k;
  struct Command { Numbers deflection, thetad, tau_m; };
  const auto command = [&](double t) {
    Command u{Numbers(n), Numbers(n), Numbers(n)};
    elastic_feedforward(m, x.at(0, t).data(), x.at(1, t).data(), x.at(2, t).data(), x.at(3, t).data(),
                        x.at(4, t).data(), K.data(), B.data(), u.deflection.data(), u.thetad.data(), u.tau_m.data());
    return u;
  };
  // links and motors, (q, qd, theta, thetad), by Runge-Kutta with the dense oracle's forward dynamics
  const Command start = command(0);
  VectorXd y(4 * n);
  y << vector(x.d[0]), vector(x.d[1]), vector(x.d[0]) + vector(start.deflection), vector(start.thetad);
  const auto f = [&](double t, const VectorXd& y) {
    const VectorXd spring = vector(K).cwiseProduct(y.segment(2 * n, n) - y.head(n));
    const Numbers q(y.data(), y.data() + n), v(y.data() + n, y.data() + 2 * n), tau(spring.data(), spring.data() + n);
    VectorXd r(4 * n);
    r << y.segment(n, n), c.oracle.aba(q, v, tau, {}), y.tail(n),
        (vector(command(t).tau_m) - spring).cwiseQuotient(vector(B));
    return r;
  };
  const double h = 5e-4;
  for (int i = 0; i < 400; i++) {
    const double t = i * h;
    const VectorXd k1 = f(t, y), k2 = f(t + h / 2, y + h / 2 * k1), k3 = f(t + h / 2, y + h / 2 * k2),
                   k4 = f(t + h, y + h * k3);
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  EXPECT_LT((y.head(n) - vector(x.at(0, 0.2))).norm(), 1e-7);
  EXPECT_GT((y.head(n) - vector(x.d[0])).norm(), 0.05);
}

}  // namespace
}  // namespace featherstorm::test_higher_rates
