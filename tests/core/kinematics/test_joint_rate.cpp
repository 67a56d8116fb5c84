#include "core/kinematics/joint_rate.h"

#include "core/derivatives/rnea_derivatives.h"
#include "core/scalar/pack.h"
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

TEST(JointRate, WorksInPacksOfInstances) {
  // by way of the derivatives of inverse dynamics, over robots with every type of joint
  using P = Pack<double, 2>;
  for (unsigned seed = 1; seed <= 6; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Robot robot = random_robot(seed);
    const Model<double>& m = robot.model;
    const State s[2] = {random_state(robot, seed), random_state(robot, seed + 1)};
    const auto packed = [&](const Numbers& a, const Numbers& b) {
      std::vector<P> r(a.size());
      for (std::size_t i = 0; i < a.size(); i++) set_lane(r[i], 0, a[i]), set_lane(r[i], 1, b[i]);
      return r;
    };
    const auto q = packed(s[0].q, s[1].q), v = packed(s[0].v, s[1].v), a = packed(s[0].a, s[1].a);
    const int n = m.nv * m.nv;
    std::vector<P> got(2 * n);
    rnea_derivatives(m, q.data(), v.data(), a.data(), Zeros<P>{}, got.data(), got.data() + n);
    for (int l = 0; l < 2; l++) {
      Numbers expected(2 * n);
      rnea_derivatives(m, s[l].q.data(), s[l].v.data(), s[l].a.data(), Zeros<double>{}, expected.data(),
                       expected.data() + n);
      const double scale = 1 + largest(expected);
      for (int k = 0; k < 2 * n; k++) EXPECT_NEAR(lane(got[k], l), expected[k], 1e-12 * scale);
    }
  }
}

}  // namespace
}  // namespace featherstorm::test_joint_rate
