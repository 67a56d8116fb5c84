// Articulated bodies as rows run them, against three oracles. RBDA chapter 7.
#include "core/dynamics/articulated_bodies.h"

#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"

namespace featherstorm::test_articulated_bodies {
namespace {

using namespace testing;

using dense::MatrixX;
using dense::VectorX;

double acceleration_scale(const Case& c, const VectorX& qdd) {
  return condition(c.oracle.crba(c.state.q)) * (1 + qdd.cwiseAbs().maxCoeff());
}

TEST(ArticulatedBodies, EqualsItsDenseFormMaximalCoordinatesAndTheDenseSolution) {
  for_random_robots([](const Case& c) {
    const State& s = c.state;
    const std::vector<double> zero(c.model().nv, 0.0);
    for (const std::vector<double>& f_ext : {s.f_ext, std::vector<double>{}}) {
      const VectorX tau = Eigen::Map<const VectorX>(s.tau.data(), c.model().nv);
      const VectorX oracles[] = {
          c.oracle.aba(s.q, s.v, s.tau, f_ext), c.oracle.maximal_coordinates(s.q, s.v, s.tau, f_ext),
          c.oracle.inertia_by_columns(s.q).llt().solve(tau - c.oracle.rnea(s.q, s.v, zero, f_ext))};
      const auto qdd = call_articulated_bodies(c.model(), s.q, s.v, s.tau, f_ext);
      for (const VectorX& expected : oracles)
        EXPECT_LT(relative_error(qdd, expected, acceleration_scale(c, expected)), tolerance<double>("aba_qdd"));
      EXPECT_LT(force_error(c, qdd, {oracles[0].data(), oracles[0].data() + oracles[0].size()}),
                tolerance<double>("aba"));
    }
  });
}

// The joint's own motion is eliminated exactly: I^a S = 0, zeros to the bit for revolute and prismatic joints.
TEST(ArticulatedBodies, ApparentInertiaHasNoResistanceAlongTheJoint) {
  for_random_robots([](const Case& c) {
    const Model<double>& m = c.model();
    std::vector<double> x(m.nx);
    for (int i = 1; i <= m.nb; i++) {
      const Body<double>& b = m.body[i];
      if (b.rotor || b.I.m == 0) continue;
      update_joint(m, i, c.state.q, c.state.v, x);
      with_joint(m, i, x, [&](const auto& J) {
        constexpr int n = std::remove_cvref_t<decltype(J)>::nv;
        ArticulatedInertia<double> IA = articulated<double>(b.I), Ia;
        Force<double> pa, G[n];
        std::vector<double> tau(n, 0.0), y(n);
        const auto armature = [](int) { return 0.0; };
        articulate(J, armature, false, tau, IA, zero_force<double>(), G, y.data(), Ia, pa);
        const auto resistance = [&](int k) {
          const Force<double> f = J.force_of_axis(k, Ia);
          return f.n.cwiseAbs().maxCoeff() + f.f.cwiseAbs().maxCoeff();
        };
        for (int k = 0; k < n; k++) EXPECT_LE(resistance(k), 1e-12);
        // what the pass then clears was zero but for rounding, and is exactly zero for sparse axes
        const ArticulatedInertia<double> before = Ia;
        set_exact(J, false, tau, Ia, pa);
        EXPECT_LE((Ia.H - before.H).cwiseAbs().maxCoeff(), 1e-12);
        const bool exact = b.shape == JointShape::Revolute || b.shape == JointShape::RevoluteTilted ||
                           b.shape == JointShape::Prismatic || b.shape == JointShape::Free;
        for (int k = 0; k < n; k++) EXPECT_LE(resistance(k), exact ? 0 : 1e-12);
      });
    }
  });
}

}  // namespace
}  // namespace featherstorm::test_articulated_bodies
