// What a robot's kernels may be made from without losing digits.
#include "host/trace/digits.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/program/count.h"
#include "core/program/order.h"
#include "host/engine/evaluator.h"
#include "host/load/load.h"
#include "host/trace/canonical_form.h"
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

// Links of 1e-6 kg carry one of 463 kg. Where the third joint stands at 0, a part in 10^9 is left of the inertia about the second
// axis: nothing in float, and with inertias regrouped it comes out as zero.
TEST(FormAccuracy, LimbsInLineKeepTheirInertia) {
  const Robot robot = build(adversarial_spec(8909));
  const Model<double>& m = robot.model;
  const CanonicalForm all{true, true, true};
  const FormAccuracy accuracy(m);
  EXPECT_TRUE(accuracy.keeps_digits(m));
  EXPECT_FALSE(accuracy.keeps_digits(regrouped(slid(turned(m)))));
  const CanonicalForm sums = canonical_form(m, all, false), solutions = canonical_form(m, all, true);
  EXPECT_TRUE(sums.turned && sums.slid && sums.regrouped);
  EXPECT_FALSE(solutions.regrouped);

  Evaluator e(robot);
  const int n = m.nv;
  Buffer q(Precision::float32, 1, n), v(Precision::float32, 1, n), tau(Precision::float32, 1, n),
      a(Precision::float32, 1, n);
  for (const char* name : {"aba", "fd"}) {
    e.run(name, {q.ref(), v.ref(), tau.ref()}, {a.ref()});
    for (int c = 0; c < n; c++) EXPECT_TRUE(std::isfinite(a.component<float>(c)[0])) << name;
  }
  for (const CheckedKernel& c : e.checks()) EXPECT_TRUE(c.result.passed) << c.op << ": " << c.result.words();
}

// Of a form that is wrong, and of one that is no robot.
TEST(FormAccuracy, SeesErrorsInDouble) {
  Model<double> m = load("go2").model;
  const FormAccuracy accuracy(m);
  EXPECT_TRUE(accuracy.keeps_digits(m));
  m.body[3].I.h.x() += 1e-7 * m.body[3].I.m;
  EXPECT_FALSE(accuracy.keeps_digits(m));
  m.body[3].I.h.x() = NAN;
  EXPECT_FALSE(accuracy.keeps_digits(m));
}

}  // namespace
}  // namespace featherstorm::test_digits
