#include <gtest/gtest.h>

#include "core/rates/state_tensors.h"
#include "tests/support/oracles/coriolis.h"
#include "tests/support/oracles/lagrange.h"

namespace featherstorm::test_state_tensors {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

template <class F>
void for_robots(F f, const std::vector<JointType>& types = all_joint_types) {
  for (unsigned seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 1 + static_cast<int>(seed % 6), o.floating = seed % 4 == 0 && types == all_joint_types, o.types = types;
    f(Case(random_spec(seed, o), seed));
  }
}
VectorXd flat(const MatrixXd& a) { return Eigen::Map<const VectorXd>(a.data(), a.size()); }
// d/de of a matrix along coordinate k
template <class F>
MatrixXd along_coordinate(const Case& c, int k, F f) {
  const int n = c.model().nv;
  Numbers e(n, 0.0);
  e[k] = 1;
  const VectorXd d = derivative([&](double t) { return flat(f(moved(c.model(), c.state.q, e, t))); });
  return Eigen::Map<const MatrixXd>(d.data(), n, n);
}

TEST(InertiaDerivatives, AndThoseOfTheInverseAreThoseOfTheDenseInertia) {
  for_robots([](const Case& c) {
    const Model<double>& m = c.model();
    const int n = m.nv;
    Numbers dH(n * n * n, NAN), Hinv(n * n, NAN), dHinv(n * n * n, NAN);
    inertia_derivatives(m, c.state.q.data(), dH.data());
    inverse_inertia_derivatives(m, c.state.q.data(), Hinv.data(), dHinv.data());
    const MatrixXd H = c.oracle.crba(c.state.q), inverse = H.inverse();
    const double kappa = condition(H);
    EXPECT_LT((square(Hinv, n) - inverse).norm(), 1e-14 * kappa * inverse.norm());
    for (int k = 0; k < n; k++) {
      const MatrixXd d = along_coordinate(c, k, [&](const Numbers& q) { return c.oracle.crba(q); });
      EXPECT_LT((square(dH, n, k) - d).norm(), 1e-8 * (1 + d.norm()));
      if (kappa > 1e4) continue;  // differences of the inverse are worth nothing there
      const MatrixXd e = along_coordinate(c, k, [&](const Numbers& q) { return MatrixXd(c.oracle.crba(q).inverse()); });
      EXPECT_LT((square(dHinv, n, k) - e).norm(), 1e-6 * (1 + e.norm()));
    }
  });
}

// along any direction: the tensor contracted, and -H^-1 Hd H^-1 of the dense oracle's difference
TEST(InverseInertiaRate, IsTheContractionOfTheTensor) {
  for_robots([](const Case& c) {
    const Model<double>& m = c.model();
    const int n = m.nv;
    Numbers Hinv(n * n), dHinv(n * n * n), again(n * n, NAN), rate(n * n, NAN);
    inverse_inertia_derivatives(m, c.state.q.data(), Hinv.data(), dHinv.data());
    inverse_inertia_rate(m, c.state.q.data(), c.state.v.data(), again.data(), rate.data());
    MatrixXd expected = MatrixXd::Zero(n, n);
    for (int k = 0; k < n; k++) expected += square(dHinv, n, k) * c.state.v[k];
    EXPECT_EQ(Hinv, again);
    EXPECT_LT((square(rate, n) - expected).norm(), 1e-10 * (1 + expected.norm()));
    const MatrixXd inverse = c.oracle.crba(c.state.q).inverse();
    const VectorXd d = derivative([&](double t) { return flat(c.oracle.crba(moved(m, c.state.q, c.state.v, t))); });
    const MatrixXd closed = -inverse * Eigen::Map<const MatrixXd>(d.data(), n, n) * inverse;
    if (condition(c.oracle.crba(c.state.q)) > 1e4) return;  // differences of the inverse are worth nothing there
    EXPECT_LT((square(rate, n) - closed).norm(), 1e-6 * (1 + closed.norm()));
  });
}

TEST(CoriolisDerivatives, AreThoseOfDifferencesInEveryForm) {
  for_robots([](const Case& c) {
    const Model<double>& m = c.model();
    const State& s = c.state;
    const int n = m.nv;
    for_every_form([&](auto form) {
      Numbers by_q(n * n * n, NAN), by_qd(n * n * n, NAN);
      coriolis_derivatives<form()>(m, s.q.data(), s.v.data(), by_q.data(), by_qd.data());
      const auto at = [&](const Numbers& q) { return coriolis<form()>(m, q, s.v); };
      MatrixXd sum = MatrixXd::Zero(n, n);
      for (int k = 0; k < n; k++) {
        const MatrixXd d = along_coordinate(c, k, at);
        EXPECT_LT((square(by_q, n, k) - d).norm(), 1e-6 * (1 + d.norm()));
        sum += square(by_qd, n, k) * s.v[k];
      }
      // C is linear in qd
      const MatrixXd expected = at(s.q);
      EXPECT_LT((sum - expected).norm(), 1e-12 * (1 + expected.norm()));
    });
  });
}

TEST(ChristoffelSymbols, AreThoseOfLagrangesEquation) {
  for_robots(
      [](const Case& c) {
        const Model<double>& m = c.model();
        const int n = m.nv;
        const Lagrange L(c);
        Numbers G(n * n * n, NAN);
        christoffel_symbols(m, c.state.q.data(), G.data());
        const VectorXd qd = vector(c.state.v);
        VectorXd force = VectorXd::Zero(n);
        double scale = 1;
        for (const MatrixXd& d : L.dH) scale = std::max(scale, d.cwiseAbs().maxCoeff());
        for (int i = 0; i < n; i++)
          for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) {
              const double g = G[(i * n + j) * n + k];
              EXPECT_NEAR(g, L.christoffel(i, j, k), 1e-8 * scale);
              EXPECT_NEAR(g, G[(i * n + k) * n + j], 1e-13 * scale);  // symmetric in j and k
              force(i) += g * qd(j) * qd(k);
            }
        const Numbers rest(n, 0.0);
        const VectorXd expected = c.oracle.rnea(c.state.q, c.state.v, rest, {}, false);
        EXPECT_LT((force - expected).norm(), 1e-11 * (1 + expected.norm()));
      },
      coordinate_joints);
}

}  // namespace
}  // namespace featherstorm::test_state_tensors
