#include <gtest/gtest.h>

#include "core/kinematics/energy.h"
#include "core/step/rk4_step.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/robots/swinging.h"

namespace featherstorm::test_rk4_step {
namespace {

using namespace testing;

constexpr Zeros<double> none;

State run(const Model<double>& m, State s, double time, int steps) {
  const StepParameters<double> p{time / steps, 0, 0, 1};
  for (int k = 0; k < steps; k++)
    rk4_step(m, s.q.data(), s.v.data(), Drive{s.tau.data(), none, none, none}, none, p, s.q.data(), s.v.data());
  return s;
}
// the error at half the step over that at the whole, as a power of two
double order(const Model<double>& m, const State& s, double time, int steps) {
  const State exact = run(m, s, time, 16 * steps);
  return std::log2(distance(m, run(m, s, time, steps), exact) / distance(m, run(m, s, time, 2 * steps), exact));
}

TEST(Rk4, IsOfFourthOrderForJointsOfEveryType) {
  RandomOptions options;
  options.bodies = 2, options.roots = 0;
  for (unsigned seed = 1; seed <= 24; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    options.types = {all_joint_types[seed % all_joint_types.size()]};
    if (options.types[0] == JointType::BallYpr) continue;  // runs into its singularity
    const Robot robot = random_robot(seed, options);
    const State s = random_state(robot, seed);
    if (distance(robot.model, run(robot.model, s, 0.1, 20), run(robot.model, s, 0.1, 40)) < 1e-12) continue;  // exact
    EXPECT_NEAR(order(robot.model, s, 0.1, 20), 4, 0.3) << name_of(options.types[0]);
  }
}

TEST(Rk4, TangentRateUndoesTheDerivativeOfTheExponentialMap) {
  RandomOptions options;
  options.types = {JointType::Ball, JointType::BallExp, JointType::Free};
  for (unsigned seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed, options);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    Numbers u = s.a, rate(m.nv), back(m.nv);
    for (double& x : u) x *= 0.01;
    // u(t) = difference(q, (q (+) u) (+) v t) has the rate tangent_rate(u, v) at t = 0
    const Numbers q1 = moved(m, s.q, u, 1);
    const Eigen::VectorXd expected = derivative([&](double t) {
      difference(m, s.q.data(), moved(m, q1, s.v, t).data(), back.data());
      return vector(back);
    });
    tangent_rate(m, u.data(), s.v.data(), rate.data());
    EXPECT_LT((vector(rate) - expected).norm(), 1e-7);
  }
}

TEST(Rk4, IsTheSameByArticulatedBodies) {
  for_robots_in_states(20, [](const Model<double>& m, const State& s) {
    const Drive drive{s.tau.data(), none, none, none};
    const StepParameters<double> p{0.01, 0, 0, 1};
    State a = s, b = s;
    rk4_step(m, s.q.data(), s.v.data(), drive, s.f_ext.data(), p, a.q.data(), a.v.data());
    rk4_step_aba(m, s.q.data(), s.v.data(), drive, s.f_ext.data(), p, b.q.data(), b.v.data());
    EXPECT_LT(distance(m, a, b), 1e-11 * (1 + vector(a.v).norm()));
  });
}

}  // namespace
}  // namespace featherstorm::test_rk4_step
