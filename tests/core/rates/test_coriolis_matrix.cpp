#include <gtest/gtest.h>

#include "core/rates/coriolis_matrix.h"

#include "core/rates/crba_rate.h"
#include "tests/support/oracles/coriolis.h"
#include "tests/support/oracles/lagrange.h"

namespace featherstorm::test_coriolis_matrix {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd inertia_rate_of(const Model<double>& m, const Numbers& q, const Numbers& v) {
  Numbers Hd(m.nh, NAN);
  crba_rate(m, q.data(), v.data(), Hd.data());
  return dense::unpacked(m, Hd);
}

TEST(CoriolisMatrix, TimesVelocityIsTheBiasForceInEveryForm) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const Numbers rest(c.model().nv, 0.0);
    const VectorXd bias = c.oracle.rnea(s.q, s.v, rest, {}, false);
    for_every_form([&](auto form) {
      EXPECT_LT(largest_entry(coriolis<form()>(c.model(), s.q, s.v) * vector(s.v) - bias), 1e-12 * (1 + largest(bias)));
    });
  });
}

TEST(CoriolisMatrix, PlusItsTransposeIsTheRateOfTheInertiaInEveryForm) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const MatrixXd Hd = inertia_rate_of(c.model(), s.q, s.v);
    for_every_form([&](auto form) {
      const MatrixXd C = coriolis<form()>(c.model(), s.q, s.v);
      EXPECT_LT(largest_entry(C + C.transpose() - Hd), 1e-12 * (1 + largest_entry(C)));
    });
  });
}

TEST(CoriolisMatrix, IsThatOfTheChristoffelSymbolsWhereVelocitiesAreDerivativesOfCoordinates) {
  RandomOptions o;
  o.types = coordinate_joints;
  double others = 0;
  for (unsigned seed = 1; seed <= 25; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    o.bodies = 1 + static_cast<int>(seed % 7);
    const Case c(random_spec(seed, o), seed);
    const Lagrange lagrange(c);
    const VectorXd qd = vector(c.state.v);
    const MatrixXd C = lagrange.coriolis(qd);
    const double scale = 1 + largest_entry(C);
    EXPECT_LT(largest_entry(coriolis<Coriolis::Christoffel>(c.model(), c.state.q, c.state.v) - C), 1e-8 * scale);
    // the other two are other matrices
    const MatrixXd G = coriolis<Coriolis::BodyFixed>(c.model(), c.state.q, c.state.v),
                   L = coriolis<Coriolis::MassCentre>(c.model(), c.state.q, c.state.v);
    others = std::max(others, std::min({largest_entry(G - C), largest_entry(L - C), largest_entry(L - G)}) / scale);
    // Lagrange's equation as a whole
    const VectorXd tau = c.oracle.rnea(c.state.q, c.state.v, c.state.a, {});
    EXPECT_LT(largest_entry(lagrange.torque(qd, vector(c.state.a)) - tau), 1e-8 * (1 + largest(tau)));
    EXPECT_LT(largest_entry(lagrange.coriolis_force(qd) - C * qd), 1e-8 * (1 + largest_entry(C * qd)));
  }
  EXPECT_GT(others, 0.1);
}

// Jacobians of all links, in link axes at their origins, stacked
MatrixXd link_jacobians(const Case& c, const Numbers& q) {
  const dense::Tree& tree = c.oracle;
  const dense::Pose p = tree.pose(q, Numbers(tree.nv, 0.0));
  MatrixXd J = MatrixXd::Zero(6 * tree.node.size(), tree.nv);
  for (int i = 0; i < static_cast<int>(tree.node.size()); i++) {
    const dense::Node& n = tree.node[i];
    if (n.parent >= 0) J.middleRows(6 * i, 6) = p.X[i] * J.middleRows(6 * n.parent, 6);
    J.block(6 * i, n.v, 6, n.nv) += p.S[i];
  }
  return J;
}
// the same at the mass centres, world axes
MatrixXd mass_centre_jacobians(const Case& c, const Numbers& q) {
  const dense::Pose p = c.oracle.pose(q, Numbers(c.oracle.nv, 0.0));
  MatrixXd J = link_jacobians(c, q);
  for (int i = 0; i < static_cast<int>(c.oracle.node.size()); i++)
    J.middleRows(6 * i, 6) =
        dense::rot(p.T[i].topLeftCorner<3, 3>()) * dense::xlt(c.oracle.node[i].com) * J.middleRows(6 * i, 6).eval();
  return J;
}
template <class F> MatrixXd matrix_rate(const Case& c, const F& f) {
  const MatrixXd J = f(c, c.state.q);
  const VectorXd d = derivative([&](double t) {
    const MatrixXd J = f(c, moved(c.model(), c.state.q, c.state.v, t));
    return VectorXd(Eigen::Map<const VectorXd>(J.data(), J.size()));
  });
  return Eigen::Map<const MatrixXd>(d.data(), J.rows(), J.cols());
}

TEST(CoriolisMatrix, HasTheClosedFormsOfGarofaloAndOfLiuAndJain) {
  for (unsigned seed = 1; seed <= 25; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 1 + static_cast<int>(seed % 7), o.floating = seed % 3 == 0;
    o.fixed = 0;  // a body of the model is one link: Liu and Jain's C depends on what counts as a body
    const Case c(random_spec(seed, o), seed);
    const dense::Pose p = c.oracle.pose(c.state.q, c.state.v);
    const MatrixXd J = link_jacobians(c, c.state.q), Jd = matrix_rate(c, link_jacobians),
                   Jc = mass_centre_jacobians(c, c.state.q), Jcd = matrix_rate(c, mass_centre_jacobians);
    MatrixXd garofalo = MatrixXd::Zero(c.oracle.nv, c.oracle.nv), liu = garofalo;
    for (int i = 0; i < static_cast<int>(c.oracle.node.size()); i++) {
      // sum J^T (Psi J + Lambda Jd), Psi = Lambda adj - adj^T Lambda. Garofalo et al. (6b)
      const dense::Matrix6 I = c.oracle.node[i].I, adj = dense::crm(p.v[i]);
      const auto Ji = J.middleRows(6 * i, 6), Jdi = Jd.middleRows(6 * i, 6);
      garofalo += Ji.transpose() * ((I * adj - adj.transpose() * I) * Ji + I * Jdi);
      // J^T Mc Jd + J^T [w~] Mc J. Liu and Jain (46)
      const Mat3d R = p.T[i].topLeftCorner<3, 3>(), C = dense::skew(c.oracle.node[i].com);
      const double mass = c.oracle.node[i].mass;
      const Mat3d Ic = R * (I.topLeftCorner<3, 3>() - mass * C * C.transpose()) * R.transpose();
      const auto Jw = Jc.middleRows(6 * i, 3), Jv = Jc.middleRows(6 * i + 3, 3);
      liu += Jw.transpose() * (Ic * Jcd.middleRows(6 * i, 3) + dense::skew(R * p.v[i].head<3>()) * Ic * Jw) +
             mass * Jv.transpose() * Jcd.middleRows(6 * i + 3, 3);
    }
    const double scale = 1 + largest_entry(garofalo) + largest_entry(liu);
    const Model<double>& m = c.model();
    EXPECT_LT(largest_entry(coriolis<Coriolis::BodyFixed>(m, c.state.q, c.state.v) - garofalo), 1e-8 * scale);
    EXPECT_LT(largest_entry(coriolis<Coriolis::MassCentre>(m, c.state.q, c.state.v) - liu), 1e-8 * scale);
  }
}

TEST(CrbaRate, IsTheDerivativeOfTheInertia) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    const State& s = c.state;
    const MatrixXd Hd = inertia_rate_of(m, s.q, s.v);
    const VectorXd expected = derivative([&](double t) {
      const MatrixXd H = c.oracle.crba(moved(m, s.q, s.v, t));
      return VectorXd(Eigen::Map<const VectorXd>(H.data(), H.size()));
    });
    EXPECT_LT(largest_entry(Hd - Eigen::Map<const MatrixXd>(expected.data(), m.nv, m.nv)),
              1e-7 * (1 + largest_entry(Hd)));
  });
}

}  // namespace
}  // namespace featherstorm::test_coriolis_matrix
