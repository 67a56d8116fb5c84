// What a robot's kernels may be made from without losing digits.
#include "host/trace/digits.h"

#include <gtest/gtest.h>

#include "core/program/count.h"
#include "core/program/order.h"
#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/trace/trace_op.h"
#include "tests/support/robots/adversarial_robot.h"

namespace featherstorm::test_digits {
namespace {

using namespace testing;

int operations(const Program& p) { return count(p, trace_order(p)).instructions(); }

TEST(FactorAccuracy, RobotsThatPeopleBuildKeepTheirDigits) {
  for (const char* name :
       {"iiwa14", "panda", "ur5", "go2", "anymal_c", "hyq", "atlas", "g1", "humanoid", "cartpole", "double_pendulum"})
    EXPECT_TRUE(factor_keeps_digits(load(name).model)) << name;
}

// Light limbs on heavy robots: in float, solutions by the factor are a hundred times as far off as those by articulated bodies.
TEST(FactorAccuracy, LightLimbsGoByArticulatedBodies) {
  for (unsigned seed : {189u, 204u, 205u, 2487u}) {
    const Robot robot = build(adversarial_spec(seed));
    EXPECT_FALSE(factor_keeps_digits(robot.model)) << seed;
    for (const char* name : {"fd", "step"}) {
      const int op = op_index(name);
      EXPECT_EQ(operations(trace_best(op, robot.model, 0)), operations(trace_op(op, robot.model, 0, 0))) << name;
    }
    Evaluator e(robot);
    e.kernel("fd", Precision::float32);
    e.kernel("fd_vjp", Precision::float64);
    for (const CheckedKernel& c : e.checks()) EXPECT_TRUE(c.result.passed) << c.op << ": " << c.result.words();
  }
}

}  // namespace
}  // namespace featherstorm::test_digits
