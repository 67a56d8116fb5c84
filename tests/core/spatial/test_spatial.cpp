// Spatial algebra against 6x6 matrices and the identities of RBDA chapter 2.
#include <gtest/gtest.h>

#include "core/spatial/quaternion.h"
#include "core/spatial/transform.h"
#include "tests/support/oracles/dense.h"
#include "tests/support/tools/six.h"
#include "tests/support/tools/tolerance.h"

namespace featherstorm::test_spatial {
namespace {

using namespace testing;

using namespace dense;

template <class A, class B> void expect_near(const A& a, const B& b) {
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), tolerance<double>("spatial") * (1 + b.cwiseAbs().maxCoeff()));
}

struct Sample {
  explicit Sample(unsigned seed) : random(seed) {
    v = {random.vector(), random.vector()}, u = {random.vector(), random.vector()};
    f = {random.vector(), random.vector()};
    P = {random.rotation(), random.vector()}, Q = {random.rotation(), random.vector()};
    X = transform_to(homogeneous(P.R, P.r));
    const LinkSpec link = random_link(random, "body");
    I = rigid_body_inertia<double>(link.mass, link.com, upper(link.inertia));
    dense_I = inertia(link.mass, link.com, link.inertia);
    Matrix6 A;
    for (int i = 0; i < 36; i++) A(i) = random.uniform(-1, 1);
    general = A * A.transpose() + Matrix6::Identity();
    IA = {upper(Matrix3(general.topLeftCorner<3, 3>())), general.topRightCorner<3, 3>(),
          upper(Matrix3(general.bottomRightCorner<3, 3>()))};
  }
  Random random;
  Motion<double> v, u;
  Force<double> f;
  Placement<double> P, Q;
  Matrix6 X, dense_I, general;
  RigidBodyInertia<double> I;
  ArticulatedInertia<double> IA;
};

template <class F> void for_samples(F test) {
  for (unsigned seed = 1; seed <= 50; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test(Sample(seed));
  }
}

// RBDA Table 2.1
TEST(Spatial, CrossProductIdentitiesOf3Vectors) {
  for_samples([](const Sample& s) {
    const Vec3d a = s.v.w, b = s.v.v, c = s.f.n;
    const Matrix3 E = s.P.R.transpose();
    expect_near(cross(a, b), Vector3(skew(a) * b));
    expect_near(cross(a, b), Vector3(-skew(b) * a));
    expect_near(skew(Vector3(E * a)), Matrix3(E * skew(a) * E.transpose()));
    expect_near(skew(cross(a, b)), Matrix3(skew(a) * skew(b) - skew(b) * skew(a)));
    expect_near(skew(cross(a, b)), Matrix3(b * a.transpose() - a * b.transpose()));
    expect_near(Matrix3(skew(a) * skew(b)), Matrix3(b * a.transpose() - dot(a, b) * Matrix3::Identity()));
    EXPECT_NEAR(dot(cross(a, b), c), dot(a, cross(b, c)), 1e-14);
    expect_near(cross_columns(a, s.Q.R), Matrix3(skew(a) * s.Q.R));
    expect_near(minus_outer(s.Q.R, a, b), Matrix3(s.Q.R - a * b.transpose()));
    expect_near(transpose_times(s.Q.R, a), Vector3(s.Q.R.transpose() * a));
  });
}

// (2.31), (2.32) and v x* = -(v x)^T
TEST(Spatial, CrossOperatorsEqualTheirMatrices) {
  for_samples([](const Sample& s) {
    const Vector6 v = vector(s.v), u = vector(s.u), f = vector(s.f);
    expect_near(vector(cross(s.v, s.u)), Vector6(crm(v) * u));
    expect_near(vector(cross_dual(s.v, s.f)), Vector6(crf(v) * f));
    expect_near(vector(cross(s.v, s.u)), Vector6(-vector(cross(s.u, s.v))));
    EXPECT_NEAR(dot(cross(s.v, s.u), s.f), -dot(s.u, cross_dual(s.v, s.f)), 1e-14);
  });
}

TEST(Spatial, SparseMotionsEqualFullOnes) {
  for_samples([](const Sample& s) {
    const AngularZ<double> a{s.f.n.x()};
    const LinearZ<double> l{s.f.n.y()};
    const Motion<double> fa{{0, 0, a.z}, {0, 0, 0}}, fl{{0, 0, 0}, {0, 0, l.z}};
    expect_near(vector(s.v + a), vector(s.v + fa));
    expect_near(vector(s.v + l), vector(s.v + fl));
    expect_near(vector(s.v + NoMotion{}), vector(s.v));
    expect_near(vector(cross(s.v, a)), vector(cross(s.v, fa)));
    expect_near(vector(cross(s.v, l)), vector(cross(s.v, fl)));
  });
}

// (2.24)-(2.27)
TEST(Spatial, FourTransformsEqualTheirMatrices) {
  for_samples([](const Sample& s) {
    expect_near(vector(apply(s.P, s.v)), Vector6(s.X * vector(s.v)));
    expect_near(vector(apply_inverse(s.P, s.v)), Vector6(s.X.inverse() * vector(s.v)));
    expect_near(vector(apply_dual(s.P, s.f)), Vector6(s.X.inverse().transpose() * vector(s.f)));
    expect_near(vector(apply_transpose(s.P, s.f)), Vector6(s.X.transpose() * vector(s.f)));
  });
}

TEST(Spatial, PlacementsComposeAndInvert) {
  for_samples([](const Sample& s) {
    expect_near(vector(apply(s.P * s.Q, s.v)), vector(apply(s.Q, apply(s.P, s.v))));
    expect_near(vector(apply(inverse(s.P), s.v)), vector(apply_inverse(s.P, s.v)));
    const Placement<double> one = s.P * inverse(s.P);
    expect_near(one.R, Matrix3(Matrix3::Identity()));
    expect_near(one.r, Vector3(Vector3::Zero()));
  });
}

TEST(Spatial, InertiasEqualTheirMatrices) {
  for_samples([](const Sample& s) {
    expect_near(matrix6(s.I), s.dense_I);
    expect_near(matrix6(articulated<double>(s.I)), s.dense_I);
    expect_near(vector(s.I * s.v), Vector6(s.dense_I * vector(s.v)));
    expect_near(vector(s.IA * s.v), Vector6(s.general * vector(s.v)));
    expect_near(matrix6(s.I + s.I), Matrix6(2 * s.dense_I));
    expect_near(matrix6(s.IA + articulated<double>(s.I)), Matrix6(s.general + s.dense_I));
  });
}

// (2.66)
TEST(Spatial, InertiaTransformsAreCongruences) {
  for_samples([](const Sample& s) {
    expect_near(matrix6(apply_transpose(s.P, s.I)), Matrix6(s.X.transpose() * s.dense_I * s.X));
    expect_near(matrix6(apply_transpose(s.P, s.IA)), Matrix6(s.X.transpose() * s.general * s.X));
  });
}

// int r r^T dm of a point mass and of the sum of several
TEST(Spatial, SecondMomentsOfPointMasses) {
  Random random(4);
  Matrix3 expected = Matrix3::Zero(), I = Matrix3::Zero();
  for (int k = 0; k < 5; k++) {
    const double m = random.uniform(0.1, 2);
    const Vec3d r = random.vector();
    expected += m * r * r.transpose();
    I += m * skew(r) * skew(r).transpose();
  }
  expect_near(full(second_moments(upper(I))), expected);
}

template <class Rotation> void expect_rotates_like(const Rotation& R, const Matrix3& full_R, const Sample& s) {
  expect_near(rotate(R, s.v.w), Vector3(full_R * s.v.w));
  expect_near(rotate_back(R, s.v.w), Vector3(full_R.transpose() * s.v.w));
  expect_near(conjugate(R, s.IA.H), Matrix3(full_R * s.IA.H * full_R.transpose()));
  expect_near(full(conjugate(R, s.IA.I)), Matrix3(full_R * full(s.IA.I) * full_R.transpose()));
  expect_near(matrix6(rotate(R, s.IA)), Matrix6(rot(full_R) * s.general * rot(full_R).transpose()));
  expect_near(matrix6(rotate(R, s.I)), Matrix6(rot(full_R) * s.dense_I * rot(full_R).transpose()));
  expect_near(Matrix3(matrix(R)), full_R);
}

TEST(Spatial, RotationsOfEveryShapeEqualTheirMatrix) {
  for_samples([](const Sample& s) {
    const double q = 3 * s.f.f.x(), c = std::cos(q), n = std::sin(q);
    expect_rotates_like(rotation_z(q), Eigen::AngleAxisd(q, Vector3::UnitZ()).toRotationMatrix(), s);
    expect_rotates_like(RotationX<double>{c, n}, Eigen::AngleAxisd(q, Vector3::UnitX()).toRotationMatrix(), s);
    expect_rotates_like(s.P.R, s.P.R, s);
    const RotationZ<double> sum = rotation_z(q) * rotation_z(0.3);
    expect_near(Matrix3(matrix(sum)), Eigen::AngleAxisd(q + 0.3, Vector3::UnitZ()).toRotationMatrix());
  });
}

TEST(Spatial, QuaternionsEqualEigens) {
  for_samples([](Sample s) {
    const Eigen::Quaterniond a = s.random.quaternion(), b = s.random.quaternion();
    const Quaternion<double> p{a.w(), a.x(), a.y(), a.z()}, q{b.w(), b.x(), b.y(), b.z()}, pq = p * q;
    expect_near(matrix(p), a.toRotationMatrix());
    expect_near(matrix(Quaternion<double>{-p.w, -p.x, -p.y, -p.z}), a.toRotationMatrix());
    expect_near(matrix(pq), (a * b).toRotationMatrix());
    expect_near(matrix(conjugated(p)), Matrix3(a.toRotationMatrix().transpose()));
    const Quaternion<double> n = normalised(Quaternion<double>{3 * p.w, 3 * p.x, 3 * p.y, 3 * p.z});
    expect_near(matrix(n), a.toRotationMatrix());
    const Vec3d u = s.v.w * 1.7;
    expect_near(matrix(quaternion_exp(u)), Eigen::AngleAxisd(u.norm(), u.normalized()).toRotationMatrix());
    expect_near(quaternion_log(quaternion_exp(u)), u);
    expect_near(matrix(quaternion_exp(quaternion_log(p))), a.toRotationMatrix());
    EXPECT_LE(quaternion_log(p).norm(), M_PI + 1e-12);
  });
}

// Both maps on both sides of the switch to their series, at zero and near a half turn, against long double.
template <class T> void expect_exp_and_log_accurate() {
  const double eps = std::numeric_limits<T>::epsilon();
  for (double angle : {0.0, 1e-30, 1e-12, 1e-6, 1e-3, 1.9e-2, 2e-2, 2.1e-2, 0.1, 0.199, 0.2, 0.201, 0.5, 3.0, 3.1415}) {
    SCOPED_TRACE("angle " + std::to_string(angle));
    const Vec3<T> u{T(angle * 0.6), T(0), T(-angle * 0.8)};
    const long double a = std::sqrt((long double)u.x() * u.x() + (long double)u.z() * u.z());
    const long double k = a > 0 ? std::sin(a / 2) / a : 0.5L;
    const Quaternion<T> p = quaternion_exp(u);
    EXPECT_NEAR(p.w, (double)std::cos(a / 2), 4 * eps);
    EXPECT_NEAR(p.x, (double)(k * u.x()), 8 * eps * std::abs((double)u.x()));
    EXPECT_NEAR(p.z, (double)(k * u.z()), 8 * eps * std::abs((double)u.z()));
    const Vec3<T> back = quaternion_log(p);
    EXPECT_NEAR(back.x(), u.x(), 16 * eps * angle);
    EXPECT_NEAR(back.z(), u.z(), 16 * eps * angle);
    EXPECT_EQ(back.y(), 0);
  }
}
TEST(Spatial, RotationVectorMapsAreAccurateNearZeroInDouble) { expect_exp_and_log_accurate<double>(); }
TEST(Spatial, RotationVectorMapsAreAccurateNearZeroInFloat) { expect_exp_and_log_accurate<float>(); }

TEST(Spatial, SeriesOfSincAndCosineAreAccurate) {
  for (double x : {0.0, 1e-200, 1e-8, 1e-4, 0.05, 0.0999999, 0.1, 0.1000001, 1.0, 3.0}) {
    const SincCos<double> f = sinc_cos_of_square(x * x);
    EXPECT_NEAR(f.sinc, x > 0 ? std::sin(x) / x : 1, 1e-15) << x;
    EXPECT_NEAR(f.cos, std::cos(x), 1e-15) << x;
  }
}

}  // namespace
}  // namespace featherstorm::test_spatial
