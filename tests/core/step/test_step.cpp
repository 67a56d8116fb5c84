#include <gtest/gtest.h>

#include "core/dynamics/rnea.h"
#include "core/kinematics/energy.h"
#include "core/step/step.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_step {
namespace {

using namespace testing;

constexpr StepParameters<double> parameters{0.01, 300, 5, 0.05};
constexpr Zeros<double> none;

// a random robot whose joints have stops, damping, friction and effort limits in every combination
Robot random_machine(unsigned seed) {
  RandomOptions options;
  options.floating = seed % 2;
  RobotSpec spec = random_spec(seed, options);
  Random random(seed + 77);
  for (JointSpec& j : spec.joints) {
    const int n = j.type == JointType::UserDefined ? j.user.nv : joint_size(j.type).nv;
    auto fill = [&](Numbers& a, double low, double high) {
      if (random.chance(0.7))
        for (int k = 0; k < n; k++) a.push_back(random.uniform(low, high));
    };
    fill(j.lower, -2, 0), fill(j.upper, 0, 2), fill(j.damping, 0, 3), fill(j.friction, 0, 3), fill(j.max_effort, 0, 20);
  }
  return build(spec);
}
struct Controls {
  Numbers target, kp, kd;
  Controls(const Model<double>& m, unsigned seed) {
    Random random(seed + 99);
    for (int k = 0; k < m.nv; k++)
      target.push_back(random.uniform(-1, 1)), kp.push_back(random.uniform(0, 30)), kd.push_back(random.uniform(0, 5));
  }
};

// (H + dt D) qdd = tau - C - D v with dense matrices, H column by column from inverse dynamics, joint forces with plain
// ifs
void dense_step(const Model<double>& m, const State& s, const Controls& c, const StepParameters<double>& p, Numbers& q,
                Numbers& v) {
  const int n = m.nv;
  Eigen::MatrixXd H(n, n);
  Numbers bias(n), column(n);
  rnea(m, s.q.data(), s.v.data(), none, s.f_ext.data(), bias.data());
  Eigen::VectorXd b = -vector(bias), D(n);
  for (int k = 0; k < n; k++) {
    Numbers e(n);
    e[k] = 1;
    rnea(m, s.q.data(), s.v.data(), e.data(), s.f_ext.data(), column.data());
    H.col(k) = vector(column) - vector(bias);
    const int j = m.dof_q[k];
    double drive = s.tau[k], kd = 0, stop = 0;
    if (j >= 0) drive += c.kp[k] * (c.target[k] - s.q[j]) - c.kd[k] * s.v[k], kd = c.kd[k];
    if (std::abs(drive) > m.max_effort[k]) drive = std::copysign(m.max_effort[k], drive), kd = 0;
    D(k) = kd + m.damping[k] + m.friction[k] / std::hypot(s.v[k], p.friction_velocity);
    if (j >= 0 && s.q[j] < m.lower[k]) stop = p.limit_stiffness * (m.lower[k] - s.q[j]), D(k) += p.limit_damping;
    if (j >= 0 && s.q[j] > m.upper[k]) stop = p.limit_stiffness * (m.upper[k] - s.q[j]), D(k) += p.limit_damping;
    b(k) += drive + stop - (D(k) - kd) * s.v[k];
  }
  const Eigen::VectorXd qdd = (H + p.dt * Eigen::MatrixXd(D.asDiagonal())).fullPivLu().solve(b);
  for (int k = 0; k < n; k++) v[k] = s.v[k] + p.dt * qdd(k);
  integrate(m, s.q.data(), v.data(), p.dt, q.data());
}

TEST(Step, EqualsTheDenseSolutionOfItsEquation) {
  for (unsigned seed = 1; seed <= 60; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_machine(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    const Controls c(m, seed);
    const Drive drive{s.tau.data(), c.target.data(), c.kp.data(), c.kd.data()};
    Numbers q(m.nq), v(m.nv), q1(m.nq, NAN), v1(m.nv, NAN);
    dense_step(m, s, c, parameters, q, v);
    step(m, s.q.data(), s.v.data(), drive, s.f_ext.data(), parameters, q1.data(), v1.data());
    EXPECT_LT((vector(v1) - vector(v)).norm(), 1e-11 * (1 + vector(v).norm()));
    EXPECT_LT((vector(q1) - vector(q)).norm(), 1e-11 * (1 + vector(q).norm()));
    step_aba(m, s.q.data(), s.v.data(), drive, s.f_ext.data(), parameters, q1.data(), v1.data());
    EXPECT_LT((vector(v1) - vector(v)).norm(), 1e-11 * (1 + vector(v).norm()));
    EXPECT_LT((vector(q1) - vector(q)).norm(), 1e-11 * (1 + vector(q).norm()));
  }
}

TEST(Step, AllowsTheResultInPlaceOfTheState) {
  for (unsigned seed = 1; seed <= 5; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_machine(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    const Drive drive{s.tau.data(), none, none, none};
    Numbers q(m.nq), v(m.nv);
    step(m, s.q.data(), s.v.data(), drive, none, parameters, q.data(), v.data());
    State in_place = s;
    step(m, in_place.q.data(), in_place.v.data(), drive, none, parameters, in_place.q.data(), in_place.v.data());
    EXPECT_EQ(in_place.q, q);
    EXPECT_EQ(in_place.v, v);
    in_place = s;
    step_aba(m, s.q.data(), s.v.data(), drive, none, parameters, q.data(), v.data());
    step_aba(m, in_place.q.data(), in_place.v.data(), drive, none, parameters, in_place.q.data(), in_place.v.data());
    EXPECT_EQ(in_place.q, q);
    EXPECT_EQ(in_place.v, v);
  }
}

}  // namespace
}  // namespace featherstorm::test_step
