// Kernels made for one robot are compared with the text that takes the model as data, before they serve.
#include "host/engine/kernel_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>

#include "host/assemble/assemble.h"
#include "host/load/load.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/message.h"
#include "tests/support/tools/run_batch.h"

namespace featherstorm::test_kernel_check {
namespace {

using namespace testing;

// An evaluator whose programs have a fault before kernels are made from them, and what it says.
struct Faulty {
  std::string told;
  Evaluator e;
  Faulty(const Robot& robot, std::function<void(Program&)> fault, std::vector<std::string> parameters = {})
      : e(robot, {.threads = 1,
                  .parameters = std::move(parameters),
                  .notice = [this](const std::string& s) { told += s + "\n"; },
                  .before_making = std::move(fault)}) {}
};
void other_sign(Program& p) { p.results[0][0] = -p.results[0][0]; }
// Off by a part in a million.
void off(Program& p) {
  Tracing scope(p.graph);
  p.results[0][0] = p.results[0][0] * Expr(1 + 1e-6);
}

// No number where three joints stand at exactly 0; else off by nothing.
void no_number_at_zero(Program& p) {
  Tracing scope(p.graph);
  const auto squared = [&](int k) { return Expr(p.graph.input(0, k)) * Expr(p.graph.input(0, k)); };
  p.results[0][0] += Expr(1e-30) / (squared(2) + squared(3) + squared(4));
}

double first_torque(Evaluator& e) {
  Numbers q, rest(e.robot().model.nv);
  for (std::size_t c = 0; c < rest.size(); c++) q.push_back(0.3 * static_cast<double>(c) + 0.2);
  return run_one(e, "rnea", {q, rest, rest})[0][1];
}

TEST(KernelCheck, AFaultyKernelIsNotUsedAndTheTextServes) {
  const Robot robot = load("iiwa14");
  Evaluator sound(robot);
  if (!can_assemble(sound.isa())) GTEST_SKIP() << "nothing is assembled here";
  for (const auto& fault : {other_sign, off}) {
    Faulty f(robot, fault);
    EXPECT_NEAR(first_torque(f.e), first_torque(sound), 1e-12);
    EXPECT_FALSE(f.e.specialised("rnea", Precision::float64));
    EXPECT_EQ(f.told.find("rnea of iiwa14: the assembled kernel is not used: tau differs by "), 0u) << f.told;
    ASSERT_EQ(f.e.checks().size(), 1u);
    EXPECT_FALSE(f.e.checks()[0].result.passed);
    EXPECT_EQ(f.e.checks()[0].result.array, "tau");
  }
  EXPECT_TRUE(sound.specialised("rnea", Precision::float64));
  ASSERT_EQ(sound.checks().size(), 1u);
  EXPECT_LT(sound.checks()[0].result.error, 1e-13);
}

TEST(KernelCheck, ACompiledKernelIsChecked) {
  Faulty f(load("double_pendulum"), other_sign);
  EXPECT_FALSE(f.e.specialise("rnea", Precision::float32));
  EXPECT_NE(f.told.find("kernel is not used: tau differs by"), std::string::npos) << f.told;
}

// What comes of a pivot that cancels where axes are in line, as robots stand when they are started.
TEST(KernelCheck, AKernelWithoutNumbersWhereRobotsStartIsNotUsed) {
  const Robot robot = load("iiwa14");
  Evaluator sound(robot);
  if (!can_assemble(sound.isa())) GTEST_SKIP() << "nothing is assembled here";
  for (Precision p : {Precision::float64, Precision::float32}) {
    Faulty f(robot, no_number_at_zero);
    f.e.kernel("rnea", p);
    EXPECT_FALSE(f.e.specialised("rnea", p));
    EXPECT_EQ(f.told,
              "rnea of iiwa14: the assembled kernel is not used: tau is not finite in a state where the "
              "algorithm's result is finite\n");
    ASSERT_EQ(f.e.checks().size(), 1u);
    EXPECT_TRUE(f.e.checks()[0].result.lacks_numbers && !f.e.checks()[0].result.passed);
  }
}

// Of rows with parameters there is no other kernel but what is made from the same program.
TEST(KernelCheck, WhereNothingElseServesAKernelMayLackNumbers) {
  const Robot robot = load("iiwa14");
  Faulty f(robot, no_number_at_zero, {"mass"});
  f.e.kernel("rnea", Precision::float64);
  EXPECT_EQ(f.told.find("rnea of iiwa14: the "), 0u) << f.told;
  EXPECT_NE(f.told.find(" kernel is used because there is no other, but tau is not finite"), std::string::npos)
      << f.told;
  ASSERT_EQ(f.e.checks().size(), 1u);
  EXPECT_FALSE(f.e.checks()[0].result.passed);
}

TEST(KernelCheck, SamplesWhereRobotsStart) {
  const Robot robot = random_robot(3);
  const Model<double>& m = robot.model;
  Evaluator e(robot, {.assemble = false});
  const SampledRow s = sample_row(e.op("fd"), robot, 16, 1, Positions::where_robots_start);
  const auto instance = [&](int array, std::size_t i) {
    std::vector<double> x;
    for (const auto& component : s.in[array]) x.push_back(component[i]);
    return x;
  };
  EXPECT_EQ(instance(0, 0), robot.q0);
  for (int array : {1, 2}) EXPECT_EQ(instance(array, 0), std::vector<double>(m.nv, 0.0));
  int neutral = 0, right = 0, other = 0;
  for (std::size_t i = 1; i < 16; i++)
    for (int k = 0; k < m.nq; k++) {
      const double q = s.in[0][k][i];
      if (q == robot.q0[k]) neutral++;
      else if (std::abs(q) == M_PI / 2) right++;
      else other++;
    }
  EXPECT_GT(neutral, 15 * m.nq / 4);
  EXPECT_GT(right, 0);
  EXPECT_GT(other, 15 * m.nq / 8);
}

// A derivative has no text that takes the model as data: it is compared with its program, which is what a fault changes here, so
// that nothing can be seen. What is seen is code that does not compute the program.
TEST(KernelCheck, DerivativesAreComparedWithTheirPrograms) {
  Evaluator e(load("iiwa14"));
  const OpRow& row = e.op("fd_vjp");
  const BoundKernel kernel = e.kernel("fd_vjp", Precision::float64);
  Program p = e.program("fd_vjp");
  const auto run = [&](const SampledRow& inputs) { return run_sampled(kernel, Precision::float64, row, inputs); };
  EXPECT_TRUE(check_kernel(row, e.robot(), Precision::float64, 0, p, run).passed);
  p.results[0][1] = -p.results[0][1];
  const KernelCheck c = check_kernel(row, e.robot(), Precision::float64, 0, p, run);
  EXPECT_FALSE(c.passed);
  EXPECT_EQ(c.array, "q_bar");
}

TEST(KernelCheck, RowsWithParametersAreComparedAtTheRobotsOwnNumbers) {
  const Robot robot = load("iiwa14");
  Faulty f(robot, off, {"mass"});
  EXPECT_EQ(message([&] { run_one(f.e, "crba", {Numbers(robot.model.nv), Numbers(robot.model.nb)}); }),
            "crba: no kernel for this robot agrees with the algorithm in double");
  Evaluator sound(robot, {.parameters = {"mass"}});
  sound.kernel("crba", Precision::float64);
  ASSERT_EQ(sound.checks().size(), 1u);
  EXPECT_TRUE(sound.checks()[0].result.passed);
  EXPECT_EQ(sound.checks()[0].result.array, "M");
}

// The inertia of a ball does not depend on its position: the derivative of M^-1 is what rounding leaves of numbers of 1e7.
TEST(KernelCheck, AnOutputThatIsAllRoundingIsNoFault) {
  RobotSpec spec;
  LinkSpec ball{"ball", 1e-4};
  ball.com = {0.005, -0.02, -0.04}, ball.inertia = Vec3d(3e-7, 2e-7, 1e-7).asDiagonal();
  spec.links = {ball};
  JointSpec joint;
  joint.name = "joint", joint.type = JointType::Ball, joint.child = "ball";
  spec.joints = {joint};
  Evaluator e(build(spec));
  if (!can_assemble(e.isa())) GTEST_SKIP() << "nothing is assembled here";
  for (Precision p : {Precision::float64, Precision::float32}) e.kernel("fd_second_derivatives", p);
  ASSERT_EQ(e.checks().size(), 2u);
  for (const CheckedKernel& c : e.checks()) EXPECT_TRUE(c.result.passed) << c.result.words();
}

// In one state of sixteen the map may be singular; in all it is a fault, and where the text has numbers it is one to have none.
TEST(KernelCheck, AFewStatesMayBeBad) {
  Evaluator e(load("iiwa14"));
  const OpRow& row = e.op("rnea");
  SampledArrays exact{std::vector<std::vector<double>>(7, std::vector<double>(16, 1.0))}, found = exact;
  const auto compared = [&](Precision p, const SampledArrays& rounded) {
    return compare(row, e.robot(), p, found, {exact, rounded, exact});
  };
  found[0][3][5] = 2;
  EXPECT_TRUE(compared(Precision::float64, exact).passed);
  found[0][3][5] = NAN;
  SampledArrays nowhere = exact;
  nowhere[0][6][5] = HUGE_VAL;
  EXPECT_TRUE(compared(Precision::float64, exact).lacks_numbers && !compared(Precision::float64, exact).passed);
  EXPECT_TRUE(compared(Precision::float32, exact).lacks_numbers && !compared(Precision::float32, exact).passed);
  EXPECT_TRUE(compared(Precision::float32, nowhere).passed) << "nor has the text in float";
  for (int i = 0; i < 5; i++) found[0][3][i] = 1 + 1e-6;
  const KernelCheck c = compare(row, e.robot(), Precision::float64, found, {exact, exact, exact});
  EXPECT_FALSE(c.passed);
  EXPECT_TRUE(compare(row, e.robot(), Precision::float32, found, {exact, exact, exact}).error > 1) << "no number";
  for (int i = 0; i < 16; i++) found[0][3][i] = 1 + 1e-6;
  EXPECT_FALSE(compare(row, e.robot(), Precision::float64, found, {exact, exact, exact}).passed);
  EXPECT_TRUE(compare(row, e.robot(), Precision::float32, found, {exact, exact, exact}).passed);
  // where the text itself is that far off in float, double may be 2^-29 of it
  SampledArrays rounded = exact;
  for (auto& component : rounded[0])
    for (double& x : component) x = 0.5;
  EXPECT_FALSE(compare(row, e.robot(), Precision::float64, found, {exact, rounded, exact}).passed);
  for (int i = 0; i < 16; i++) found[0][3][i] = 1 + 3e-8;
  EXPECT_TRUE(compare(row, e.robot(), Precision::float64, found, {exact, rounded, exact}).passed);
}

// What is zero at rest is judged by what it usually is.
TEST(KernelCheck, ASmallOutputIsJudgedByItsUsualSize) {
  Evaluator e(load("iiwa14"));
  const OpRow& row = e.op("rnea");
  SampledArrays text{std::vector<std::vector<double>>(7, std::vector<double>(16))};
  for (int i = 0; i < 16; i++) text[0][2][i] = -std::pow(10, i);
  SampledArrays beside = text;
  for (int i = 0; i < 16; i++) beside[0][5][i] = 16 - i;
  const Usual usual = usual_of({text, text, beside});
  ASSERT_EQ(usual.size.size(), 1u);
  EXPECT_EQ(usual.size[0], 1e8);
  EXPECT_EQ(usual.conditioning[0], 9);
  const SampledArrays zero{std::vector<std::vector<double>>(7, std::vector<double>(16))};
  SampledArrays found = zero;
  const auto compared = [&](double x, const Usual& beside) {
    for (double& number : found[0][3]) number = x;
    return compare(row, e.robot(), Precision::float64, found, {zero, zero, zero}, beside).passed;
  };
  EXPECT_FALSE(compared(1e-2, {}));
  EXPECT_TRUE(compared(1e-2, {usual.size, {0}}));
  EXPECT_FALSE(compared(1, {usual.size, {0}}));
  EXPECT_TRUE(compared(1, usual));
  EXPECT_FALSE(compared(1e3, usual));
}

TEST(KernelCheck, SaysWhatDiffers) {
  EXPECT_EQ((KernelCheck{"tau", 8e-4, 1e-9, false}).words(),
            "tau differs by 8e-04 of its size from the algorithm in double, expected at most 1e-09");
  EXPECT_EQ(KernelCheck{}.words(), "not compared");
}

// Every row that a robot has can be sampled: its text takes the numbers.
TEST(KernelCheck, EveryRowGivesFiniteNumbersForItsSamples) {
  for (const Robot& robot : {load("go2"), random_robot(3)}) {
    Evaluator e(robot, {.assemble = false});
    for (const OpRow& row : e.ops()) {
      if (!row.refused.empty()) continue;
      const SampledRow s = sample_row(row, robot, 4, 1);
      const SampledArrays out = run_sampled(e.kernel(row.name, Precision::float64), Precision::float64, row, s);
      for (const auto& array : out)
        for (const auto& component : array)
          for (double x : component) EXPECT_TRUE(std::isfinite(x)) << row.name << " of " << robot.name;
    }
  }
}

}  // namespace
}  // namespace featherstorm::test_kernel_check
