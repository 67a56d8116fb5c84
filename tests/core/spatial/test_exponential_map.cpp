#include "core/rates/coordinate_rates.h"
#include "core/spatial/exponential_map.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/every_scalar.h"

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

TEST(ExponentialMap, HasTheNumbersOfItsFormulae) {
  const Vec3d q{0.3, -0.7, 1.1};
  Matrix3 R, J;
  R << 0.269463503028, -0.890225852756, -0.367270134398, 0.709740365269, 0.441354443492, -0.549067271942,
      0.650890186163, -0.112712848844, 0.750758136327;
  J << 0.740970688330, -0.504697824776, -0.250526985311, 0.440702347775, 0.801918761664, -0.246243246516,
      0.351091306313, 0.011593164180, 0.911625293665;
  EXPECT_LT((matrix(quaternion_exp(q)) - R).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((exponential_jacobian(q) - J).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(exponential_jacobian(q).determinant(), 0.859454702319892, 1e-14);
}

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

TEST(ExponentialMap, IsIntegrable) {
  // dj_j/dq_k - dj_k/dq_j = j_k × j_j for the columns of Jhat, Liu and Jain (41); derivatives by dual numbers
  using D = Dual<double>;
  Random random(5);
  for (const double size : {1e-3, 0.4, 0.6, 2.5}) {
    const Vec3d q = random.vector().normalized() * size;
    Mat3<double> J = exponential_jacobian(q), dJ[3];
    for (int k = 0; k < 3; k++) {
      const Vec3<D> qe{D(q(0), k == 0), D(q(1), k == 1), D(q(2), k == 2)};
      const Mat3<D> x = exponential_jacobian(qe);
      for (int i = 0; i < 9; i++) dJ[k](i) = x(i).d;
    }
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) {
        const Vec3d left = Vec3d(dJ[k].col(j)) - Vec3d(dJ[j].col(k)), right = Vec3d(J.col(k)).cross(Vec3d(J.col(j)));
        EXPECT_LT((left - right).norm(), 1e-13) << "size " << size;
      }
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

TEST(EulerAngles, OfLiuAndJainAreAChainThatIsSingularAtAQuarterTurn) {
  // R = Rx Ry Rz, Jhat = [ex, Rx ey, Rx Ry ez], (52); det Jhat = cos q2
  ModelBuilder b;
  const Vec3d axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int i = 0; i < 3; i++) {
    b.add_link({"link" + std::to_string(i), 1, {0, 0, 0}, Vec3d(1, 1, 1).asDiagonal()});
    JointSpec j{"joint" + std::to_string(i), JointType::Revolute, i ? "link" + std::to_string(i - 1) : "",
                "link" + std::to_string(i)};
    j.axis = axes[i];
    b.add_joint(j);
  }
  b.add_frame({"tip", "link2", identity_placement<double>()});
  const Robot r = b.build();
  for (const Numbers& q : {Numbers{0.4, 0.9, -0.3}, Numbers{-1.2, M_PI / 2, 0.5}}) {
    Eigen::Matrix<double, 6, 3, Eigen::RowMajor> J;
    jacobian(r.model, q.data(), r.model.nf - 1, J.data());
    const Matrix3 Rx = Eigen::AngleAxisd(q[0], Vec3d::UnitX()).matrix(),
                  Ry = Eigen::AngleAxisd(q[1], Vec3d::UnitY()).matrix();
    Matrix3 expected;
    expected << Vec3d::UnitX(), Rx.col(1), (Rx * Ry).col(2);
    EXPECT_LT((J.topRows<3>() - expected).norm(), 1e-14);
    EXPECT_NEAR(J.topRows<3>().determinant(), std::cos(q[1]), 1e-14);
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

TEST(CoordinateRates, TakeDerivativesByCoordinatesToThoseAlongVelocities) {
  // (33): dJd/dw = dJ/dq Gamma, by differences of J over single coordinates of plain joints and by the dual text
  RandomOptions o;
  o.types = {JointType::Ball}, o.bodies = 2, o.reversed = 0;
  const Robot robot = random_robot(4, o);
  const Model<double>& m = robot.model;
  const State s = random_state(robot, 4);
  Numbers Gamma(m.nq * m.nv), J(6 * m.nv);
  coordinate_map(m, s.q.data(), Gamma.data());
  for (int k = 0; k < m.nv; k++) {
    VectorXd expected = VectorXd::Zero(6 * m.nv);
    for (int c = 0; c < m.nq; c++)
      expected +=
          Gamma[c * m.nv + k] * derivative([&](double t) {
            Numbers q = s.q;
            q[c] += t;  // Gamma is tangent to the unit sphere, so what normalising would take away is not in the sum
            jacobian(m, q.data(), m.nf - 1, J.data());
            return VectorXd(vector(J));
          });
    Numbers Jd(6 * m.nv);
    jacobian_rate(m, s.q.data(), UnitArray<double>{k}, m.nf - 1, Jd.data());
    EXPECT_LT((vector(Jd) - expected).norm(), 1e-8 * (1 + expected.norm()));
  }
}

TEST(CoordinateRates, AreTheSameForEveryScalar) {
  for (unsigned seed = 1; seed <= 3; seed++) {
    RandomOptions o;
    o.bodies = 4, o.floating = seed == 2;
    const Robot robot = random_robot(seed, o);
    const State s = random_state(robot, seed);
    const int nq = robot.model.nq;
    expect_every_scalar(robot.model, {s.q, s.v}, nq + nq * robot.model.nv + 18, 1e-4,
                        [&](const auto& m, const auto& in, auto out) {
                          using T = std::remove_cvref_t<decltype(out[0])>;
                          coordinate_rates(m, in[0], in[1], out);
                          coordinate_map(m, in[0], out + nq);
                          const Vec3<T> q{T(in[1][0]), T(in[1][0]) * T(0.1), T(0.2)};
                          const auto rest = out + nq + nq * m.nv;
                          const Mat3<T> J = exponential_jacobian(q), Ji = exponential_jacobian_inverse(q);
                          for (int i = 0; i < 9; i++) rest[i] = J(i), rest[9 + i] = Ji(i);
                        });
  }
}

}  // namespace
}  // namespace featherstorm::test_exponential_map
