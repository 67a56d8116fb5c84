#include <gtest/gtest.h>

#include "core/dynamics/id_mass_centres.h"
#include "tests/support/oracles/cases.h"

namespace featherstorm::test_id_mass_centres {
namespace {

using namespace testing;

TEST(IdMassCentres, EqualsTheDenseOracle) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    std::vector<double> tau(c.model().nv, NAN);
    id_mass_centres(c.model(), s.q.data(), s.v.data(), s.a.data(), s.f_ext.data(), tau.data());
    EXPECT_LT(relative_error(tau, c.oracle.rnea(s.q, s.v, s.a, s.f_ext), force_scale(c, s.a)),
              tolerance<double>("rnea"));
  });
}

TEST(IdMassCentres, TakesTheMassCentreOfNoMassAtTheOrigin) {
  const MassCentre<double> b = mass_centre<double>(RigidBodyInertia<double>{0, {0, 0, 0}, {0, 0, 0, 0, 0, 0}});
  EXPECT_EQ(b.c.norm(), 0);
  EXPECT_EQ(b.Ic.xx, 0);
}

}  // namespace
}  // namespace featherstorm::test_id_mass_centres
