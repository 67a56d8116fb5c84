// RBDA chapter 2: Tables 2.4 and 2.5, accelerations.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "core/reference/spatial/matrices.h"
#include "core/reference/spatial/screw.h"
#include "core/scalar/dual.h"
#include "tests/support/oracles/random_matrices.h"

namespace featherstorm::test_spatial_tables {
namespace {

using namespace testing;

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Dynamic sizes throughout: products of fixed ones are unrolled where they stand and take a minute to compile.
MatrixXd crm(const VectorXd& v) { return matrices::crm(matrices::Vector6(v)); }
MatrixXd crf(const VectorXd& v) { return matrices::crf(matrices::Vector6(v)); }
MatrixXd random_transform(Random& random) { return matrices::rot(random.rotation()) * matrices::xlt(random.vector()); }

// Table 2.4: the product rules, which the library's own operators follow on dual numbers, and (2.45) for two moving
// frames.
TEST(Differentiation, FollowsTable24) {
  using D = Dual<double>;
  for_seeds([](Random& random) {
    const auto dual = [](const Vec3d& x, const Vec3d& d) -> Vec3<D> {
      return {D(x.x(), d.x()), D(x.y(), d.y()), D(x.z(), d.z())};
    };
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
    const MatrixXd A = random_transform(random), B = random_transform(random);  // base to A and to B
    const VectorXd va = random_vector(random), vb = random_vector(random);      // in A, in B
    const auto step = [](const VectorXd& v, double t) {
      return MatrixXd(MatrixXd::Identity(6, 6) - t * crm(v) + 0.5 * t * t * crm(v) * crm(v));
    };
    const auto X = [&](double t) { return MatrixXd(step(vb, t) * B * (step(va, t) * A).inverse()); };
    const double h = 1e-5;
    const VectorXd relative = X(0) * va - vb;
    expect_near(MatrixXd((X(h) - X(-h)) / (2 * h)), MatrixXd(crm(relative) * X(0)), 1e-8);
  });
}

// Table 2.5: a dyad maps vectors before and after a change of coordinates to the same vector.
TEST(Dyadics, TransformAsTable25Says) {
  for_seeds([](Random& random) {
    const MatrixXd X = random_transform(random), Xd = X.inverse().transpose();  // motions, forces
    const VectorXd m = random_vector(random), f = random_vector(random);
    const VectorXd a = random_vector(random), b = random_vector(random);
    // (m a.) of force, (f b.) of motion and so on: one dyad of each kind
    expect_near(VectorXd(X * (m * a.transpose()) * X.inverse() * (X * m)), VectorXd(X * (m * a.dot(m))));      // M to M
    expect_near(VectorXd(Xd * (f * b.transpose()) * Xd.inverse() * (Xd * f)), VectorXd(Xd * (f * b.dot(f))));  // F to F
    expect_near(VectorXd(Xd * (f * f.transpose()) * X.inverse() * (X * m)), VectorXd(Xd * (f * f.dot(m))));    // M to F
    expect_near(VectorXd(X * (m * m.transpose()) * Xd.inverse() * (Xd * f)), VectorXd(X * (m * m.dot(f))));    // F to M
    // inertia: symmetry, definiteness, rank are kept, eigenvalues are not; energy does not depend on the frame
    const MatrixXd I = random_inertia(random), J = Xd * I * X.inverse();
    expect_near(J, MatrixXd(J.transpose()));
    const VectorXd e = Eigen::SelfAdjointEigenSolver<MatrixXd>(I).eigenvalues();
    const VectorXd d = Eigen::SelfAdjointEigenSolver<MatrixXd>(J).eigenvalues();
    EXPECT_GT(e(0), 0);
    EXPECT_GT(d(0), 0);
    EXPECT_GT((e - d).norm(), 1e-3);
    EXPECT_NEAR(m.dot(I * m), (X * m).dot(J * (X * m)), 1e-12);  // 2 T, (2.67)
  });
}

// (2.36)-(2.44): the derivative is the apparent one plus v x or v x*. Constant vectors seen from a moving frame.
TEST(Differentiation, InMovingCoordinates) {
  for_seeds([](Random& random) {
    const VectorXd v = random_vector(random);  // of frame A, in A
    const VectorXd m = random_vector(random), md = random_vector(random);
    const VectorXd f = random_vector(random), fd = random_vector(random);
    const double h = 1e-5;
    // A's motion for a short time; the vectors' coordinates in A change by md, fd
    const auto X_A = [&](double t) {
      return MatrixXd(MatrixXd::Identity(6, 6) - t * crm(v) + 0.5 * t * t * crm(v) * crm(v));
    };
    const auto in_base = [&](double t) { return VectorXd(X_A(t).inverse() * (m + t * md)); };
    const auto force_in_base = [&](double t) { return VectorXd(X_A(t).transpose() * (f + t * fd)); };
    expect_near(VectorXd((in_base(h) - in_base(-h)) / (2 * h)), VectorXd(md + crm(v) * m), 1e-8);
    expect_near(VectorXd((force_in_base(h) - force_in_base(-h)) / (2 * h)), VectorXd(fd + crf(v) * f), 1e-8);
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

}  // namespace
}  // namespace featherstorm::test_spatial_tables
