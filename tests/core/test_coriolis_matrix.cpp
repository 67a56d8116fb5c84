#include "core/coriolis_matrix.h"

#include "core/crba_rate.h"
#include "tests/support/every_scalar.h"
#include "tests/support/lagrange.h"

namespace featherstorm {
namespace {

using namespace testing;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd square(const Numbers& a, int n) { return Eigen::Map<const MatrixXd>(a.data(), n, n).transpose(); }

template <Coriolis form> MatrixXd coriolis(const Model<double>& m, const Numbers& q, const Numbers& v) {
  Numbers C(m.nv * m.nv, NAN);
  coriolis_matrix<form>(m, q.data(), v.data(), C.data());
  return square(C, m.nv);
}
MatrixXd inertia_rate_of(const Model<double>& m, const Numbers& q, const Numbers& v) {
  Numbers Hd(m.nh, NAN);
  crba_rate(m, q.data(), v.data(), Hd.data());
  return dense::unpacked(m, Hd);
}
double largest_entry(const MatrixXd& a) { return a.cwiseAbs().maxCoeff(); }
// f of each form
template <class F> void for_every_form(F f) {
  f(std::integral_constant<Coriolis, Coriolis::Christoffel>{});
  f(std::integral_constant<Coriolis, Coriolis::BodyFixed>{});
  f(std::integral_constant<Coriolis, Coriolis::MassCentre>{});
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

TEST(CoriolisMatrix, IsTheSameForEveryScalar) {
  RandomOptions o;
  for (unsigned seed = 1; seed <= 4; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    o.bodies = 4, o.floating = seed % 2 == 0;
    const Robot robot = random_robot(seed, o);
    const State s = random_state(robot, seed);
    const int n = robot.model.nv;
    expect_every_scalar(robot.model, {s.q, s.v}, 3 * n * n + robot.model.nh, 1e-4,
                        [](const auto& m, const auto& in, auto out) {
                          const int n = m.nv * m.nv;
                          coriolis_matrix(m, in[0], in[1], out);
                          coriolis_matrix<Coriolis::BodyFixed>(m, in[0], in[1], out + n);
                          coriolis_matrix<Coriolis::MassCentre>(m, in[0], in[1], out + 2 * n);
                          crba_rate(m, in[0], in[1], out + 3 * n);
                        });
  }
}

}  // namespace
}  // namespace featherstorm
