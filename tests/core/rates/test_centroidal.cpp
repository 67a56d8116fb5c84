#include <gtest/gtest.h>

#include "core/rates/centroidal.h"

#include "core/kinematics/momentum.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_centroidal {
namespace {

using namespace testing;
using Eigen::VectorXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Rows matrix_of(const Model<double>& m, const Numbers& q) {
  Rows A = Rows::Constant(6, m.nv, NAN);
  centroidal_momentum_matrix(m, q.data(), A.data());
  return A;
}

TEST(Centroidal, MatrixTimesVelocityIsTheMomentumAboutTheMassCentre) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    double com[3], com_velocity[3], h[6], h_com[3];
    momentum(m, c.state.q.data(), c.state.v.data(), com, com_velocity, h, h_com);
    const VectorXd hG = matrix_of(m, c.state.q) * vector(c.state.v);
    for (int k = 0; k < 3; k++) {
      EXPECT_NEAR(hG(k), h_com[k], 1e-12 * (1 + hG.norm()));
      EXPECT_NEAR(hG(3 + k), h[3 + k], 1e-12 * (1 + hG.norm()));
    }
    Rows J(3, m.nv);
    com_jacobian(m, c.state.q.data(), J.data());
    const VectorXd v = J * vector(c.state.v);
    for (int k = 0; k < 3; k++) EXPECT_NEAR(v(k), com_velocity[k], 1e-12 * (1 + v.norm()));
    EXPECT_LT((J * total_mass(m) - matrix_of(m, c.state.q).bottomRows(3)).norm(),
              1e-12 * total_mass(m) * (1 + J.norm()));
    // g = -m J^T gravity. Garofalo et al., Remark 3
    const Numbers rest(m.nv, 0.0);
    const VectorXd g = c.oracle.rnea(c.state.q, rest, rest, {});
    EXPECT_LT((J.transpose() * -m.gravity * total_mass(m) - g).norm(), 1e-11 * (1 + g.norm()));
  });
}

TEST(Centroidal, RateIsTheDerivativeOfTheMatrix) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    const State& s = c.state;
    Rows Ad = Rows::Constant(6, m.nv, NAN);
    Numbers Ad_qd(6, NAN);
    centroidal_momentum_rate(m, s.q.data(), s.v.data(), Ad.data(), Ad_qd.data());
    const VectorXd d = derivative([&](double t) {
      const Rows A = matrix_of(m, moved(m, s.q, s.v, t));
      return VectorXd(Eigen::Map<const VectorXd>(A.data(), A.size()));
    });
    EXPECT_LT((Ad - Eigen::Map<const Rows>(d.data(), 6, m.nv)).norm(), 1e-7 * (1 + d.norm()));
    EXPECT_LT((Ad * vector(s.v) - vector(Ad_qd)).norm(), 1e-11 * (1 + vector(Ad_qd).norm()));
  });
}

}  // namespace
}  // namespace featherstorm::test_centroidal
