#include <gtest/gtest.h>

#include "core/dynamics/joint_wrenches.h"
#include "core/kinematics/energy.h"
#include "core/kinematics/momentum.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_momentum {
namespace {

using namespace testing;

// com (3), com velocity (3), h (6), h_com (3)
Eigen::VectorXd momenta(const Model<double>& m, const Numbers& q, const Numbers& v) {
  Numbers r(15, NAN);
  momentum(m, q.data(), v.data(), &r[0], &r[3], &r[6], &r[12]);
  return vector(r);
}

TEST(Momentum, LinearPartIsMassTimesTheRateOfTheCentreOfMass) {
  for_robots_in_states(40, [](const Model<double>& m, const State& s) {
    const Eigen::VectorXd r = momenta(m, s.q, s.v);
    const Eigen::VectorXd d =
        derivative([&](double t) { return momenta(m, moved(m, s.q, s.v, t), s.v).head<3>().eval(); });
    EXPECT_LT((r.segment<3>(3) - d).norm(), 1e-9 * (1 + d.norm()));
    EXPECT_LT((r.segment<3>(9) - r.segment<3>(3) * total_mass(m)).norm(), 1e-12 * (1 + r.norm()));
    // potential energy is that of the mass in its centre
    double e[2];
    energy(m, s.q.data(), s.v.data(), e);
    EXPECT_NEAR(e[1], -total_mass(m) * m.gravity.dot(r.head<3>()), 1e-12 * (1 + std::abs(e[1])));
  });
}

TEST(Momentum, IsThatOfPointMassesForPointMasses) {
  RandomOptions options;
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    // bodies whose rotational inertia is that of six points of mass m/6 on their principal axes: seen as those points
    RobotSpec spec = random_spec(seed, options);
    Random random(seed);
    std::vector<std::pair<int, double>> points;  // (frame, mass)
    std::vector<FrameSpec> frames;
    for (LinkSpec& l : spec.links) {
      const Vec3d d = Vec3d(random.uniform(0.1, 0.4), random.uniform(0.1, 0.4), random.uniform(0.1, 0.4));
      l.inertia.setZero();
      for (int k = 0; k < 3; k++)
        for (double sign : {1.0, -1.0}) {
          Vec3d r = Vec3d::Zero();
          r(k) = sign * d(k);
          l.inertia += l.mass / 6 * (r.squaredNorm() * Mat3d::Identity() - r * r.transpose());
          frames.push_back({"point" + std::to_string(frames.size()), l.name, {Mat3d::Identity(), l.com + r}});
        }
    }
    spec.frames = frames;
    const Robot robot = build(spec);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    Numbers pose(12 * m.nf);
    forward_kinematics(m, s.q.data(), pose.data());
    Vec3d L = Vec3d::Zero(), p = Vec3d::Zero(), mc = Vec3d::Zero();
    double kinetic = 0;
    const int first = m.nf - static_cast<int>(frames.size());
    for (std::size_t k = 0; k < frames.size(); k++) {
      const int f = first + static_cast<int>(k);
      if (m.frame[f].body == 0) continue;
      const double mass = spec.links[k / 6].mass / 6;
      double v[6];
      frame_velocity(m, s.q.data(), s.v.data(), f, v);
      const Vec3d r(pose[12 * f], pose[12 * f + 1], pose[12 * f + 2]), u(v[3], v[4], v[5]);
      L += mass * r.cross(u), p += mass * u, mc += mass * r, kinetic += mass * u.squaredNorm() / 2;
    }
    const Eigen::VectorXd r = momenta(m, s.q, s.v);
    const double scale = 1e-11 * (1 + r.norm());
    EXPECT_LT((r.head<3>() * total_mass(m) - mc).norm(), scale);
    EXPECT_LT((r.segment<3>(6) - L).norm(), scale);
    EXPECT_LT((r.segment<3>(9) - p).norm(), scale);
    EXPECT_LT((r.segment<3>(12) - (L - mc.cross(p) / total_mass(m))).norm(), scale);
    for (int k = 0; k < m.nv; k++) kinetic += m.armature[k] * s.v[k] * s.v[k] / 2;
    double e[2];
    energy(m, s.q.data(), s.v.data(), e);
    EXPECT_NEAR(e[0], kinetic, 1e-11 * kinetic);
  }
}

}  // namespace
}  // namespace featherstorm::test_momentum
