#include <gtest/gtest.h>

#include "core/kinematics/integrate.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_integrate {
namespace {

using namespace testing;

// the largest deviation of a quaternion in q from unit length
double quaternion_fault(const Model<double>& m, const Numbers& q) {
  double fault = 0;
  for (int i = 1; i <= m.nb; i++) {
    const int first = m.body[i].type == JointType::Ball ? 0 : m.body[i].type == JointType::Free ? 3 : -1;
    if (first < 0) continue;
    double n = 0;
    for (int k = 0; k < 4; k++) n += q[m.body[i].q + first + k] * q[m.body[i].q + first + k];
    fault = std::max(fault, std::abs(n - 1));
  }
  return fault;
}

TEST(Integrate, UndoesDifferenceAndIsUndoneByIt) {
  for (unsigned seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed), s1 = random_state(robot, seed + 1000);
    // q0 (+) (q1 (-) q0) = q1, quaternions up to sign: compared by the difference that is left
    Numbers v(m.nv, NAN), left(m.nv, NAN);
    difference(m, s.q.data(), s1.q.data(), v.data());
    const Numbers q1 = moved(m, s.q, v, 1);
    difference(m, q1.data(), s1.q.data(), left.data());
    EXPECT_LT(vector(left).norm(), 1e-12);
    // (q (+) v dt) (-) q = v dt, rotations below half a turn
    const double dt = 0.4;
    difference(m, s.q.data(), moved(m, s.q, s.v, dt).data(), v.data());
    EXPECT_LT((vector(v) - vector(s.v) * dt).norm(), 1e-12 * (1 + vector(s.v).norm()));
  }
}

TEST(Integrate, AllowsTheResultInPlaceOfTheInput) {
  for (unsigned seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    State s = random_state(robot, seed);
    const Numbers expected = moved(robot.model, s.q, s.v, 0.1);
    integrate(robot.model, s.q.data(), s.v.data(), 0.1, s.q.data());
    EXPECT_EQ(s.q, expected);
  }
}

TEST(Integrate, RenormalisesQuaternions) {
  for (unsigned seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions options;
    options.types = {JointType::Ball, JointType::Free};
    const Robot robot = random_robot(seed, options);
    State s = random_state(robot, seed);
    for (double& x : s.q) x *= 1.01;
    EXPECT_GT(quaternion_fault(robot.model, s.q), 1e-2);
    EXPECT_LT(quaternion_fault(robot.model, moved(robot.model, s.q, s.v, 0.01)), 1e-15);
    for (int k = 0; k < 10000; k++) s.q = moved(robot.model, s.q, s.v, 0.01);
    EXPECT_LT(quaternion_fault(robot.model, s.q), 1e-15);
  }
}

TEST(Integrate, KeepsSmallAnglesInFloat) {
  RandomOptions options;
  options.bodies = 3, options.types = {JointType::Ball, JointType::BallExp, JointType::Free};
  for (unsigned seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed, options);
    const Model<float> m = cast<float>(robot.model);
    for (double size = 1e-12; size < 1; size *= 10) {
      const Numbers q0 = robot.q0;
      const State s = random_state(robot, seed);
      std::vector<float> q(q0.begin(), q0.end()), v, q1(m.nq), u(m.nv);
      for (double x : s.v) v.push_back(static_cast<float>(x * size));
      integrate(m, q.data(), v.data(), 1.0f, q1.data());
      difference(m, q.data(), q1.data(), u.data());
      for (int i = 0; i < m.nv; i++) EXPECT_NEAR(u[i], v[i], 1e-6 * size) << "size " << size;
    }
  }
}

}  // namespace
}  // namespace featherstorm::test_integrate
