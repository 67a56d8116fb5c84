#include "core/rates/velocity_force.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/dense.h"

namespace featherstorm::test_velocity_force {
namespace {

using namespace testing;
using dense::Matrix6;
using dense::Vector6;

struct Moving {
  RigidBodyInertia<double> I;
  Motion<double> v;
  Matrix6 dense_I;
  Vector6 dense_v;
};
Moving random_body(unsigned seed) {
  Random random(seed);
  const LinkSpec l = random_link(random, "body");
  const Motion<double> v{random.vector(2), random.vector(2)};
  return {rigid_body_inertia(l.mass, l.com, upper(l.inertia)), v, dense::inertia(l.mass, l.com, l.inertia),
          (Vector6() << v.w, v.v).finished()};
}
Vector6 six(const Force<double>& f) { return (Vector6() << f.n, f.f).finished(); }
Motion<double> unit(int c) {
  Motion<double> u = zero_motion<double>();
  (c < 3 ? u.w(c) : u.v(c - 3)) = 1;
  return u;
}

TEST(VelocityForce, IsTheSumOfItsThreeTerms) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    const Moving b = random_body(seed);
    const VelocityForce<double> D = velocity_force(b.I, b.v, b.I * b.v);
    const Vector6 h = b.dense_I * b.dense_v;
    Matrix6 got, transposed = Matrix6::Zero(), expected;
    for (int c = 0; c < 6; c++) {
      got.col(c) = six(D * unit(c));
      transposed.col(c).head<3>() = transpose_times(D, unit(c));
      // v x* I - I v x + (. x* h), RBDA (2.65) and (2.32)
      const Vector6 u = Vector6::Unit(c);
      expected.col(c) =
          dense::crf(b.dense_v) * b.dense_I * u - b.dense_I * dense::crm(b.dense_v) * u + dense::crf(u) * h;
    }
    EXPECT_LT((got - expected).norm(), 1e-12 * (1 + expected.norm()));
    EXPECT_LT((transposed - expected.transpose()).norm(), 1e-12 * (1 + expected.norm()));
    // D v = 2 v x* I v
    EXPECT_LT((got * b.dense_v - 2 * dense::crf(b.dense_v) * h).norm(), 1e-12 * (1 + expected.norm()));
  }
}

TEST(InertiaRate, IsTheDerivativeOfTheInertiaOfAMovingBody) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    const Moving b = random_body(seed);
    const RigidBodyInertia<double> Id = inertia_rate(b.I, b.v);
    // RBDA (2.65)
    const Matrix6 expected = dense::crf(b.dense_v) * b.dense_I - b.dense_I * dense::crm(b.dense_v);
    Matrix6 got;
    for (int c = 0; c < 6; c++) got.col(c) = six(Id * unit(c));
    EXPECT_LT((got - expected).norm(), 1e-12 * (1 + expected.norm()));
    // and by differences: the body turned and moved by its velocity for a time t
    const auto at = [&](double t) {
      const Matrix6 C = dense::crm(b.dense_v) * t, X = Matrix6::Identity() - C + C * C / 2;
      return Matrix6(X.transpose() * b.dense_I * X);
    };
    const double h = 1e-5;
    EXPECT_LT(((at(h) - at(-h)) / (2 * h) - got).norm(), 1e-6 * (1 + expected.norm()));
  }
}

}  // namespace
}  // namespace featherstorm::test_velocity_force
