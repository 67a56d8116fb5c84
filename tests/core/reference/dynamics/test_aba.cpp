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

// Joint torques may be replaced by the accelerations.
TEST(Aba, TakesTorquesAndAccelerationsInOneArray) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    std::vector<double> x = s.tau;
    aba(c.model(), s.q.data(), s.v.data(), x.data(), s.f_ext.data(), x.data());
    EXPECT_EQ(x, call_aba(c.model(), s.q, s.v, s.tau, s.f_ext));
  });
}

}  // namespace
}  // namespace featherstorm::test_aba
