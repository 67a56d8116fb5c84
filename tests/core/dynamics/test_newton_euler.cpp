// Inverse dynamics in classical accelerations: the same map as rnea, by other means. RBDA section 5.4.
#include "core/dynamics/newton_euler.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"

namespace featherstorm::test_newton_euler {
namespace {

using namespace testing;

TEST(NewtonEuler, EqualsDenseOracle) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const double scale = force_scale(c, s.a), bound = tolerance<double>("newton_euler");
    const auto with = call_newton_euler(c.model(), s.q, s.v, s.a, s.f_ext);
    const auto without = call_newton_euler(c.model(), s.q, s.v, s.a, {});
    EXPECT_LT(relative_error(with, c.oracle.rnea(s.q, s.v, s.a, s.f_ext), scale), bound);
    EXPECT_LT(relative_error(without, c.oracle.rnea(s.q, s.v, s.a, {}), scale), bound);
  });
}

TEST(NewtonEuler, EqualsRnea) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    EXPECT_LT(relative_error(call_newton_euler(c.model(), s.q, s.v, s.a, s.f_ext),
                             call_rnea(c.model(), s.q, s.v, s.a, s.f_ext), force_scale(c, s.a)),
              tolerance<double>("newton_euler"));
  });
}

// The point r of a body that turns with w and alpha has the acceleration alpha × r + w × (w × r).
TEST(NewtonEuler, AccelerationFieldIsThatOfATurningBody) {
  Random random(1);
  for (int k = 0; k < 20; k++) {
    const Vec3d w = random.vector(), alpha = random.vector(), r = random.vector();
    const Vec3d expected = alpha.cross(r) + w.cross(w.cross(r));
    EXPECT_LT((acceleration_field(w, alpha) * r - expected).norm(), 1e-14);
  }
}

// int r × U r dm of point masses
TEST(NewtonEuler, MomentOfFieldIsSumOverPointMasses) {
  Random random(2);
  const Vec3d w = random.vector();
  const Mat3d U = acceleration_field(w, random.vector());
  Mat3d moments = Mat3d::Zero();
  Vec3d expected = Vec3d::Zero();
  for (int k = 0; k < 6; k++) {
    const double m = random.uniform(0.1, 1);
    const Vec3d r = random.vector(), Ur = U * r;
    expected += m * r.cross(Ur);
    moments += m * r * r.transpose();
  }
  EXPECT_LT((moment_of_field(U, w, upper(moments)) - expected).norm(), 1e-14);
}

}  // namespace
}  // namespace featherstorm::test_newton_euler
