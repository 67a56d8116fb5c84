#include "core/dynamics/rnea.h"
#include "core/kinematics/energy.h"
#include "core/step/step.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/every_scalar.h"

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

TEST(Step, IsOfFirstOrder) {
  for (unsigned seed = 1; seed <= 5; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions options;
    options.bodies = 4;
    const Robot robot = random_robot(seed, options);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    auto end = [&](int n) {
      State x = s;
      StepParameters<double> p = parameters;
      p.dt = 0.02 / n;
      for (int k = 0; k < n; k++)
        step(m, x.q.data(), x.v.data(), Drive{s.tau.data(), none, none, none}, none, p, x.q.data(), x.v.data());
      return vector(x.v);
    };
    const Eigen::VectorXd exact = end(6400);
    const double ratio = (end(50) - exact).norm() / (end(100) - exact).norm();
    EXPECT_GT(ratio, 1.9);
    EXPECT_LT(ratio, 2.15);
  }
}

// A wheel of inertia 2 kg m^2 (0.5 of it the rotor) on a vertical axle.
Robot wheel(JointSpec axle) {
  ModelBuilder b;
  b.add_link({"wheel", 1, Vec3d::Zero(), Mat3d::Identity() * 1.5});
  axle.name = "axle", axle.child = "wheel", axle.armature = {0.5};
  b.add_joint(axle);
  return b.build();
}
struct WheelState { double q = 0, v = 0; };
template <class Drive>
WheelState run_wheel(const Robot& robot, WheelState s, const Drive& drive, StepParameters<double> p, int steps) {
  for (int k = 0; k < steps; k++) step(robot.model, &s.q, &s.v, drive, none, p, &s.q, &s.v);
  return s;
}

TEST(Step, DampingIsImplicit) {
  for (double damping : {0.1, 10.0, 1e9}) {
    JointSpec axle;
    axle.damping = {damping};
    const WheelState s = run_wheel(wheel(axle), {0, 3}, Drive{none, none, none, none}, parameters, 1);
    EXPECT_NEAR(s.v, 3 / (1 + parameters.dt * damping / 2), 1e-15);
    EXPECT_NEAR(s.q, s.v * parameters.dt, 1e-15);
  }
}

TEST(Step, DriveReachesItsTargetAtAnyDerivativeGain) {
  const double kp = 100, target = 0.7;
  for (double kd : {20.0, 2000.0}) {
    const WheelState s = run_wheel(wheel({}), {0, 0}, Drive{none, &target, &kp, &kd}, parameters, 40000);
    EXPECT_NEAR(s.q, target, 1e-8);
    EXPECT_NEAR(s.v, 0, 1e-8);
  }
}

TEST(Step, DriveIsHeldWithinItsEffort) {
  JointSpec axle;
  axle.max_effort = {6};
  const double kp = 1000, kd = 50, target = 1, low = -1;
  WheelState s = run_wheel(wheel(axle), {0, 0}, Drive{none, &target, &kp, &kd}, parameters, 1);
  EXPECT_NEAR(s.v, parameters.dt * 6 / 2, 1e-15);
  s = run_wheel(wheel(axle), {0, 0}, Drive{none, &low, &kp, &kd}, parameters, 1);
  EXPECT_NEAR(s.v, -parameters.dt * 6 / 2, 1e-15);
}

TEST(Step, StopBalancesAForceAtItsStiffness) {
  JointSpec axle;
  axle.lower = {-0.2}, axle.upper = {0.3};
  const double up = 12, down = -12;
  WheelState s = run_wheel(wheel(axle), {0, 0}, Drive{&up, none, none, none}, parameters, 20000);
  EXPECT_NEAR(s.q, 0.3 + 12 / parameters.limit_stiffness, 1e-9);
  s = run_wheel(wheel(axle), {0, 0}, Drive{&down, none, none, none}, parameters, 20000);
  EXPECT_NEAR(s.q, -0.2 - 12 / parameters.limit_stiffness, 1e-9);
}

TEST(Step, FrictionHoldsASmallForceAndOpposesSliding) {
  JointSpec axle;
  axle.friction = {2};
  const double small = 1.0, large = 5.0;
  // held: creeping where mu v / sqrt(v^2 + eps^2) = small
  WheelState s = run_wheel(wheel(axle), {0, 0}, Drive{&small, none, none, none}, parameters, 5000);
  EXPECT_NEAR(s.v, parameters.friction_velocity / std::sqrt(3.0), 1e-9);
  // sliding: (5 - 2) / 2 rad/s^2
  s = run_wheel(wheel(axle), {0, 10}, Drive{&large, none, none, none}, parameters, 100);
  EXPECT_NEAR(s.v, 10 + 1.5, 2e-3);
  // coming to rest, at any friction, without turning back
  axle.friction = {1e6};
  s = run_wheel(wheel(axle), {0, 10}, Drive{none, none, none, none}, parameters, 100);
  EXPECT_GE(s.v, 0);
  EXPECT_LT(s.v, 1e-3);
}

TEST(Step, FreeFallIsExactInVelocity) {
  ModelBuilder b;
  b.add_link({"stone", 2, Vec3d::Zero(), Mat3d(Vec3d(1, 2, 2.5).asDiagonal())});
  b.float_root("stone");
  const Robot robot = b.build();
  Numbers q = robot.q0, v(6);
  for (int k = 0; k < 100; k++)
    step_aba(robot.model, q.data(), v.data(), Drive{none, none, none, none}, none, parameters, q.data(), v.data());
  EXPECT_NEAR(v[2], -9.81, 1e-12);
  EXPECT_NEAR(q[2], -9.81 / 2 * 1.01, 1e-12);  // sum of k dt^2 g
}

TEST(Step, EnergyOfAPendulumDoesNotDrift) {
  ModelBuilder b;
  b.add_link({"bob", 1, {0, 0, -1}, Mat3d::Identity() * 0.01});
  JointSpec j;
  j.name = "pivot", j.child = "bob", j.axis = {1, 0, 0};
  b.add_joint(j);
  const Robot robot = b.build();
  double q = 1, v = 0, e0[2], e[2], worst = 0;
  energy(robot.model, &q, &v, e0);
  for (int k = 0; k < 100000; k++) {
    step(robot.model, &q, &v, Drive{none, none, none, none}, none, parameters, &q, &v);
    energy(robot.model, &q, &v, e);
    worst = std::max(worst, std::abs(e[0] + e[1] - e0[0] - e0[1]));
  }
  EXPECT_LT(worst, 0.1);  // of 4.5 J, after 1000 s as after 1 s
}

TEST(Step, IsTheSameForEveryScalar) {
  for (unsigned seed = 1; seed <= 6; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_machine(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    const Controls c(m, seed);
    expect_every_scalar(m, {s.q, s.v, s.tau, c.target, c.kp, c.kd, s.f_ext, {0.01, 300, 5, 0.05}}, 2 * (m.nq + m.nv),
                        3e-4, [](const auto& m, const auto& in, auto out) {
                          using T = ScalarOf<decltype(out)>;
                          const Drive drive{in[2], in[3], in[4], in[5]};
                          const StepParameters<T> p{in[7][0], in[7][1], in[7][2], in[7][3]};
                          step(m, in[0], in[1], drive, in[6], p, out, out + m.nq);
                          out = out + m.nq + m.nv;
                          step_aba(m, in[0], in[1], drive, in[6], p, out, out + m.nq);
                        });
  }
}

}  // namespace
}  // namespace featherstorm::test_step
