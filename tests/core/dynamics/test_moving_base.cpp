#include <gtest/gtest.h>

#include "core/dynamics/moving_base.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_moving_base {
namespace {

using namespace testing;
using Eigen::VectorXd;

// A robot on the world, and the same on a floating base without mass, in one motion.
struct OnABase {
  Case fixed, floating;
  Numbers v, a, g;  // of the base, its axes
  static RobotSpec with_base(RobotSpec s) {
    for (JointSpec& j : s.joints)
      if (j.parent.empty()) j.parent = "base";
    s.links.push_back({"base"});
    s.floating.push_back("base");
    return s;
  }
  explicit OnABase(unsigned seed)
      : fixed(random_spec(seed), seed), floating(with_base(fixed.spec), seed), v(6), a(6), g(3) {
    const Model<double>& m = fixed.model();
    // the joints' coordinates of the fixed robot; the base's are random
    for (const JointSpec& j : fixed.spec.joints) {
      if (j.type == JointType::Fixed) continue;
      const int from = fixed.robot.joint(j.name), to = floating.robot.joint(j.name);
      const Body<double>&b = m.body[from], &c = floating.model().body[to];
      const int nq = (from < m.nb ? m.body[from + 1].q : m.nq) - b.q,
                nv = (from < m.nb ? m.body[from + 1].v : m.nv) - b.v;
      for (int k = 0; k < nq; k++) floating.state.q[c.q + k] = fixed.state.q[b.q + k];
      for (int k = 0; k < nv; k++)
        floating.state.v[c.v + k] = fixed.state.v[b.v + k], floating.state.a[c.v + k] = fixed.state.a[b.v + k];
    }
    const State& s = floating.state;
    const Eigen::Matrix3d R = Eigen::Quaterniond(s.q[3], s.q[4], s.q[5], s.q[6]).matrix();
    const Eigen::Vector3d w(s.v[3], s.v[4], s.v[5]), u = R.transpose() * Eigen::Vector3d(s.v[0], s.v[1], s.v[2]);
    const Eigen::Vector3d acc = R.transpose() * Eigen::Vector3d(s.a[0], s.a[1], s.a[2]) - w.cross(u);
    const Eigen::Vector3d down = R.transpose() * Eigen::Vector3d(fixed.spec.gravity);
    for (int k = 0; k < 3; k++) v[k] = w(k), v[3 + k] = u(k), a[k] = s.a[3 + k], a[3 + k] = acc(k), g[k] = down(k);
  }
};

TEST(MovingBase, IsInverseDynamicsOfTheRobotOnAFreeJoint) {
  for (unsigned seed = 1; seed <= 25; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const OnABase x(seed);
    const Model<double>& m = x.fixed.model();
    const State& s = x.fixed.state;
    ASSERT_EQ(x.floating.model().nv, m.nv + 6);
    Numbers tau(m.nv, NAN), f(6, NAN);
    rnea_moving_base(m, x.v.data(), x.a.data(), x.g.data(), s.q.data(), s.v.data(), s.a.data(), tau.data(), f.data());
    const VectorXd expected = x.floating.oracle.rnea(x.floating.state.q, x.floating.state.v, x.floating.state.a, {});
    const double scale = 1 + expected.norm();
    for (const JointSpec& j : x.fixed.spec.joints) {
      if (j.type == JointType::Fixed) continue;
      const int from = x.fixed.robot.joint(j.name), first = m.body[from].v;
      const int to = x.floating.model().body[x.floating.robot.joint(j.name)].v;
      const int nv = (from < m.nb ? m.body[from + 1].v : m.nv) - first;
      for (int k = 0; k < nv; k++) EXPECT_NEAR(tau[first + k], expected(to + k), 1e-12 * scale);
    }
    // the free joint's force is in world axes, its moment in those of the base
    const auto& q = x.floating.state.q;
    const Eigen::Vector3d force =
        Eigen::Quaterniond(q[3], q[4], q[5], q[6]).matrix() * Eigen::Vector3d(f[3], f[4], f[5]);
    for (int k = 0; k < 3; k++) {
      EXPECT_NEAR(force(k), expected(k), 1e-12 * scale);
      EXPECT_NEAR(f[k], expected(3 + k), 1e-12 * scale);
    }
  }
}

}  // namespace
}  // namespace featherstorm::test_moving_base
