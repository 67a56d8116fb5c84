#include <gtest/gtest.h>

#include "core/dynamics/crba.h"
#include "core/dynamics/gravity_torques.h"
#include "core/dynamics/id_delta.h"
#include "core/dynamics/rnea.h"
#include "core/linear/ltdl.h"
#include "tests/support/oracles/cases.h"
#include "tests/support/tools/differences.h"
#include "tests/support/tools/tolerance.h"

namespace featherstorm::test_id_delta {
namespace {

using namespace testing;

TEST(IdDelta, EqualsTheProductWithTheMatrix) {
  for_robots_in_states(40, [](const Model<double>& m, const State& s) {
    Numbers H(m.nh), expected(m.nv), y(m.nv, NAN), x = s.a;
    crba(m, s.q.data(), H.data());
    mul_h(m, H.data(), s.a.data(), expected.data());
    id_delta(m, s.q.data(), s.a.data(), y.data());
    EXPECT_LT((vector(y) - vector(expected)).norm(), 1e-12 * scale_of(expected));
    id_delta(m, s.q.data(), x.data(), x.data());
    EXPECT_EQ(x, y);
    // a difference of inverse dynamics: ID(q, qd, x) - ID(q, qd, 0)
    Numbers with(m.nv), without(m.nv);
    rnea(m, s.q.data(), s.v.data(), s.a.data(), s.f_ext.data(), with.data());
    rnea(m, s.q.data(), s.v.data(), Zeros<double>{}, s.f_ext.data(), without.data());
    EXPECT_LT((vector(with) - vector(without) - vector(y)).norm(), 1e-11 * scale_of(with));
  });
}

TEST(GravityTorques, AreInverseDynamicsAtRest) {
  for_robots_in_states(40, [](const Model<double>& m, const State& s) {
    const Zeros<double> none;
    Numbers expected(m.nv), g(m.nv, NAN);
    rnea(m, s.q.data(), none, none, none, expected.data());
    gravity_torques(m, s.q.data(), g.data());
    EXPECT_LT((vector(g) - vector(expected)).norm(), 1e-12 * scale_of(expected));
  });
}

}  // namespace
}  // namespace featherstorm::test_id_delta
