// Table 7.1 of RBDA as it stands, against inverse dynamics, the dense oracle, closed forms and the text that rows run.
#include "core/reference/dynamics/aba.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"

namespace featherstorm::test_aba {
namespace {

using namespace testing;

using dense::VectorX;

std::vector<double> call_aba(const Model<double>& m, const std::vector<double>& q, const std::vector<double>& v,
                             const std::vector<double>& tau, const std::vector<double>& f_ext) {
  std::vector<double> qdd(m.nv);
  if (f_ext.empty()) aba(m, q.data(), v.data(), tau.data(), Zeros<double>{}, qdd.data());
  else aba(m, q.data(), v.data(), tau.data(), f_ext.data(), qdd.data());
  return qdd;
}

double acceleration_scale(const Case& c, const VectorX& qdd) {
  return condition(c.oracle.crba(c.state.q)) * (1 + qdd.cwiseAbs().maxCoeff());
}

TEST(Aba, InvertsRnea) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const auto tau = call_rnea(c.model(), s.q, s.v, s.a, s.f_ext);
    const auto qdd = call_aba(c.model(), s.q, s.v, tau, s.f_ext);
    const VectorX a = Eigen::Map<const VectorX>(s.a.data(), c.model().nv);
    EXPECT_LT(relative_error(qdd, a, acceleration_scale(c, a)), tolerance<double>("aba_qdd"));
  });
}

TEST(Aba, EqualsDenseArticulatedBodies) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    for (const std::vector<double>& f_ext : {s.f_ext, std::vector<double>{}}) {
      const VectorX expected = c.oracle.aba(s.q, s.v, s.tau, f_ext);
      const auto qdd = call_aba(c.model(), s.q, s.v, s.tau, f_ext);
      EXPECT_LT(relative_error(qdd, expected, acceleration_scale(c, expected)), tolerance<double>("aba_qdd"));
      EXPECT_LT(force_error(c, qdd, {expected.data(), expected.data() + expected.size()}), tolerance<double>("aba"));
    }
  });
}

TEST(Aba, EqualsTheTextThatRowsRun) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const auto qdd = call_aba(c.model(), s.q, s.v, s.tau, s.f_ext);
    EXPECT_LT(force_error(c, qdd, call_articulated_bodies(c.model(), s.q, s.v, s.tau, s.f_ext)),
              tolerance<double>("aba"));
  });
}

// Joint torques may be replaced by the accelerations.
TEST(Aba, TakesTorquesAndAccelerationsInOneArray) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    std::vector<double> x = s.tau;
    aba(c.model(), s.q.data(), s.v.data(), x.data(), s.f_ext.data(), x.data());
    EXPECT_EQ(x, call_aba(c.model(), s.q, s.v, s.tau, s.f_ext));
  });
}

// qdd = (tau - m g l sin q) / (m l^2 + I_rotor)
TEST(Aba, PendulumClosedForm) {
  ModelBuilder b;
  b.add_link({"bob", 1.3, Vec3d(0, 0, -0.7)});
  JointSpec j;
  j.name = "hinge", j.child = "bob", j.axis = {0, 1, 0}, j.armature = {0.2};
  b.add_joint(j);
  const auto qdd = call_aba(b.build().model, {0.4}, {5}, {1.1}, {});
  EXPECT_NEAR(qdd[0], (1.1 - 1.3 * 9.81 * 0.7 * std::sin(0.4)) / (1.3 * 0.49 + 0.2), 1e-13);
}

}  // namespace
}  // namespace featherstorm::test_aba
