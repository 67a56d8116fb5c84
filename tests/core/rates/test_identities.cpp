// Identities of single bodies and frames: Kim section 1, Lynch and Park 9.2 and 9.3, Garofalo et al. II, IV and
// appendix.
#include <gtest/gtest.h>

#include "core/kinematics/kinematics.h"
#include "core/rates/rates.h"
#include "core/rates/regressor.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/six.h"

namespace featherstorm::test_identities {
namespace {

using namespace testing;
using namespace testing::dense;
using Eigen::MatrixXd;
using Eigen::VectorXd;

Motion<double> motion_of(const Vector6& v) { return {Vec3d(v.head<3>()), Vec3d(v.tail<3>())}; }
Force<double> force_of(const Vector6& v) { return {Vec3d(v.head<3>()), Vec3d(v.tail<3>())}; }
// [xi] of se(3)
Matrix4 hat(const Motion<double>& xi) {
  Matrix4 m = Matrix4::Zero();
  m.topLeftCorner<3, 3>() = skew(xi.w), m.topRightCorner<3, 1>() = xi.v;
  return m;
}
Matrix4 matrix4(const Placement<double>& P) { return homogeneous(P.R, P.r); }
struct Body1 {
  Random random;
  LinkSpec link;
  RigidBodyInertia<double> I;
  Placement<double> P;
  Motion<double> v, a;
  Force<double> f;
  explicit Body1(unsigned seed) : random(seed), link(random_link(random, "body")) {
    I = rigid_body_inertia<double>(link.mass, link.com, upper(link.inertia));
    P = {random.rotation(), random.vector()};
    v = {random.vector(2), random.vector(2)}, a = {random.vector(3), random.vector(3)};
    f = {random.vector(), random.vector()};
  }
};
template <class F>
void for_bodies(F f) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    f(Body1(seed));
  }
}
TEST(Kim, AdjointIsConjugationOfTheHomogeneousMatrix) {
  for_bodies([](const Body1& b) {
    // Ad_T xi = T xi T^-1, (6), and of a product, and its dual keeps power, (8), (11), (13)
    const Matrix4 T = matrix4(b.P);
    EXPECT_LT((hat(apply_inverse(b.P, b.v)) - T * hat(b.v) * T.inverse()).norm(), 1e-13);
    const Placement<double> Q{transposed(b.P.R), b.v.v};
    EXPECT_LT(vector(apply_inverse(b.P * Q, b.v) - apply_inverse(b.P, apply_inverse(Q, b.v))).norm(), 1e-13);
    EXPECT_NEAR(dot(apply_inverse(b.P, b.v), apply_transpose(b.P, b.f)), dot(b.v, b.f), 1e-13);
    EXPECT_LT((matrix4(inverse(b.P)) * T - Matrix4::Identity()).norm(), 1e-14);
  });
}

TEST(Kim, InertiaIsTheIntegralOfItsDefinitionAndMovesByCongruence) {
  for_bodies([](const Body1& b) {
    // (20) over particles: six on the axes of the second moments, and 200 random ones for a body of their own
    std::vector<std::pair<Vector3, double>> cloud;
    Random random(9);
    for (int k = 0; k < 200; k++) cloud.push_back({random.vector(), random.uniform(0.01, 0.1)});
    Matrix6 I = Matrix6::Zero();
    double m = 0;
    Vector3 c = Vector3::Zero();
    Matrix3 about = Matrix3::Zero();
    for (const auto& [r, mu] : cloud) {
      Eigen::Matrix<double, 3, 6> B;  // velocity of the particle, v + w × r
      B << -skew(r), Matrix3::Identity();
      I += mu * B.transpose() * B;
      m += mu, c += mu * r;
    }
    c /= m;
    for (const auto& [r, mu] : cloud) {
      const Vector3 d = r - c;
      about += mu * (d.squaredNorm() * Matrix3::Identity() - d * d.transpose());
    }
    // products of inertia stand in the matrix with a minus, Lynch and Park 9.2.1
    EXPECT_NEAR(
        about(0, 1),
        -[&] {
          double s = 0;
          for (const auto& [r, mu] : cloud) s += mu * (r - c).x() * (r - c).y();
          return s;
        }(),
        1e-12);
    // (22) from the mass centre; triangle inequality
    const RigidBodyInertia<double> J = rigid_body_inertia<double>(m, c, upper(about));
    EXPECT_LT((matrix6(J) - I).norm(), 1e-12 * I.norm());
    const Vector3 e = Eigen::SelfAdjointEigenSolver<Matrix3>(about).eigenvalues();
    EXPECT_GT(e(0) + e(1), e(2));
    // (21) and the kinetic energy in both frames
    const RigidBodyInertia<double> moved = apply_transpose(b.P, J);
    EXPECT_NEAR(dot(apply_inverse(b.P, b.v), moved * apply_inverse(b.P, b.v)), dot(b.v, J * b.v), 1e-11 * I.norm());
    // momentum goes as forces do, (24)
    EXPECT_LT(vector(moved * apply_inverse(b.P, b.v) - apply_transpose(b.P, J * b.v)).norm(), 1e-11 * I.norm());
  });
}

TEST(Kim, RatesInAMovingFrameAreLemmas1And2) {
  for_bodies([](const Body1& b) {
    // a frame that moves with the body twist v: T(t) = T exp([v] t); X(t), Y(t) given by components
    const auto T = [&](double t) -> Placement<double> {
      Matrix4 A = hat(b.v) * t, S = Matrix4::Identity(), term = S;
      for (int k = 1; k < 12; k++) term = (term * A / k).eval(), S += term;
      return b.P * Placement<double>{Mat3d(S.topLeftCorner<3, 3>()), Vec3d(S.topRightCorner<3, 1>())};
    };
    const Motion<double> X = b.a, Xd = motion_of(vector(b.f)), fixed_rate = Xd + cross(b.v, X);
    const VectorXd x = derivative([&](double t) { return VectorXd(vector(apply_inverse(T(t), X + Xd * t))); });
    EXPECT_LT((x - vector(apply_inverse(b.P, fixed_rate))).norm(), 1e-9 * (1 + x.norm()));
    const Force<double> Y = b.f, Yd = force_of(vector(b.a)), fixed_force = Yd + cross_dual(b.v, Y);
    const VectorXd y = derivative([&](double t) { return VectorXd(vector(apply_transpose(T(t), Y + Yd * t))); });
    EXPECT_LT((y - vector(apply_transpose(b.P, fixed_force))).norm(), 1e-9 * (1 + y.norm()));
  });
}

TEST(Kim, EquationOfMotionOfABodyIsTheSameInEveryFrameOnIt) {
  for_bodies([](const Body1& b) {
    // F = I Vd - ad*_V I V, (31); another frame on the body has V, Vd by Ad, and F by its dual
    const auto force = [](const RigidBodyInertia<double>& I, const Motion<double>& v, const Motion<double>& a) {
      return I * a + cross_dual(v, I * v);
    };
    const Force<double> here = force(b.I, b.v, b.a);
    const Force<double> there = force(apply_transpose(b.P, b.I), apply_inverse(b.P, b.v), apply_inverse(b.P, b.a));
    EXPECT_LT(vector(there - apply_transpose(b.P, here)).norm(), 1e-11 * (1 + vector(there).norm()));
    // Newton and Euler apart at the mass centre, Lynch and Park (9.17), (9.20): f = m (vd + w × v), n = I wd + w × I w
    const RigidBodyInertia<double> C = rigid_body_inertia<double>(b.link.mass, Vec3d(0, 0, 0), upper(b.link.inertia));
    const Force<double> f = force(C, b.v, b.a);
    EXPECT_LT((f.f - b.link.mass * (b.a.v + b.v.w.cross(b.v.v))).norm(), 1e-13 * (1 + f.f.norm()));
    EXPECT_LT((f.n - (b.link.inertia * b.a.w + b.v.w.cross(Vec3d(b.link.inertia * b.v.w)))).norm(), 1e-13);
  });
}

TEST(Kim, ArticulatedInertiaLiesBetweenThoseOfTheBodyAndOfTheSubtree) {
  // I <= I^A <= I^c for the root of a floating tree: I^A = H00 - H01 H11^-1 H10 in the free joint's coordinates
  for (unsigned seed = 1; seed <= 12; seed++) {
    RandomOptions o;
    o.bodies = 5, o.floating = true, o.roots = 0, o.armature = 0, o.fixed = 0;
    const Case c(random_spec(seed, o), seed);
    const int n = c.model().nv;
    Numbers packed = call_crba(c.model(), c.state.q);
    const MatrixXd H = dense::unpacked(c.model(), packed);
    const MatrixXd H11 = H.bottomRightCorner(n - 6, n - 6), H10 = H.bottomLeftCorner(n - 6, 6);
    const MatrixXd IA = H.topLeftCorner(6, 6) - H10.transpose() * H11.ldlt().solve(H10);
    RobotSpec alone = c.spec;
    alone.joints.clear(), alone.frames.clear();
    const std::string root = c.spec.floating[0];
    std::erase_if(alone.links, [&](const LinkSpec& l) { return l.name != root; });
    const Case one(alone);
    const MatrixXd I = one.oracle.crba(Numbers(c.state.q.begin(), c.state.q.begin() + 7));
    const auto least = [](const MatrixXd& A) { return Eigen::SelfAdjointEigenSolver<MatrixXd>(A).eigenvalues()(0); };
    EXPECT_GT(least(IA - I), -1e-10 * H.norm());
    EXPECT_GT(least(H.topLeftCorner(6, 6) - IA), -1e-10 * H.norm());
    EXPECT_GT((H.topLeftCorner(6, 6) - IA).norm(), 1e-6);
  }
}

TEST(LynchPark, LieBracketHasItsNumbersAndIdentities) {
  const Motion<double> a{{1, 2, 3}, {4, 5, 6}}, b{{7, 8, 9}, {10, 11, 12}};
  EXPECT_EQ(vector(cross(a, b)), (Vector6() << -6, 12, -6, -12, 24, -12).finished());
  for_bodies([](const Body1& b) {
    const Motion<double> u = motion_of(vector(b.f));
    EXPECT_EQ(vector(cross(b.v, b.v)).norm(), 0);
    // Jacobi
    const Motion<double> sum = cross(b.v, cross(b.a, u)) + cross(b.a, cross(u, b.v)) + cross(u, cross(b.v, b.a));
    EXPECT_LT(vector(sum).norm(), 1e-12);
    // ad_V A qd = [Ad V_p, A qd] where V = Ad V_p + A qd: (9.47) is (9.58)
    EXPECT_LT(vector(cross(b.v + u, u) - cross(b.v, u)).norm(), 1e-13);
  });
}

TEST(Garofalo, LieBracketMatrixIsAConstantTimesCopiesOfTheTwist) {
  // adj = W V, (17), W as in the appendix with v before w; also that Psi = Lambda adj - adj^T Lambda is skew
  using Wide = Eigen::Matrix<double, 3, 18>;
  Wide Ww = Wide::Zero(), Wv = Wide::Zero();
  const Vector3 x = Vector3::UnitX(), y = Vector3::UnitY(), z = Vector3::UnitZ();
  // row i of each holds, for column block j of V, the row vector that picks entry (i, j) of the skew matrix
  const auto set = [](Wide& W, int row, int block, const Vector3& e) { W.block<1, 3>(row, 3 * block) = e.transpose(); };
  // blocks alternate (v, w) for each of three columns
  set(Ww, 1, 1, z), set(Ww, 2, 1, -y), set(Ww, 0, 3, -z), set(Ww, 2, 3, x), set(Ww, 0, 5, y), set(Ww, 1, 5, -x);
  set(Wv, 1, 0, z), set(Wv, 2, 0, -y), set(Wv, 0, 2, -z), set(Wv, 2, 2, x), set(Wv, 0, 4, y), set(Wv, 1, 4, -x);
  Eigen::Matrix<double, 6, 36> W = Eigen::Matrix<double, 6, 36>::Zero();
  W.topLeftCorner<3, 18>() = Ww, W.topRightCorner<3, 18>() = Wv, W.bottomRightCorner<3, 18>() = Ww;
  for_bodies([&](const Body1& b) {
    Vector6 twist;
    twist << b.v.v, b.v.w;
    Eigen::Matrix<double, 36, 6> V = Eigen::Matrix<double, 36, 6>::Zero();
    for (int k = 0; k < 6; k++) V.block<6, 1>(6 * k, k) = twist;
    const Matrix6 adj = W * V;
    Vector6 u, expected;
    u << b.a.v, b.a.w;
    const Motion<double> c = cross(b.v, b.a);
    expected << c.v, c.w;
    EXPECT_LT((adj * u - expected).norm(), 1e-14);
    EXPECT_LT((adj * twist).norm(), 1e-14);
    const Matrix6 I = matrix6(b.I), ad = crm(vector(b.v)), Psi = I * ad - ad.transpose() * I;
    EXPECT_LT((Psi + Psi.transpose()).norm(), 1e-12);
    EXPECT_LT((I * vector(b.a) + Psi * vector(b.v) - vector(b.I * b.a + cross_dual(b.v, b.I * b.v))).norm(), 1e-12);
  });
}

// A frame of a random robot in its own axes: twist v, J and the transform of motions from the world, Ad^-1_{0,k}.
struct FrameState {
  Matrix6 Ad_inverse;
  MatrixXd J;
  Vector6 v;
};
FrameState frame_state(const Model<double>& m, const Numbers& q, const Numbers& v) {
  const int frame = m.nf - 1;
  Numbers pose(12 * m.nf);
  forward_kinematics(m, q.data(), pose.data());
  const double* p = pose.data() + 12 * frame;
  Matrix3 R;
  for (int i = 0; i < 9; i++) R(i / 3, i % 3) = p[3 + i];
  Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> J(6, m.nv);
  jacobian(m, q.data(), frame, J.data());
  FrameState s{transform_to(homogeneous(R, Vector3(p[0], p[1], p[2]))), MatrixXd(6, m.nv), {}};
  s.J << R.transpose() * J.topRows<3>(), R.transpose() * J.bottomRows<3>();
  s.v = s.J * vector(v);
  return s;
}

TEST(Garofalo, DerivativesOfAdjointsAreThoseOfProposition4) {
  for (unsigned seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 4;
    const Case c(random_spec(seed, o), seed);
    const Model<double>& m = c.model();
    const State& s = c.state;
    const FrameState f = frame_state(m, s.q, s.v);
    const auto flat = [](const MatrixXd& a) { return VectorXd(Eigen::Map<const VectorXd>(a.data(), a.size())); };
    for (int h = 0; h < m.nv; h++) {
      Numbers e(m.nv, 0.0);
      e[h] = 1;
      const auto at = [&](double t) { return frame_state(m, moved(m, s.q, e, t), s.v); };
      // (18) dAd^-1/dq_h = -adj_{J^h} Ad^-1
      const VectorXd dA = derivative([&](double t) { return flat(at(t).Ad_inverse); });
      EXPECT_LT((dA - flat(-crm(f.J.col(h)) * f.Ad_inverse)).norm(), 1e-8 * (1 + dA.norm()));
      // (19) dadj/dqd_h = adj_{J^h}
      const VectorXd dv = derivative([&](double t) { return flat(crm(frame_state(m, s.q, sum(s.v, e, t)).v)); });
      EXPECT_LT((dv - flat(crm(f.J.col(h)))).norm(), 1e-9 * (1 + dv.norm()));
      // (20) dadj/dq_h = adj of dJ/dq_h qd, with dJ/dq_h of the text. In the frame's axes a step turns J by -w_h ×
      // besides
      Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> Jd(6, m.nv), J(6, m.nv);
      jacobian_rate(m, s.q.data(), e.data(), m.nf - 1, Jd.data());
      const Matrix3 E = f.Ad_inverse.topLeftCorner<3, 3>();
      Vector6 d = Jd * vector(s.v);
      d << (E * d.head<3>()).eval(), (E * d.tail<3>()).eval();
      const Vector3 w = f.J.col(h).head<3>();
      d.head<3>() -= w.cross(Vector3(f.v.head<3>())), d.tail<3>() -= w.cross(Vector3(f.v.tail<3>()));
      const VectorXd dq = derivative([&](double t) { return flat(crm(at(t).v)); });
      EXPECT_LT((dq - flat(crm(d))).norm(), 1e-8 * (1 + dq.norm()));
    }
    // Remark 2: the rate of the spatial twist is Ad of the rate of the body twist's components
    const auto spatial = [&](const Numbers& q, const Numbers& v) {
      const FrameState x = frame_state(m, q, v);
      return VectorXd(x.Ad_inverse.inverse() * x.v);
    };
    const VectorXd sigma = rate(m, s.q, s.v, s.a, spatial);
    const VectorXd body =
        rate(m, s.q, s.v, s.a, [&](const Numbers& q, const Numbers& v) { return VectorXd(frame_state(m, q, v).v); });
    EXPECT_LT((sigma - f.Ad_inverse.inverse() * body).norm(), 1e-7 * (1 + sigma.norm()));
    // gravity of a body: Ad^-1 gamma_0 is R^T g, the angular part being zero (Remark 6)
    Vector6 g0;
    g0 << 0, 0, 0, -Vector3(c.spec.gravity);
    const Vector6 g = f.Ad_inverse * g0;
    EXPECT_EQ(g.head<3>().norm(), 0);
    EXPECT_LT((g.tail<3>() + f.Ad_inverse.topLeftCorner<3, 3>() * c.spec.gravity).norm(), 1e-13 * (1 + g.norm()));
  }
}

TEST(Garofalo, ScrewOfARevoluteJointIsTheRateOfItsPlacement) {
  // Xi = (-e × c; e) in (v, w): d/dq of the turn about the line through c along e, in the moving frame at q = 0
  for_bodies([](const Body1& b) {
    const Vector3 e = Vector3(b.v.w).normalized(), c = b.v.v;
    const VectorXd d = derivative([&](double t) {
      const Matrix3 R = Eigen::AngleAxisd(t, e).matrix();
      const Matrix4 T = homogeneous(R, Vector3(c - R * c));
      return VectorXd(Eigen::Map<const VectorXd>(T.data(), 16));
    });
    const Matrix4 rate = Eigen::Map<const Matrix4>(d.data());
    EXPECT_LT((rate - hat({Vec3d(e), Vec3d(-e.cross(c))})).norm(), 1e-9 * (1 + c.norm()));
  });
}

}  // namespace
}  // namespace featherstorm::test_identities
