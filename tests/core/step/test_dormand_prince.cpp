// The variable step: orders of the pair, errors against closed forms and tiny steps, bad steps.
#include <gtest/gtest.h>

#include "core/step/dormand_prince.h"

#include "core/kinematics/energy.h"
#include "tests/support/robots/swinging.h"

namespace featherstorm::test_dormand_prince {
namespace {

using namespace testing;

constexpr Zeros<double> none;
constexpr StepParameters<double> plain{0, 0, 0, 1};

// `steps` steps of equal length, and the sum of their error estimates
State run(const Model<double>& m, State s, double time, int steps, double* estimate = nullptr) {
  const auto forward = [&](double, auto q, auto v, auto tau, auto qdd) { articulated_bodies(m, q, v, tau, none, qdd); };
  double sum = 0;
  for (int k = 0; k < steps; k++) {
    State next = s;
    sum += dormand_prince_step_by(forward, m, s.q.data(), s.v.data(), Drive{s.tau.data(), none, none, none}, plain,
                                  time / steps, ErrorTolerance<double>{1, 0}, next.q.data(), next.v.data());
    s = next;
  }
  if (estimate) *estimate = sum;
  return s;
}
State run_rk4(const Model<double>& m, State s, double time, int steps) {
  const StepParameters<double> p{time / steps, 0, 0, 1};
  for (int k = 0; k < steps; k++)
    rk4_step_aba(m, s.q.data(), s.v.data(), Drive{s.tau.data(), none, none, none}, none, p, s.q.data(), s.v.data());
  return s;
}
State run_adaptively(const Model<double>& m, State s, double time, double tolerance,
                     StepControl<double>* end = nullptr) {
  const auto c = integrate_adaptively(m, s.q.data(), s.v.data(), Drive{s.tau.data(), none, none, none}, none, plain,
                                      {tolerance, tolerance}, time, 100000);
  EXPECT_EQ(c.remaining, 0);
  if (end) *end = c;
  return s;
}
const State stone = tumbling(), swing{{1, 0.5}, {0, 1}, {}, Numbers(2), {}};

TEST(DormandPrince, IsOfFifthOrderForJointsOfEveryType) {
  RandomOptions options;
  options.bodies = 2, options.roots = 0;
  for (unsigned seed = 1; seed <= 24; seed++) {
    options.types = {all_joint_types[seed % all_joint_types.size()]};
    if (options.types[0] == JointType::BallYpr) continue;  // runs into its singularity
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + name_of(options.types[0]));
    const Robot robot = random_robot(seed, options);
    const State s = random_state(robot, seed);
    if (distance(robot.model, run(robot.model, s, 0.2, 5), run(robot.model, s, 0.2, 10)) < 1e-10) continue;  // exact
    const Model<double>& m = robot.model;
    const State exact = run(m, s, 0.2, 160);
    EXPECT_GT(std::log2(distance(m, run(m, s, 0.2, 10), exact) / distance(m, run(m, s, 0.2, 20), exact)), 4.6);
  }
}

// With the second term of its series the tangent rate is right to |u|^6; without it a step is of order four only.
TEST(DormandPrince, TangentRateHasTheNextTerm) {
  const Model<double> m = free_body().model;
  const Numbers u{0, 0, 0, 0.3, -0.2, 0.25}, w{0, 0, 0, -1, 0.5, 2}, q1 = moved(m, stone.q, u, 1);
  Numbers rate(6), back(6);
  const Eigen::VectorXd expected = derivative([&](double t) {
    difference(m, stone.q.data(), moved(m, q1, w, t).data(), back.data());
    return vector(back);
  });
  tangent_rate<2>(m, u.data(), w.data(), rate.data());
  EXPECT_LT((vector(rate) - expected).norm(), 1e-6);
  tangent_rate<1>(m, u.data(), w.data(), rate.data());
  EXPECT_GT((vector(rate) - expected).norm(), 1e-5);
}

TEST(DormandPrince, IsTheLimitOfTinyStepsForRandomRobots) {
  RandomOptions options;
  options.bodies = 4;
  options.types = {JointType::Revolute, JointType::Prismatic, JointType::Ball, JointType::Helical, JointType::Planar};
  for (unsigned seed = 1; seed <= 6; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    options.floating = seed % 2 == 0;
    const Robot robot = random_robot(seed, options);
    const State s = random_state(robot, seed);
    const State fine = run_rk4(robot.model, s, 0.2, 1000);
    const double scale = 1 + vector(fine.v).norm();
    EXPECT_LT(distance(robot.model, run_adaptively(robot.model, s, 0.2, 1e-9), fine), 1e-6 * scale);
  }
}

// Dampers, springs at the stops and drives act during the step as in rk4_step.h.
TEST(DormandPrince, DrivesAndStopsActAsInOtherSteps) {
  Robot robot = pendulum(2);
  Model<double>& m = robot.model;
  m.damping = {0.3, 0.2}, m.friction = {0.1, 0.1}, m.upper[1] = 0.6, m.max_effort[0] = 4;
  const Numbers q{1, 0.5}, v{0, 1}, tau{1, -2}, target{0.4, 0.2}, kp{30, 20}, kd{1, 2};
  const Drive drive{tau.data(), target.data(), kp.data(), kd.data()};
  const StepParameters<double> p{1e-5, 200, 3, 0.1};
  Numbers q1 = q, v1 = v, q2 = q, v2 = v;
  for (int k = 0; k < 20000; k++) rk4_step(m, q1.data(), v1.data(), drive, none, p, q1.data(), v1.data());
  const auto c = integrate_adaptively(m, q2.data(), v2.data(), drive, none, p, {1e-8, 1e-8}, 0.2, 10000);
  EXPECT_EQ(c.remaining, 0);
  EXPECT_LT((vector(q1) - vector(q2)).norm() + (vector(v1) - vector(v2)).norm(), 1e-5);
}

TEST(DormandPrince, RefusesWhatIsNoNumberAndReportsWhatRemains) {
  const Model<double> m = pendulum(2).model;
  const State s{{1, 0.5}, {0, 1e160}, {}, Numbers(2), {}};  // v^2 overflows
  Numbers q = s.q, v = s.v;
  const Drive drive{none, none, none, none};
  auto c = integrate_adaptively(m, q.data(), v.data(), drive, none, plain, {1e-6, 1e-6}, 1, 5);
  EXPECT_EQ(c.remaining, 1);
  EXPECT_EQ(q, s.q);
  EXPECT_EQ(v, s.v);
  EXPECT_NEAR(c.step, 1 / std::pow(5.0, 5), 1e-12);
  // nothing remains: nothing changes
  StepControl<double> done{0, 0.25, 0.5};
  v = {0, 1};
  dormand_prince(m, q.data(), v.data(), drive, none, plain, {1e-6, 1e-6}, done, q.data(), v.data());
  EXPECT_EQ(v, (Numbers{0, 1}));
  EXPECT_EQ(done.remaining, 0);
  EXPECT_EQ(done.step, 0.25);
  EXPECT_EQ(done.error, 0.5);
}

// the end cuts the last step; what it would have been is kept for what follows
TEST(DormandPrince, KeepsTheStepBehindTheEnd) {
  const Model<double> m = pendulum(2).model;
  StepControl<double> c;
  const State s{{0.2, 0.1}, {0, 0}, {}, Numbers(2), {}};
  run_adaptively(m, s, 3, 1e-6, &c);
  const double usual = c.step;
  EXPECT_GT(usual, 0.01);
  Numbers q = s.q, v = s.v;
  c = integrate_adaptively(m, q.data(), v.data(), Drive{none, none, none, none}, none, plain, {1e-6, 1e-6}, 1e-3, 1,
                           usual);
  EXPECT_EQ(c.remaining, 0);
  EXPECT_GE(c.step, usual);
}

}  // namespace
}  // namespace featherstorm::test_dormand_prince
