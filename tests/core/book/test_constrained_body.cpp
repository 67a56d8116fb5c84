// RBDA chapters 2 and 3: tensors and their transforms, accelerations, subspaces, one constrained body by three methods, explicit
// and implicit constraints by three equations, the rolling sphere; chapter 4: connectivity, polarity.
#include "core/constrained_body.h"

#include <gtest/gtest.h>

#include "core/connectivity.h"
#include "core/joint/general.h"
#include "core/null_space.h"
#include "core/position_rate.h"
#include "core/spatial/matrices.h"
#include "core/spatial/screw.h"
#include "tests/support/every_scalar.h"
#include "tests/support/linkages.h"
#include "tests/support/random_robot.h"

namespace featherstorm::testing {
namespace {

using matrices::crf, matrices::crm, matrices::mcI, matrices::rot, matrices::xlt;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd random_matrix(Random& random, int rows, int columns) {
  MatrixXd A(rows, columns);
  for (int i = 0; i < A.size(); i++) A(i) = random.uniform(-1, 1);
  return A;
}
Matrix6d random_inertia(Random& random) {
  const LinkSpec l = random_link(random, "body");
  return mcI(l.mass, l.com, l.inertia);
}
Matrix6d random_transform(Random& random) { return rot(random.rotation()) * xlt(random.vector()); }
template <class F> void for_seeds(F f) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    f(random);
  }
}
template <class A, class B> void expect_near(const A& a, const B& b, double bound = 1e-12) {
  ASSERT_EQ(a.size(), b.size());
  if (b.size() > 0) EXPECT_LT((a - b).cwiseAbs().maxCoeff(), bound * (1 + b.cwiseAbs().maxCoeff()));
}

// Table 2.1, row by row, and Table 2.3, row by row.
TEST(CrossOperators, HaveTheRowsOfTables21And23) {
  using matrices::cross_matrix;
  for_seeds([](Random& random) {
    const Vec3d a = random.vector(), b = random.vector(), c = random.vector();
    const Mat3d E = random.rotation(), A = cross_matrix(a), B = cross_matrix(b), one = Mat3d::Identity();
    const double k = random.uniform(-2, 2);
    expect_near(A, Mat3d(-A.transpose()));
    expect_near(cross_matrix(k * a), Mat3d(k * A));
    expect_near(cross_matrix(a + b), Mat3d(A + B));
    expect_near(cross_matrix(E * a), Mat3d(E * A * E.inverse()));
    expect_near(Vec3d(A * b), Vec3d(-B * a));
    EXPECT_NEAR((A * b).dot(c), a.dot(B * c), 1e-13);
    expect_near(cross_matrix(A * b), Mat3d(A * B - B * A));
    expect_near(cross_matrix(A * b), Mat3d(b * a.transpose() - a * b.transpose()));
    expect_near(Mat3d(A * B), Mat3d(b * a.transpose() - a.dot(b) * one));
    const Vector6d u = random_matrix(random, 6, 1), v = random_matrix(random, 6, 1), f = random_matrix(random, 6, 1);
    const Matrix6d X = random_transform(random), Xd = X.inverse().transpose();
    expect_near(crm(Vector6d(k * v)), Matrix6d(k * crm(v))), expect_near(crf(Vector6d(k * v)), Matrix6d(k * crf(v)));
    expect_near(crm(Vector6d(u + v)), Matrix6d(crm(u) + crm(v))), expect_near(crf(Vector6d(u + v)), Matrix6d(crf(u) + crf(v)));
    expect_near(crm(Vector6d(X * v)), Matrix6d(X * crm(v) * X.inverse()));
    expect_near(crf(Vector6d(X * v)), Matrix6d(Xd * crf(v) * Xd.inverse()));
    expect_near(Vector6d(crm(u) * v), Vector6d(-crm(v) * u));
    EXPECT_NEAR((crm(u) * v).dot(f), -v.dot(crf(u) * f), 1e-12);
    EXPECT_NEAR((crf(u) * f).dot(v), -f.dot(crm(u) * v), 1e-12);
    expect_near(crm(Vector6d(crm(u) * v)), Matrix6d(crm(u) * crm(v) - crm(v) * crm(u)));
    expect_near(crf(Vector6d(crm(u) * v)), Matrix6d(crf(u) * crf(v) - crf(v) * crf(u)));
  });
}

// Table 2.4: the product rules, which the library's own operators follow on dual numbers, and (2.45) for two moving frames.
TEST(Differentiation, FollowsTable24) {
  using D = Dual<double>;
  for_seeds([](Random& random) {
    const auto dual = [](const Vec3d& x, const Vec3d& d) -> Vec3<D> { return {D(x.x(), d.x()), D(x.y(), d.y()), D(x.z(), d.z())}; };
    const auto rate = [](const Vec3<D>& x) { return Vec3d(x.x().d, x.y().d, x.z().d); };
    const Motion<double> u{random.vector(), random.vector()}, ud{random.vector(), random.vector()};
    const Motion<double> v{random.vector(), random.vector()}, vd{random.vector(), random.vector()};
    const Force<double> f{random.vector(), random.vector()}, fd{random.vector(), random.vector()};
    const double k = random.uniform(-2, 2), kd = random.uniform(-2, 2);
    const Motion<D> U{dual(u.w, ud.w), dual(u.v, ud.v)}, V{dual(v.w, vd.w), dual(v.v, vd.v)};
    const Force<D> F{dual(f.n, fd.n), dual(f.f, fd.f)};
    EXPECT_NEAR(dot(U, F).d, dot(ud, f) + dot(u, fd), 1e-13);
    const Motion<double> c = cross(ud, v) + cross(u, vd);
    expect_near(rate(cross(U, V).w), Vec3d(c.w)), expect_near(rate(cross(U, V).v), Vec3d(c.v));
    const Force<double> g = cross_dual(ud, f) + cross_dual(u, fd);
    expect_near(rate(cross_dual(U, F).n), Vec3d(g.n)), expect_near(rate(cross_dual(U, F).f), Vec3d(g.f));
    const Motion<double> s = u * kd + ud * k;
    expect_near(rate((U * D(k, kd)).w), Vec3d(s.w)), expect_near(rate((U * D(k, kd)).v), Vec3d(s.v));
    // a dyad, (u f.) v = u (f . v): an inertia is a sum of such
    const Motion<double> y = u * (dot(vd, f) + dot(v, fd)) + ud * dot(v, f);
    expect_near(rate((U * dot(V, F)).v), Vec3d(y.v));
    // d/dt ^B X_A = ^B (v_A - v_B) x ^B X_A
    const Matrix6d A = random_transform(random), B = random_transform(random);  // base to A and to B
    const Vector6d va = random_matrix(random, 6, 1), vb = random_matrix(random, 6, 1);  // in A, in B
    const auto step = [](const Vector6d& v, double t) { return Matrix6d(Matrix6d::Identity() - t * crm(v) + 0.5 * t * t * crm(v) * crm(v)); };
    const auto X = [&](double t) { return Matrix6d(step(vb, t) * B * (step(va, t) * A).inverse()); };
    const double h = 1e-5;
    const Vector6d relative = X(0) * va - vb;
    expect_near(Matrix6d((X(h) - X(-h)) / (2 * h)), Matrix6d(crm(relative) * X(0)), 1e-8);
  });
}

// Table 2.5: a dyad maps vectors before and after a change of coordinates to the same vector.
TEST(Dyadics, TransformAsTable25Says) {
  for_seeds([](Random& random) {
    const Matrix6d X = random_transform(random), Xd = X.inverse().transpose();  // motions, forces
    const Vector6d m = random_matrix(random, 6, 1), f = random_matrix(random, 6, 1);
    const Vector6d a = random_matrix(random, 6, 1), b = random_matrix(random, 6, 1);
    // (m a.) of force, (f b.) of motion and so on: one dyad of each kind
    expect_near(Vector6d(X * (m * a.transpose()) * X.inverse() * (X * m)), Vector6d(X * (m * a.dot(m))));          // M to M
    expect_near(Vector6d(Xd * (f * b.transpose()) * Xd.inverse() * (Xd * f)), Vector6d(Xd * (f * b.dot(f))));      // F to F
    expect_near(Vector6d(Xd * (f * f.transpose()) * X.inverse() * (X * m)), Vector6d(Xd * (f * f.dot(m))));        // M to F
    expect_near(Vector6d(X * (m * m.transpose()) * Xd.inverse() * (Xd * f)), Vector6d(X * (m * m.dot(f))));        // F to M
    // inertia: symmetry, definiteness, rank are kept, eigenvalues are not; energy does not depend on the frame
    const Matrix6d I = random_inertia(random), J = Xd * I * X.inverse();
    expect_near(J, Matrix6d(J.transpose()));
    const VectorXd e = Eigen::SelfAdjointEigenSolver<Matrix6d>(I).eigenvalues();
    const VectorXd d = Eigen::SelfAdjointEigenSolver<Matrix6d>(J).eigenvalues();
    EXPECT_GT(e(0), 0);
    EXPECT_GT(d(0), 0);
    EXPECT_GT((e - d).norm(), 1e-3);
    EXPECT_NEAR(m.dot(I * m), (X * m).dot(J * (X * m)), 1e-12);  // 2 T, (2.67)
  });
}

// (2.36)-(2.44): the derivative is the apparent one plus v x or v x*. Constant vectors seen from a moving frame.
TEST(Differentiation, InMovingCoordinates) {
  for_seeds([](Random& random) {
    const Vector6d v = random_matrix(random, 6, 1);  // of frame A, in A
    const Vector6d m = random_matrix(random, 6, 1), md = random_matrix(random, 6, 1);
    const Vector6d f = random_matrix(random, 6, 1), fd = random_matrix(random, 6, 1);
    const double h = 1e-5;
    // A's motion for a short time; the vectors' coordinates in A change by md, fd
    const auto X_A = [&](double t) { return Matrix6d(Matrix6d::Identity() - t * crm(v) + 0.5 * t * t * crm(v) * crm(v)); };
    const auto in_base = [&](double t) { return Vector6d(X_A(t).inverse() * (m + t * md)); };
    const auto force_in_base = [&](double t) { return Vector6d(X_A(t).transpose() * (f + t * fd)); };
    expect_near(Vector6d((in_base(h) - in_base(-h)) / (2 * h)), Vector6d(md + crm(v) * m), 1e-8);
    expect_near(Vector6d((force_in_base(h) - force_in_base(-h)) / (2 * h)), Vector6d(fd + crf(v) * f), 1e-8);
  });
}

// (2.46)-(2.51): classical and spatial acceleration of a body that moves on a given path, by differences.
TEST(Acceleration, ClassicalAndSpatial) {
  for_seeds([](Random& random) {
    const Vec3d u = random.vector(), a = random.vector(), w = random.vector(), wd = random.vector();
    // origin of the body at u t + a t^2 / 2; spatial velocity about the fixed point it passes at t = 0
    const auto velocity = [&](double t) {
      const Vec3d r = u * t + a * (t * t / 2), wt = w + wd * t;
      return Motion<double>{wt, u + a * t + cross(r, wt)};  // v_O = r' + r × w
    };
    const double h = 1e-6;
    const Motion<double> spatial = (velocity(h) - velocity(-h)) * (1 / (2 * h)), c = classical(spatial, velocity(0));
    expect_near(Vec3d(c.v), a, 1e-8);
    expect_near(Vec3d(c.w), wd, 1e-8);
    const Motion<double> back = spatial_of_classical(c, velocity(0));
    expect_near(Vec3d(back.v), Vec3d(spatial.v));
  });
}

// (2.62)-(2.71): f = I a + v x* I v says m c'' = f and I_C w' + w × I_C w = n_C at the mass centre; its inverse (2.72)-(2.74).
TEST(EquationOfMotion, OfABodyIsNewtonsAndEulers) {
  for_seeds([](Random& random) {
    const LinkSpec l = random_link(random, "body");
    const Matrix6d I = mcI(l.mass, l.com, l.inertia);
    const Vector6d v = random_matrix(random, 6, 1), a = random_matrix(random, 6, 1);
    const Vector6d p = crf(v) * I * v, f = I * a + p;
    const Vec3d w = v.head<3>(), wd = a.head<3>(), c = l.com;
    const Vec3d origin = a.tail<3>() + w.cross(v.tail<3>());  // classical
    const Vec3d centre = origin + wd.cross(c) + w.cross(w.cross(c));
    expect_near(Vec3d(f.tail<3>()), Vec3d(l.mass * centre));
    expect_near(Vec3d(f.head<3>() - c.cross(f.tail<3>())), Vec3d(l.inertia * wd + w.cross(Vec3d(l.inertia * w))));
    const Matrix6d Phi = matrices::inverse_mcI(l.mass, l.com, l.inertia);
    expect_near(Vector6d(Phi * f - Phi * p), a, 1e-10);
    // (2.58)-(2.61): momentum moves like a force; h . v = 2 T
    const Vector6d h = I * v;
    EXPECT_NEAR(h.dot(v), l.mass * (v.tail<3>() + w.cross(c)).squaredNorm() + w.dot(l.inertia * w), 1e-11);
    expect_near(Vec3d(h.head<3>()), Vec3d(l.inertia * w + c.cross(Vec3d(h.tail<3>()))));
    // definite exactly if mass and rotational inertia are
    EXPECT_EQ(Eigen::LLT<Matrix6d>(I).info(), Eigen::Success);
    Mat3d flat = l.inertia;
    flat -= 2 * Eigen::SelfAdjointEigenSolver<Mat3d>(flat).eigenvalues()(0) * Mat3d::Identity();
    EXPECT_NE(Eigen::LLT<Matrix6d>(mcI(l.mass, l.com, flat)).info(), Eigen::Success);
    EXPECT_NE(Eigen::LLT<Matrix6d>(mcI(-l.mass, l.com, l.inertia)).info(), Eigen::Success);
  });
}

// (3.24)-(3.27), Table 3.1
TEST(Subspace, ComplementsAndDecompositions) {
  for_seeds([](Random& random) {
    for (int n = 0; n <= 6; n++) {
      const MatrixXd S = random_matrix(random, 6, n), T = orthogonal_complement(S), A = random_matrix(random, n, n);
      EXPECT_EQ(T.cols(), 6 - n);
      if (n > 0 && n < 6) EXPECT_LT((S.transpose() * T).norm(), 1e-12);
      EXPECT_TRUE(same_subspace(S, S * A));
      EXPECT_TRUE(same_subspace(orthogonal_complement(T), S));
      if (n > 0 && n < 6) EXPECT_FALSE(same_subspace(S, random_matrix(random, 6, n)));
      // the rest of Table 3.1: of subsets, and S1 (+) S2^perp = U exactly if S1^perp (+) S2 = V
      if (n > 1) {
        const MatrixXd part = S.leftCols(n - 1);
        EXPECT_LT((part.transpose() * T).norm(), 1e-12);
        EXPECT_EQ(dimension((MatrixXd(6, T.cols() + 7 - n) << T, orthogonal_complement(part)).finished()), 7 - n);
      }
      // S1 (+) S2^perp = U exactly if S1^T S2 is regular
      const MatrixXd S2 = random_matrix(random, 6, n), P = orthogonal_complement(S2);
      const VectorXd x = random_matrix(random, 6, 1), alpha = coordinates_in(S, P, x);
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
      const Matrix6d I = random_inertia(random);
      const MatrixXd S = random_matrix(random, 6, n);
      const Vector6d f = random_matrix(random, 6, 1);
      const ForceParts parts = decompose_force(I, S, f), other = decompose_force(I, S * random_matrix(random, n, n), f);
      expect_near(Vector6d(parts.active + parts.constraint), f);
      EXPECT_LT((S.transpose() * parts.constraint).norm(), 1e-12);
      EXPECT_TRUE(same_subspace((MatrixXd(6, n + 1) << S, I.inverse() * parts.active).finished(), S));
      expect_near(other.active, parts.active, 1e-8);
      // at rest: a = I^-1 f_a, and the constraint force is -f_c
      const ConstrainedBody body{I, Vector6d::Zero(), S, Vector6d::Zero()};
      const MatrixXd T = orthogonal_complement(S);
      const ConstrainedMotion motion = constrained_motion(body, T, f);
      expect_near(motion.a, Vector6d(I.inverse() * parts.active), 1e-9);
      expect_near(Vector6d(T * motion.lambda), Vector6d(-parts.constraint), 1e-9);
    }
  });
}

// Section 3.6: the three methods
TEST(ConstrainedBody, ThreeMethodsGiveOneMotion) {
  for_seeds([](Random& random) {
    for (int n = 1; n <= 5; n++) {
      const ConstrainedBody body{random_inertia(random), random_matrix(random, 6, 1), random_matrix(random, 6, n),
                                 random_matrix(random, 6, 1)};
      const MatrixXd& S = body.S;
      const Vector6d f = random_matrix(random, 6, 1);
      const ApparentInverse inverse = apparent_inverse(body);
      const MatrixXd T = orthogonal_complement(S);
      const ConstrainedMotion motion = constrained_motion(body, T, f);
      const GeneralisedEquation e = generalised_equation(body);
      const VectorXd qdd = e.H.ldlt().solve(S.transpose() * f - e.C);
      expect_near(Vector6d(inverse.Phi * f + inverse.b), motion.a, 1e-9);
      expect_near(Vector6d(S * qdd + body.Sd_qd), motion.a, 1e-9);
      expect_near(Vector6d(body.I * motion.a + body.p), Vector6d(f + T * motion.lambda), 1e-9);
      // Phi: symmetric, range S, null space S^perp
      expect_near(inverse.Phi, Matrix6d(inverse.Phi.transpose()));
      EXPECT_EQ(dimension(inverse.Phi), n);
      EXPECT_TRUE(same_subspace(inverse.Phi, S));
      EXPECT_LT((inverse.Phi * T).norm(), 1e-9);
      // forces that differ by S^perp have one tau and one motion, but other constraint forces
      const Vector6d g = f + T * VectorXd::Ones(6 - n);
      const ConstrainedMotion same = constrained_motion(body, T, g);
      expect_near(same.a, motion.a, 1e-9);
      EXPECT_GT((same.lambda - motion.lambda).norm(), 0.1);
    }
  });
}

// Example 3.2: a gear wheel of radius r drives the pin; T_a = (0 0 1 0 -1/r 0)
TEST(ConstrainedBody, ActiveForceSubspaceOfExample32) {
  const double r = 0.2, torque = 3;
  MatrixXd S = MatrixXd::Zero(6, 1), F = MatrixXd::Zero(6, 1), expected = MatrixXd::Zero(6, 1);
  S(2) = 1;
  F(2) = -r * 7, F(4) = 7;  // a force of 7 N along y at (-r, 0, 0)
  expected(2) = 1, expected(4) = -1 / r;
  const MatrixXd Ta = active_force_subspace(F, S);
  expect_near(Ta, expected);
  EXPECT_NEAR((Ta.transpose() * S)(0), 1, 1e-15);
  EXPECT_THROW(active_force_subspace(orthogonal_complement(S).leftCols(1), S), std::invalid_argument);
  // the motion is that of any other T_a, the bearings carry something else
  Random random(2);
  const ConstrainedBody body{random_inertia(random), random_matrix(random, 6, 1), S, Vector6d::Zero()};
  const MatrixXd T = orthogonal_complement(S);
  const ConstrainedMotion gear = constrained_motion(body, T, Vector6d(Ta * torque)), motor = constrained_motion(body, T, Vector6d(S * torque));
  expect_near(gear.a, motor.a, 1e-10);
  EXPECT_GT((T * (gear.lambda - motor.lambda)).norm(), 1);
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
    const VectorXd ydd = H_G.ldlt().solve(N.G.transpose() * (tau - e.C - e.H * N.g));
    expect_near(VectorXd(N.G * ydd + N.g), kkt.qdd, 1e-7);
    // [H^-1 G; G^T 0] [tau_c; -ydd] = [g - H^-1 (tau - C); 0], (3.19)
    const auto n = e.H.rows(), k = N.G.cols();
    MatrixXd D = MatrixXd::Zero(n + k, n + k);
    D.topLeftCorner(n, n) = e.H.inverse(), D.topRightCorner(n, k) = N.G, D.bottomLeftCorner(k, n) = N.G.transpose();
    VectorXd right(n + k);
    right << N.g - e.H.ldlt().solve(tau - e.C), VectorXd::Zero(k);
    const VectorXd x = D.fullPivLu().solve(right);
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
  const VectorXd s = reached.jacobiSvd().singularValues();
  EXPECT_GT(s(4), 0.05);   // five directions
  EXPECT_LT(s(5), 1e-12);  // never off the plane
}

// (3.5)-(3.9), (4.13)
TEST(PositionRate, IsTheDerivativeOfPositionsAndHalfTheQuaternionProduct) {
  for (unsigned seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.floating = seed % 2;
    const Robot robot = random_robot(seed, o);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    Numbers rate(m.nq + m.nv);
    state_rate(m, s.q.data(), s.v.data(), s.tau.data(), Zeros<double>{}, rate.data());
    const VectorXd expected = derivative([&](double h) { return testing::vector(moved(m, s.q, s.v, h)); });
    for (int k = 0; k < m.nq; k++) EXPECT_NEAR(rate[k], expected(k), 1e-8) << k;
    Numbers qdd(m.nv);
    aba(m, s.q.data(), s.v.data(), s.tau.data(), Zeros<double>{}, qdd.data());
    for (int k = 0; k < m.nv; k++) EXPECT_EQ(rate[m.nq + k], qdd[k]);
    for (int i = 1; i <= m.nb; i++) {
      const Body<double>& b = m.body[i];
      if (b.type != JointType::Ball) continue;
      const Quaternion<double> p{s.q[b.q], s.q[b.q + 1], s.q[b.q + 2], s.q[b.q + 3]};
      const Quaternion<double> pd = p * Quaternion<double>{0, s.v[b.v], s.v[b.v + 1], s.v[b.v + 2]};
      EXPECT_NEAR(rate[b.q], pd.w / 2, 1e-14);
      EXPECT_NEAR(rate[b.q + 1], pd.x / 2, 1e-14);
      EXPECT_NEAR(rate[b.q + 2], pd.y / 2, 1e-14);
      EXPECT_NEAR(rate[b.q + 3], pd.z / 2, 1e-14);
    }
    // linear in v
    Numbers twice(m.nq), one(m.nq), v2 = s.v;
    for (double& x : v2) x *= 2;
    position_rate(m, s.q.data(), s.v.data(), one.data()), position_rate(m, s.q.data(), v2.data(), twice.data());
    for (int k = 0; k < m.nq; k++) EXPECT_NEAR(twice[k], 2 * one[k], 1e-12);
    if (seed == 1)
      expect_every_scalar(m, {s.q, s.v}, m.nq, 1e-4, [](const auto& m, const auto& in, auto out) { position_rate(m, in[0], in[1], out); });
  }
}

// Section 4.1: the crank-slider linkage has one loop, 4 spanning trees and 8 regular numberings.
TEST(Connectivity, CrankSliderOfFigure44) {
  const std::vector<Arc> joints{{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  EXPECT_EQ(spanning_trees(4, joints), 4);
  EXPECT_EQ(spanning_tree(4, joints).loops, 1);
  // all ways to number three bodies and four joints
  int numberings = 0;
  std::vector<int> body{1, 2, 3};
  std::vector<std::vector<int>> lambdas;
  do {
    std::vector<int> number{0, body[0], body[1], body[2]}, joint{0, 1, 2, 3};
    do {  // joint[k] is the (k + 1)-th
      std::vector<int> p(5), s(5);
      for (int k = 0; k < 4; k++) p[k + 1] = number[joints[joint[k]].p], s[k + 1] = number[joints[joint[k]].s];
      if (!is_regular(3, p, s)) continue;
      numberings++;
      std::vector<int> lambda;
      for (int i = 1; i <= 3; i++) lambda.push_back(std::min(p[i], s[i]));
      lambdas.push_back(lambda);
    } while (std::next_permutation(joint.begin(), joint.end()));
  } while (std::next_permutation(body.begin(), body.end()));
  EXPECT_EQ(numberings, 8);
  // the parent arrays of Figure 4.5 are among them: two chains, and trees that branch at the base
  EXPECT_EQ(std::count(lambdas.begin(), lambdas.end(), std::vector<int>{0, 1, 2}), 2);
  EXPECT_GT(std::count(lambdas.begin(), lambdas.end(), std::vector<int>{0, 0, 1}), 0);
}

TEST(Connectivity, AnyGraphIsNumberedRegularly) {
  for_seeds([](Random& random) {
    const int bodies = 2 + random.below(9);
    std::vector<Arc> joints;
    for (int i = 1; i < bodies; i++) joints.push_back(random.chance(0.5) ? Arc{random.below(i), i} : Arc{i, random.below(i)});
    const int chords = random.below(4);
    for (int k = 0; k < chords; k++) {
      const int a = random.below(bodies), b = random.below(bodies);
      joints.push_back(a == b ? Arc{0, bodies - 1} : Arc{a, b});
    }
    random.shuffle(joints);
    const SpanningTree t = spanning_tree(bodies, joints);
    EXPECT_TRUE(is_regular(bodies - 1, t.p, t.s));
    EXPECT_EQ(t.loops, chords);  // N_L = N_J - N_B
    std::vector<int> seen = t.joint, names = t.body;
    std::sort(seen.begin(), seen.end()), std::sort(names.begin(), names.end());
    for (std::size_t k = 0; k < seen.size(); k++) EXPECT_EQ(seen[k], static_cast<int>(k) + 1);
    for (int k = 0; k < bodies; k++) EXPECT_EQ(names[k], k);
    for (int i = 1; i < bodies; i++) {
      EXPECT_EQ(t.lambda[i], std::min(t.p[i], t.s[i]));
      EXPECT_LT(t.lambda[i], i);
    }
    for (std::size_t k = 0; k < joints.size(); k++) {  // every joint still joins its bodies, in its direction
      EXPECT_EQ(t.p[t.joint[k]], t.body[joints[k].p]);
      EXPECT_EQ(t.s[t.joint[k]], t.body[joints[k].s]);
    }
  });
  EXPECT_EQ(spanning_tree(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}}, {3, 2, 1}).lambda, (std::vector<int>{-1, 0, 1, 2}));
}

TEST(Connectivity, RefusesGraphsThatAreNone) {
  const auto reason = [](auto f) {
    try {
      f();
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(reason([] { spanning_tree(3, {{0, 1}}); }), "body 2 is not connected to the base");
  EXPECT_EQ(reason([] { spanning_tree(2, {{0, 2}}); }), "joint 0 joins body 2, expected 0 to 1");
  EXPECT_EQ(reason([] { spanning_tree(2, {{1, 1}}); }), "joint 0 joins body 1 to itself");
  EXPECT_EQ(reason([] { spanning_tree(3, {{0, 1}, {1, 2}, {2, 0}}, {0, 1, 2}); }), "the tree has 3 joints, expected 2");
  EXPECT_EQ(reason([] { spanning_tree(2, {{0, 1}}, {5}); }), "the tree has joint 5, which does not exist");
}

// Table 4.2 twice is the joint again; T goes by -X*, so that T^T S = 0 stays.
TEST(Polarity, TwiceReversedIsTheJointAgain) {
  for_seeds([](Random& random) {
    Placement<double> J{random.rotation(), random.vector()};
    const Placement<double> J0 = J;
    Motion<double> S[1]{{random.vector(), random.vector()}}, c{random.vector(), random.vector()};
    const Motion<double> S0 = S[0], c0 = c;
    reverse_joint(J, S, 1, c);
    Force<double> T{random.vector(), random.vector()};  // a constraint force of the reversed joint, and of the joint itself
    T = T - Force<double>{S[0].w, S[0].v} * (dot(S[0], T) / (S[0].w.squaredNorm() + S[0].v.squaredNorm()));
    EXPECT_NEAR(dot(S0, -apply_transpose(inverse(J0), T)), 0, 1e-13);
    reverse_joint(J, S, 1, c);
    EXPECT_LT((S[0].w - S0.w).norm() + (S[0].v - S0.v).norm() + (c.w - c0.w).norm() + (c.v - c0.v).norm(), 1e-13);
    EXPECT_LT((J.R - J0.R).norm() + (J.r - J0.r).norm(), 1e-13);
  });
}

}  // namespace
}  // namespace featherstorm::testing
