#include <gtest/gtest.h>

#include "core/dynamics/crba.h"
#include "core/dynamics/gravity_torques.h"
#include "core/dynamics/rnea.h"
#include "core/kinematics/energy.h"
#include "core/linear/ltdl.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/tolerance.h"

namespace featherstorm::test_energy {
namespace {

using namespace testing;

Eigen::VectorXd energies(const Model<double>& m, const Numbers& q, const Numbers& v) {
  Numbers e(2, NAN);
  energy(m, q.data(), v.data(), e.data());
  return vector(e);
}

TEST(Energy, KineticIsHalfTheSquareOfVelocityInTheInertiaMatrix) {
  for_robots_in_states(40, [](const Model<double>& m, const State& s) {
    Numbers H(m.nh), Hv(m.nv);
    crba(m, s.q.data(), H.data());
    mul_h(m, H.data(), s.v.data(), Hv.data());
    const double T = energies(m, s.q, s.v)(0);
    EXPECT_NEAR(T, vector(Hv).dot(vector(s.v)) / 2, 1e-12 * T);
  });
}

TEST(Energy, GradientOfThePotentialIsGravityTorques) {
  for_robots_in_states(40, [](const Model<double>& m, const State& s) {
    Numbers g(m.nv, NAN);
    gravity_torques(m, s.q.data(), g.data());
    for (int k = 0; k < m.nv; k++) {
      Numbers e(m.nv);
      e[k] = 1;
      const double d = derivative([&](double t) { return energies(m, moved(m, s.q, e, t), e).tail<1>().eval(); })(0);
      EXPECT_NEAR(g[k], d, 1e-8 * scale_of(g));
    }
  });
}

}  // namespace
}  // namespace featherstorm::test_energy
