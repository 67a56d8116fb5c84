#include "core/dynamics/joint_wrenches.h"
#include "core/kinematics/energy.h"
#include "core/kinematics/momentum.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/every_scalar.h"

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
  for (unsigned seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    const Eigen::VectorXd r = momenta(m, s.q, s.v);
    const Eigen::VectorXd d =
        derivative([&](double t) { return momenta(m, moved(m, s.q, s.v, t), s.v).head<3>().eval(); });
    EXPECT_LT((r.segment<3>(3) - d).norm(), 1e-9 * (1 + d.norm()));
    EXPECT_LT((r.segment<3>(9) - r.segment<3>(3) * total_mass(m)).norm(), 1e-12 * (1 + r.norm()));
    // potential energy is that of the mass in its centre
    double e[2];
    energy(m, s.q.data(), s.v.data(), e);
    EXPECT_NEAR(e[1], -total_mass(m) * m.gravity.dot(r.head<3>()), 1e-12 * (1 + std::abs(e[1])));
  }
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

TEST(Momentum, ItsRateIsTheForceOnTheRobot) {
  for (unsigned seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s = random_state(robot, seed);
    const Eigen::VectorXd expected = rate(
        m, s.q, s.v, s.a, [&](const Numbers& q, const Numbers& v) { return momenta(m, q, v).segment<6>(6).eval(); });
    // wrenches of the joints to the world, external forces and weight, all about the world's origin
    Numbers w(6 * m.nb, NAN);
    joint_wrenches(m, s.q.data(), s.v.data(), s.a.data(), s.f_ext.data(), w.data());
    Scratch<double> x(m.nx);
    Scratch<Placement<double>> X(m.nb + 1);
    for (int i = 1; i <= m.nb; i++) update_joint(m, i, s.q.data(), Zeros<double>{}, x);
    body_placements(m, x, X);
    Vec3d n = Vec3d::Zero(), f = Vec3d::Zero();
    auto add = [&](const double* a, const Vec3d& r) {
      const Vec3d g(a[3], a[4], a[5]);
      n += Vec3d(a[0], a[1], a[2]) + r.cross(g), f += g;
    };
    for (int i = 1; i <= m.nb; i++) {
      if (m.body[i].parent == 0) add(&w[6 * (i - 1)], X[i].r);
      add(&s.f_ext[6 * (i - 1)], X[i].r);
    }
    const Vec3d weight = total_mass(m) * m.gravity, com = momenta(m, s.q, s.v).head<3>();
    n += com.cross(weight), f += weight;
    EXPECT_LT((n - expected.head<3>()).norm(), 1e-7 * (1 + expected.norm()));
    EXPECT_LT((f - expected.tail<3>()).norm(), 1e-7 * (1 + expected.norm()));
  }
}

TEST(Momentum, IsTheSameForEveryScalar) {
  for (unsigned seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const State s = random_state(robot, seed);
    expect_every_scalar(robot.model, {s.q, s.v}, 15, 1e-5, [](const auto& m, const auto& in, auto out) {
      momentum(m, in[0], in[1], out, out + 3, out + 6, out + 12);
    });
  }
}

}  // namespace
}  // namespace featherstorm::test_momentum
