#include "core/dynamics/crba.h"
#include "core/dynamics/gravity_torques.h"
#include "core/dynamics/rnea.h"
#include "core/kinematics/energy.h"
#include "core/linear/ltdl.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/every_scalar.h"

namespace featherstorm::test_energy {
namespace {

using namespace testing;

Eigen::VectorXd energies(const Model<double>& m, const Numbers& q, const Numbers& v) {
  Numbers e(2, NAN);
  energy(m, q.data(), v.data(), e.data());
  return vector(e);
}

TEST(Energy, KineticIsHalfTheSquareOfVelocityInTheInertiaMatrix) {
  for (unsigned seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    Numbers H(m.nh), Hv(m.nv);
    crba(m, s.q.data(), H.data());
    mul_h(m, H.data(), s.v.data(), Hv.data());
    const double T = energies(m, s.q, s.v)(0);
    EXPECT_NEAR(T, vector(Hv).dot(vector(s.v)) / 2, 1e-12 * T);
  }
}

TEST(Energy, KineticOfOneBodyIsThatOfItsCentreAndOfItsRotation) {
  ModelBuilder b;
  const Vec3d c(0.1, -0.2, 0.3), w(1, 2, -3), v(-1, 0.5, 2);
  const Mat3d Ic = Vec3d(1, 2, 2.5).asDiagonal();
  b.add_link({"stone", 2, c, Ic});
  b.float_root("stone");
  const Robot robot = b.build();
  const Eigen::VectorXd e = energies(robot.model, {1, 2, 3, 1, 0, 0, 0}, {v.x(), v.y(), v.z(), w.x(), w.y(), w.z()});
  const Vec3d u = v + w.cross(c);
  EXPECT_NEAR(e(0), u.squaredNorm() + w.dot(Ic * w) / 2, 1e-12);
  EXPECT_NEAR(e(1), 2 * 9.81 * 3.3, 1e-12);
}

TEST(Energy, GradientOfThePotentialIsGravityTorques) {
  for (unsigned seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    Numbers g(m.nv, NAN);
    gravity_torques(m, s.q.data(), g.data());
    for (int k = 0; k < m.nv; k++) {
      Numbers e(m.nv);
      e[k] = 1;
      const double d = derivative([&](double t) { return energies(m, moved(m, s.q, e, t), e).tail<1>().eval(); })(0);
      EXPECT_NEAR(g[k], d, 1e-8 * scale_of(g));
    }
  }
}

TEST(Energy, ItsRateIsThePowerOfTheJointForces) {
  for (unsigned seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    Numbers tau(m.nv);
    rnea(m, s.q.data(), s.v.data(), s.a.data(), Zeros<double>{}, tau.data());
    const double expected =
        rate(m, s.q, s.v, s.a, [&](const Numbers& q, const Numbers& v) { return energies(m, q, v); }).sum();
    const double power = vector(tau).dot(vector(s.v));
    EXPECT_NEAR(power, expected, 1e-7 * (1 + vector(tau).norm() * vector(s.v).norm()));
  }
}

TEST(Energy, IsTheSameForEveryScalar) {
  for (unsigned seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const State s = random_state(robot, seed);
    expect_every_scalar(robot.model, {s.q, s.v}, 2, 1e-5,
                        [](const auto& m, const auto& in, auto out) { energy(m, in[0], in[1], out); });
  }
}

}  // namespace
}  // namespace featherstorm::test_energy
