// RBDA chapter 3: subspaces, one constrained body by three methods, explicit and implicit constraints by three
// equations, the rolling sphere.
#include <gtest/gtest.h>

#include "core/kinematics/integrate.h"
#include "core/reference/loops/constrained_body.h"
#include "core/reference/loops/null_space.h"
#include "tests/support/oracles/random_matrices.h"
#include "tests/support/robots/linkages.h"

namespace featherstorm::test_constrained_body {
namespace {

using namespace testing;

using Eigen::MatrixXd;
using Eigen::VectorXd;

// (3.24)-(3.27), Table 3.1
TEST(Subspace, ComplementsAndDecompositions) {
  for_seeds([](Random& random) {
    for (int n = 0; n <= 6; n++) {
      const MatrixXd S = random_matrix(random, 6, n), T = orthogonal_complement(S), A = random_matrix(random, n, n);
      EXPECT_EQ(T.cols(), 6 - n);
      EXPECT_LE((S.transpose() * T).norm(), 1e-12);
      EXPECT_TRUE(same_subspace(S, S * A));
      EXPECT_TRUE(same_subspace(orthogonal_complement(T), S));
      EXPECT_EQ(same_subspace(S, random_matrix(random, 6, n)), n == 0 || n == 6);
      // the rest of Table 3.1: of subsets, and S1 (+) S2^perp = U exactly if S1^perp (+) S2 = V
      if (n > 1) {
        const MatrixXd part = S.leftCols(n - 1);
        EXPECT_LT((part.transpose() * T).norm(), 1e-12);
        EXPECT_EQ(dimension((MatrixXd(6, T.cols() + 7 - n) << T, orthogonal_complement(part)).finished()), 7 - n);
      }
      // S1 (+) S2^perp = U exactly if S1^T S2 is regular
      const MatrixXd S2 = random_matrix(random, 6, n), P = orthogonal_complement(S2);
      const VectorXd x = random_vector(random), alpha = coordinates_in(S, P, x);
      expect_near(VectorXd(S * alpha.head(n) + P * alpha.tail(6 - n)), x, 1e-8);
    }
    const MatrixXd S = random_matrix(random, 6, 2);
    EXPECT_EQ(dimension((MatrixXd(6, 4) << S, S).finished()), 2);
    EXPECT_THROW(coordinates_in(S, (MatrixXd(6, 4) << S, S).finished(), VectorXd::Ones(6)), std::invalid_argument);
    EXPECT_THROW(coordinates_in(S, S, VectorXd::Ones(6)), std::invalid_argument);
  });
}

// Example 3.1, (3.28)
TEST(ConstrainedBody, ForceSplitsIntoWhatAcceleratesAndWhatTheJointBears) {
  for_seeds([](Random& random) {
    for (int n = 1; n <= 5; n++) {
      const MatrixXd I = random_inertia(random);
      const MatrixXd S = random_matrix(random, 6, n);
      const VectorXd f = random_vector(random);
      const ForceParts parts = decompose_force(I, S, f), other = decompose_force(I, S * random_matrix(random, n, n), f);
      expect_near(VectorXd(parts.active + parts.constraint), f);
      EXPECT_LT((S.transpose() * parts.constraint).norm(), 1e-12);
      EXPECT_TRUE(same_subspace((MatrixXd(6, n + 1) << S, I.inverse() * parts.active).finished(), S));
      expect_near(other.active, parts.active, 1e-8);
      // at rest: a = I^-1 f_a, and the constraint force is -f_c
      const ConstrainedBody body{I, VectorXd::Zero(6), S, VectorXd::Zero(6)};
      const MatrixXd T = orthogonal_complement(S);
      const ConstrainedMotion motion = constrained_motion(body, T, f);
      expect_near(motion.a, VectorXd(I.inverse() * parts.active), 1e-9);
      expect_near(VectorXd(T * motion.lambda), VectorXd(-parts.constraint), 1e-9);
    }
  });
}

// Section 3.6: the three methods
TEST(ConstrainedBody, ThreeMethodsGiveOneMotion) {
  for_seeds([](Random& random) {
    for (int n = 1; n <= 5; n++) {
      const ConstrainedBody body{random_inertia(random), random_vector(random), random_matrix(random, 6, n),
                                 random_vector(random)};
      const MatrixXd& S = body.S;
      const VectorXd f = random_vector(random);
      const ApparentInverse inverse = apparent_inverse(body);
      const MatrixXd T = orthogonal_complement(S);
      const ConstrainedMotion motion = constrained_motion(body, T, f);
      const GeneralisedEquation e = generalised_equation(body);
      const VectorXd qdd = e.H.partialPivLu().solve(S.transpose() * f - e.C);
      expect_near(VectorXd(inverse.Phi * f + inverse.b), motion.a, 1e-9);
      expect_near(VectorXd(S * qdd + body.Sd_qd), motion.a, 1e-9);
      expect_near(VectorXd(body.I * motion.a + body.p), VectorXd(f + T * motion.lambda), 1e-9);
      // Phi: symmetric, range S, null space S^perp
      expect_near(inverse.Phi, MatrixXd(inverse.Phi.transpose()));
      EXPECT_EQ(dimension(inverse.Phi), n);
      EXPECT_TRUE(same_subspace(inverse.Phi, S));
      EXPECT_LT((inverse.Phi * T).norm(), 1e-9);
      // forces that differ by S^perp have one tau and one motion, but other constraint forces
      const VectorXd g = f + T * VectorXd::Ones(6 - n);
      const ConstrainedMotion same = constrained_motion(body, T, g);
      expect_near(same.a, motion.a, 1e-9);
      EXPECT_GT((same.lambda - motion.lambda).norm(), 0.1);
    }
  });
}

// (3.11)-(3.21): implicit constraints by the KKT system, explicit ones by projection, and the dual system (3.19).
TEST(Constraints, ImplicitExplicitAndDualEquationsAgree) {
  for (const Linkage& l : linkages()) {
    SCOPED_TRACE(l.name);
    const Model<double>& m = l.model();
    State s = random_state(l.robot, 3);
    s.v = admissible(m, l.loops, l.q, s.v);
    const ClosedLoopSystem e = closed_loop_system(m, l.loops, l.q.data(), s.v.data(), nullptr, 0);
    const VectorXd tau = vector(s.tau);
    const KktSolution kkt = fd_loops_kkt(e, tau);
    const NullSpace N = null_space(e.K, e.k);
    EXPECT_LT((e.K * N.G).norm(), 1e-9);
    // H_G ydd + C_G = u, (3.20), (3.21)
    const MatrixXd H_G = N.G.transpose() * e.H * N.G;
    const VectorXd ydd = H_G.partialPivLu().solve(N.G.transpose() * (tau - e.C - e.H * N.g));
    expect_near(VectorXd(N.G * ydd + N.g), kkt.qdd, 1e-7);
    // [H^-1 G; G^T 0] [tau_c; -ydd] = [g - H^-1 (tau - C); 0], (3.19)
    const auto n = e.H.rows(), k = N.G.cols();
    MatrixXd D = MatrixXd::Zero(n + k, n + k);
    D.topLeftCorner(n, n) = e.H.inverse(), D.topRightCorner(n, k) = N.G, D.bottomLeftCorner(k, n) = N.G.transpose();
    VectorXd right(n + k);
    right << N.g - e.H.partialPivLu().solve(tau - e.C), VectorXd::Zero(k);
    const VectorXd x = D.partialPivLu().solve(right);
    expect_near(VectorXd(-x.tail(k)), ydd, 1e-6);
    // (3.15), (3.16): tau_c = K^T lambda, which does no work on admissible velocities
    expect_near(VectorXd(x.head(n)), VectorXd(e.K.transpose() * kkt.lambda), 1e-6);
    EXPECT_NEAR(x.head(n).dot(vector(s.v)), 0, 1e-8 * (1 + x.head(n).norm()));
  }
}

// Section 3.4: a sphere that rolls without slipping has 3 freedoms of velocity and 5 of position.
TEST(Constraints, RollingSphereReachesFiveFreedomsWithThree) {
  const double r = 0.3;
  ModelBuilder b("ball");
  b.add_link({"ball", 1}), b.float_root("ball");
  const Model<double> m = b.build().model;
  Random random(4);
  Numbers q{0.1, 0.2, r, 0, 0, 0, 0};
  store_unit_quaternion(random, q.data() + 3);
  // velocity of the free joint when the ball turns with w (world axes): the contact point rests
  const auto rolling = [&](const Numbers& q, const Vec3d& w) {
    const Mat3d R = Eigen::Quaterniond(q[3], q[4], q[5], q[6]).toRotationMatrix();
    const Vec3d v = cross(w, Vec3d(0, 0, r)), body = R.transpose() * w;
    return Numbers{v.x(), v.y(), v.z(), body.x(), body.y(), body.z()};
  };
  MatrixXd reached(6, 6);
  for (int k = 0; k < 3; k++) reached.col(k) = testing::vector(rolling(q, Vec3d::Unit(k)));
  EXPECT_EQ(dimension(reached.leftCols(3)), 3);
  const double h = 1e-3;
  for (int k = 0; k < 3; k++) {  // roll about a, about b, back about a, back about b
    Numbers p = q;
    const Vec3d a = Vec3d::Unit(k), c = Vec3d::Unit((k + 1) % 3);
    for (const Vec3d& w : {a, c, Vec3d(-a), Vec3d(-c)}) p = moved(m, p, rolling(p, w), h);
    Numbers d(6);
    difference(m, q.data(), p.data(), d.data());
    reached.col(3 + k) = testing::vector(d) / (h * h);
  }
  EXPECT_EQ(dimension(reached), 5);
  EXPECT_LT(reached.row(2).cwiseAbs().maxCoeff(), 1e-12);  // never off the plane
}

}  // namespace
}  // namespace featherstorm::test_constrained_body
