#include "core/reference/model/dynamic_equivalence.h"

#include "tests/support/oracles/cases.h"

namespace featherstorm::test_dynamic_equivalence {
namespace {

using namespace testing;

Case case_of(unsigned seed, std::vector<JointType> types) {
  RandomOptions o;
  o.bodies = 8, o.floating = seed % 2;
  if (!types.empty()) o.types = types;
  return Case(random_spec(seed, o), seed);
}

TEST(DynamicEquivalence, SimplifiedModelsHaveTheSameEquationsOfMotion) {
  for (unsigned seed = 1; seed <= 60; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Case c = case_of(seed, seed % 2 ? std::vector<JointType>{JointType::Revolute, JointType::Prismatic,
                                                                   JointType::Ball, JointType::BallYpr}
                                          : std::vector<JointType>{});
    const Model<double> m = simplified(c.model());
    const State& s = c.state;
    const dense::MatrixX H = c.oracle.crba(s.q);
    EXPECT_LT((dense::unpacked(m, call_crba(m, s.q)) - H).norm(), 1e-12 * (1 + H.norm()));
    const dense::VectorX tau = c.oracle.rnea(s.q, s.v, s.a, s.f_ext);
    const double scale = force_scale(c, s.a);
    EXPECT_LT(relative_error(call_rnea(m, s.q, s.v, s.a, s.f_ext), tau, scale), 1e-12);
    EXPECT_LT(relative_error(call_newton_euler(m, s.q, s.v, s.a, s.f_ext), tau, scale), 1e-12);
    const dense::VectorX qdd = c.oracle.aba(s.q, s.v, s.tau, s.f_ext);
    const std::vector<double> expected(qdd.data(), qdd.data() + qdd.size());
    EXPECT_LT(force_error(c, call_articulated_bodies(m, s.q, s.v, s.tau, s.f_ext), expected), 1e-11);
  }
}

TEST(DynamicEquivalence, ZeroesTheParametersOfTable97) {
  int seen[3] = {0, 0, 0};
  for (unsigned seed = 1; seed <= 5; seed++) {
    const Case c = case_of(seed, {JointType::Revolute, JointType::Prismatic, JointType::Ball});
    const Model<double> m = simplified(c.model());
    for (int i = 1; i <= m.nb; i++) {
      const Body<double>& b = m.body[i];
      if (b.type == JointType::Revolute) {
        EXPECT_EQ(b.I.m, 0);
        EXPECT_EQ(b.I.h.z(), 0);
        EXPECT_NEAR(b.I.I.xx + b.I.I.yy - b.I.I.zz, 0, 1e-13);
        seen[0]++;
      } else if (b.type == JointType::Prismatic) {
        EXPECT_EQ(full(b.I.I).norm(), 0);
        seen[1]++;
      } else if (b.type == JointType::Ball) {
        EXPECT_EQ(b.I.m, 0);
        seen[2]++;
      }
    }
  }
  for (int n : seen) EXPECT_GT(n, 0);
}

}  // namespace
}  // namespace featherstorm::test_dynamic_equivalence
