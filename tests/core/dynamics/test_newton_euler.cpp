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
    for (const std::vector<double>& f_ext : {s.f_ext, std::vector<double>{}})
      EXPECT_LT(relative_error(call_newton_euler(c.model(), s.q, s.v, s.a, f_ext), c.oracle.rnea(s.q, s.v, s.a, f_ext),
                               force_scale(c, s.a)),
                tolerance<double>("newton_euler"));
  });
}

}  // namespace
}  // namespace featherstorm::test_newton_euler
