#include "core/dynamics/joint_wrenches.h"
#include "core/dynamics/rnea.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/every_scalar.h"

namespace featherstorm::test_joint_wrenches {
namespace {

using namespace testing;

TEST(JointWrenches, AlongTheAxesAreTheJointForces) {
  for (unsigned seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    Numbers w(6 * m.nb, NAN), tau(m.nv);
    joint_wrenches(m, s.q.data(), s.v.data(), s.a.data(), s.f_ext.data(), w.data());
    rnea(m, s.q.data(), s.v.data(), s.a.data(), s.f_ext.data(), tau.data());
    Scratch<double> x(m.nx);
    Scratch<Placement<double>> X(m.nb + 1);
    for (int i = 1; i <= m.nb; i++) update_joint(m, i, s.q.data(), Zeros<double>{}, x);
    body_placements(m, x, X);
    for (int i = 1; i <= m.nb; i++)
      with_joint(m, i, x, [&](const auto& J) {
        const double* f = &w[6 * (i - 1)];
        const Force<double> body{transpose_times(X[i].R, Vec3d(f[0], f[1], f[2])),
                                 transpose_times(X[i].R, Vec3d(f[3], f[4], f[5]))};
        for (int k = 0; k < J.nv; k++) {
          const int c = m.body[i].v + k;
          EXPECT_NEAR(J.project(k, body) + m.armature[c] * s.a[c], tau[c], 1e-11 * scale_of(tau));
        }
      });
  }
}

TEST(JointWrenches, OfAStillRobotHoldTheWeight) {
  ModelBuilder b;
  b.add_link({"column", 3, {0, 0, 0.5}, Mat3d::Identity() * 0.1});
  b.add_link({"beam", 2, {0.5, 0, 0}, Mat3d::Identity() * 0.1});
  JointSpec j;
  j.name = "base", j.child = "column";
  b.add_joint(j);
  j.name = "hinge", j.parent = "column", j.child = "beam", j.X.r = {0, 0, 1}, j.axis = {1, 0, 0};
  b.add_joint(j);
  const Robot robot = b.build();
  const double g = 9.81;
  const Zeros<double> zero;
  double w[12];
  joint_wrenches(robot.model, zero, zero, zero, zero, w);
  const double expected[12] = {0, -g, 0, 0, 0, 5 * g, 0, -g, 0, 0, 0, 2 * g};
  for (int k = 0; k < 12; k++) EXPECT_NEAR(w[k], expected[k], 1e-13);
}

TEST(JointWrenches, VanishInFreeFall) {
  for (unsigned seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions options;
    options.floating = true, options.roots = 0;
    RobotSpec spec = random_spec(seed, options);
    spec.joints.erase(
        std::remove_if(spec.joints.begin(), spec.joints.end(), [](const JointSpec& j) { return j.parent.empty(); }),
        spec.joints.end());
    const Robot robot = build(spec);
    const Model<double>& m = robot.model;
    State s = random_state(robot, seed);
    Numbers v(m.nv), a(m.nv), w(6 * m.nb, NAN);
    for (int k = 0; k < 3; k++) a[k] = m.gravity(k);
    joint_wrenches(m, s.q.data(), v.data(), a.data(), Zeros<double>{}, w.data());
    for (double x : w) EXPECT_NEAR(x, 0, 1e-11);
  }
}

TEST(JointWrenches, AreTheSameForEveryScalar) {
  for (unsigned seed = 1; seed <= 5; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const State s = random_state(robot, seed);
    expect_every_scalar(
        robot.model, {s.q, s.v, s.a, s.f_ext}, 6 * robot.model.nb, 1e-5,
        [](const auto& m, const auto& in, auto out) { joint_wrenches(m, in[0], in[1], in[2], in[3], out); });
  }
}

}  // namespace
}  // namespace featherstorm::test_joint_wrenches
