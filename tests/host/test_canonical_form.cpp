// The form of a robot that programs are traced from.
#include "host/canonical_form.h"

#include <gtest/gtest.h>

#include "host/load.h"
#include "tests/support/random_robot.h"

namespace featherstorm::test_canonical_form {
namespace {

using namespace testing;

TEST(CanonicalForm, RobotsHaveAllOfIt) {
  for (const char* name : {"iiwa14", "panda", "go2", "anymal_c", "g1", "atlas"}) {
    const CanonicalForm f = canonical_form(load(name).model, {true, true, true});
    EXPECT_TRUE(f.turned && f.slid && f.regrouped) << name;
  }
  for (unsigned seed = 1; seed <= 40; seed++) {
    const CanonicalForm f = canonical_form(random_robot(seed).model, {true, true, true});
    EXPECT_TRUE(f.turned && f.slid && f.regrouped) << "seed " << seed;
  }
}

TEST(CanonicalForm, WhatIsNotWantedIsNotTaken) {
  const CanonicalForm f = canonical_form(load("go2").model, {true, false, true});
  EXPECT_TRUE(f.turned && !f.slid && f.regrouped);
}

}  // namespace
}  // namespace featherstorm::test_canonical_form
