// The form of a robot that programs are traced from.
#include "host/trace/canonical_form.h"

#include <gtest/gtest.h>

#include <cmath>

#include "host/load/load.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::test_canonical_form {
namespace {

using namespace testing;

TEST(CanonicalForm, RobotsHaveAllOfIt) {
  for (const char* name :
       {"iiwa14", "panda", "ur5", "go2", "anymal_c", "hyq", "atlas", "g1", "humanoid", "cartpole", "double_pendulum"}) {
    const CanonicalForm f = canonical_form(load(name).model, {true, true, true}, true);
    EXPECT_TRUE(f.turned && f.slid && f.regrouped) << name;
  }
  for (unsigned seed = 1; seed <= 40; seed++) {
    const CanonicalForm f = canonical_form(random_robot(seed).model, {true, true, true}, true);
    EXPECT_TRUE(f.turned && f.slid && f.regrouped) << "seed " << seed;
  }
}

TEST(CanonicalForm, WhatIsNotWantedIsNotTaken) {
  const CanonicalForm f = canonical_form(load("go2").model, {true, false, true}, true);
  EXPECT_TRUE(f.turned && !f.slid && f.regrouped);
}

// Sliding that changes a first moment by a part in 10^8 is not taken, what is sound stays.
TEST(CanonicalForm, AStepThatChangesTheRobotIsLeftOut) {
  const auto spoilt = [](const Model<double>& m, CanonicalForm f) {
    Model<double> r = f.regrouped ? regrouped(m) : m;
    if (f.slid) r.body[3].I.h *= 1 + 1e-8;
    return r;
  };
  const CanonicalForm f = canonical_form(load("go2").model, {true, true, true}, true, spoilt);
  EXPECT_TRUE(f.turned && !f.slid && f.regrouped);
  const auto nan = [](Model<double> m, CanonicalForm form) {
    if (form.turned) m.body[1].X_T.r.x() = NAN;
    return m;
  };
  EXPECT_FALSE(canonical_form(load("iiwa14").model, {true, true, true}, true, nan).turned);
}

}  // namespace
}  // namespace featherstorm::test_canonical_form
