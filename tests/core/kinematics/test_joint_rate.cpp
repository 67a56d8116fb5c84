#include "core/kinematics/joint_rate.h"

#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"

namespace featherstorm::test_joint_rate {
namespace {

using namespace testing;

// S by columns and c_J of joint i
Eigen::VectorXd joint_at(const Model<double>& m, int i, const Numbers& q, const Numbers& v) {
  UserJointAt<double> J;
  const auto& b = m.body[i];
  const int n = jcalc(m, b, slice(q.data(), b.q), slice(v.data(), b.v), J);
  Eigen::VectorXd r(6 * n + 6);
  for (int k = 0; k < n; k++) r.segment<6>(6 * k) << J.S[k].w, J.S[k].v;
  r.tail<6>() << J.c.w, J.c.v;
  return r;
}

TEST(JointRate, IsTheDerivativeOfSubspaceAndBiasForEveryJointBothWays) {
  for (JointType type : all_joint_types)
    for (bool reversed : {false, true}) {
      SCOPED_TRACE(name_of(type) + (reversed ? " reversed" : ""));
      RandomOptions o;
      o.bodies = 4, o.types = {type}, o.reversed = reversed;
      const Robot robot = random_robot(11, o);
      const Model<double>& m = robot.model;
      const State s = random_state(robot, 11);
      for (int i = 1; i <= m.nb; i++) {
        // along a direction of its own in position and in velocity
        JointRate<double> r;
        joint_rate(m, i, s.q.data(), s.v.data(), s.a.data(), s.tau.data(), r);
        const Eigen::VectorXd expected =
            derivative([&](double t) { return joint_at(m, i, moved(m, s.q, s.a, t), sum(s.v, s.tau, t)); });
        const int n = freedoms(m, i);
        for (int k = 0; k < n; k++) {
          const Eigen::VectorXd e = expected.segment<6>(6 * k);
          EXPECT_LT((r.S[k].w - e.head<3>()).norm() + (r.S[k].v - e.tail<3>()).norm(), 1e-8 * (1 + e.norm()));
          EXPECT_TRUE(!constant_subspace(m.body[i]) || e.norm() < 1e-10);
        }
        const Eigen::VectorXd e = expected.tail<6>();
        EXPECT_LT((r.c.w - e.head<3>()).norm() + (r.c.v - e.tail<3>()).norm(), 1e-7 * (1 + e.norm()));
        // along the motion the columns add up to c_J
        joint_rate(m, i, s.q.data(), s.v.data(), s.v.data(), Zeros<double>{}, r);
        Eigen::VectorXd c = joint_at(m, i, s.q, s.v).tail<6>();
        const double scale = 1 + c.norm();
        for (int k = 0; k < n; k++) {
          const double v = s.v[m.body[i].v + k];
          c.head<3>() -= r.S[k].w * v, c.tail<3>() -= r.S[k].v * v;
        }
        EXPECT_LT(c.norm(), 1e-12 * scale);
      }
    }
}

}  // namespace
}  // namespace featherstorm::test_joint_rate
