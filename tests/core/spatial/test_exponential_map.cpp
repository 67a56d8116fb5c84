#include <gtest/gtest.h>

#include "core/rates/coordinate_rates.h"
#include "core/spatial/exponential_map.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_exponential_map {
namespace {

using namespace testing;
using Matrix3 = Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Matrix3 skew(const Vec3d& v) {
  Matrix3 m;
  m << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return m;
}
Vec3d axis_of(const Matrix3& W) { return 0.5 * Vec3d(W(2, 1) - W(1, 2), W(0, 2) - W(2, 0), W(1, 0) - W(0, 1)); }

TEST(ExponentialMap, JacobianIsTheRateOfTheRotation) {
  Random random(3);
  for (int t = 0; t < 40; t++) {
    const Vec3d q = random.vector() * random.uniform(0, 3.5), u = random.vector();
    const auto R = [&](const Vec3d& q) -> Matrix3 { return Eigen::AngleAxisd(q.norm(), q.normalized()).matrix(); };
    const VectorXd d = derivative([&](double e) {
      const Matrix3 r = R(q + e * u);
      return VectorXd(Eigen::Map<const VectorXd>(r.data(), 9));
    });
    // Rd R^T = [Jhat u]
    const Matrix3 Rd = Eigen::Map<const Matrix3>(d.data()), J = exponential_jacobian(q);
    EXPECT_LT((axis_of(Rd * R(q).transpose()) - J * u).norm(), 1e-8);
    EXPECT_LT((axis_of(R(q).transpose() * Rd) - J.transpose() * u).norm(), 1e-8);
    const double half = std::sin(q.norm() / 2) / (q.norm() / 2);  // 2 (1 - cos) / th^2 without the difference
    EXPECT_NEAR(J.determinant(), half * half, 1e-12);
    EXPECT_LT((J * exponential_jacobian_inverse(q) - Matrix3::Identity()).norm(), 1e-12 * J.inverse().norm());
    // the other form of (54): Jhat = R (1 - (1 - cos)/th^2 [q] + (th - sin)/th^3 [q]^2)
    const double th = q.norm();
    const Matrix3 other = R(q) * (Matrix3::Identity() - (1 - std::cos(th)) / (th * th) * skew(q) +
                                  (th - std::sin(th)) / (th * th * th) * skew(q) * skew(q));
    EXPECT_LT((J - other).norm(), 1e-9);
  }
}

template <class T>
double worst_quotient() {
  // against long double where the formulae lose nothing, and series of more terms below
  double worst = 0;
  for (double th = 1e-6; th < 3.2; th *= 1.07) {
    const T x = static_cast<T>(th);
    const long double t = x, s = static_cast<long double>(x * x);
    long double a = 0, b = 0, term = 1;
    if (t > 0.8L) {
      a = (t - std::sin(t)) / (t * t * t);
      b = (1 - t / 2 * std::cos(t / 2) / std::sin(t / 2)) / (t * t);
    } else {
      // sum (-1)^k s^k / (2k + 3)!, and the cotangent's quotient from sum-of-poles: sum 2 / ((2 pi n)^2 - s)
      for (int k = 0; k < 12; k++) a += (term /= (k ? (2 * k + 2) * (2 * k + 3) : 6)) * (k % 2 ? -1 : 1), term *= s;
      const long double pi = 3.14159265358979323846264338327950288L;
      for (int n = 1; n < 20000; n++) b += 2 / (4 * pi * pi * n * n - s);
      b += (1 / 19999.5L - 1 / (12 * 19999.5L * 19999.5L * 19999.5L)) / (2 * pi * pi);
    }
    worst = std::max<double>(worst, std::abs(exponential_sine_quotient(x * x) / a - 1));
    worst = std::max<double>(worst, std::abs(exponential_cotangent_quotient(x * x) / b - 1));
  }
  return worst;
}
TEST(ExponentialMap, LosesNoDigitsAtSmallAngles) {
  EXPECT_LT(worst_quotient<double>(), 100 * std::numeric_limits<double>::epsilon());
  EXPECT_LT(worst_quotient<float>(), 100 * std::numeric_limits<float>::epsilon());
}

TEST(ExponentialMap, IsKeptWithinHalfATurn) {
  // q (1 - 2 pi / theta) is the same rotation, Liu and Jain's remedy for the singularity at a full turn
  Random random(8);
  for (const double th : {3.2, 4.5, 6.2}) {
    const Vec3d q = random.vector().normalized() * th, shorter = quaternion_log(quaternion_exp(q));
    EXPECT_LT((shorter - q * (1 - 2 * M_PI / th)).norm(), 1e-14);
    EXPECT_LT((matrix(quaternion_exp(q)) - matrix(quaternion_exp(shorter))).norm(), 1e-14);
  }
}

TEST(CoordinateRates, AreTheDerivativeOfTheConfiguration) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.floating = seed % 2 == 0;
    const Robot robot = random_robot(seed, o);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    Numbers qdot(m.nq, NAN), Gamma(m.nq * m.nv, NAN);
    coordinate_rates(m, s.q.data(), s.v.data(), qdot.data());
    coordinate_map(m, s.q.data(), Gamma.data());
    const VectorXd expected = derivative([&](double t) { return VectorXd(vector(moved(m, s.q, s.v, t))); });
    EXPECT_LT((vector(qdot) - expected).norm(), 1e-8 * (1 + expected.norm()));
    const MatrixXd G = Eigen::Map<const MatrixXd>(Gamma.data(), m.nv, m.nq).transpose();
    EXPECT_LT((G * vector(s.v) - vector(qdot)).norm(), 1e-13 * (1 + expected.norm()));
    for (int i = 1; i <= m.nb; i++) {
      const auto& b = m.body[i];
      if (b.type == JointType::BallExp && !b.reversed) {
        // dq/dt = Jhat^-T w with w in the child's axes
        const Vec3d q(s.q[b.q], s.q[b.q + 1], s.q[b.q + 2]), w(s.v[b.v], s.v[b.v + 1], s.v[b.v + 2]);
        const Vec3d d(qdot[b.q], qdot[b.q + 1], qdot[b.q + 2]);
        EXPECT_LT((d - exponential_jacobian_inverse(q).transpose() * w).norm(), 1e-12);
      }
      if (b.type == JointType::Ball) {
        // 1/2 p (0; w)
        const Eigen::Quaterniond p(s.q[b.q], s.q[b.q + 1], s.q[b.q + 2], s.q[b.q + 3]);
        const Eigen::Quaterniond w(0, s.v[b.v], s.v[b.v + 1], s.v[b.v + 2]), d = p * w;
        EXPECT_NEAR(qdot[b.q], 0.5 * d.w(), 1e-14);
        EXPECT_NEAR(qdot[b.q + 3], 0.5 * d.z(), 1e-14);
      }
    }
  }
}

}  // namespace
}  // namespace featherstorm::test_exponential_map
