// The original recursive Newton-Euler equations, RBDA Table 5.2, against the spatial form of Table 5.1.
#include <gtest/gtest.h>

#include "core/dynamics/rnea.h"
#include "core/reference/dynamics/luh_walker_paul.h"
#include "tests/support/robots/random_robot.h"
#include "tests/support/tools/tolerance.h"

namespace featherstorm::test_luh_walker_paul {
namespace {

using namespace testing;

TEST(LuhWalkerPaul, IsInverseDynamicsOfRevoluteTrees) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 1 + static_cast<int>(seed % 9), o.types = {JointType::Revolute}, o.reversed = 0;
    const Robot robot = random_robot(seed, o);
    const Model<double>& m = robot.model;
    ASSERT_TRUE(all_revolute(m));
    const State s = random_state(robot, seed);
    std::vector<double> tau(m.nv), expected(m.nv);
    luh_walker_paul(m, s.q.data(), s.v.data(), s.a.data(), tau.data());
    rnea(m, s.q.data(), s.v.data(), s.a.data(), Zeros<double>{}, expected.data());
    for (int k = 0; k < m.nv; k++) EXPECT_NEAR(tau[k], expected[k], 1e-12 * scale_of(expected)) << k;
  }
}

TEST(LuhWalkerPaul, SaysForWhichModelsItIs) {
  RandomOptions o;
  o.types = {JointType::Revolute}, o.reversed = 1;
  EXPECT_FALSE(all_revolute(random_robot(1, o).model));
  o.types = {JointType::Prismatic};
  EXPECT_FALSE(all_revolute(random_robot(1, o).model));
}

}  // namespace
}  // namespace featherstorm::test_luh_walker_paul
