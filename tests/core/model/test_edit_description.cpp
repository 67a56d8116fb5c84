// Descriptions of built robots: what is built of them is the robot again.
#include <gtest/gtest.h>

#include "core/model/edit.h"
#include "core/model/joints.h"
#include "tests/support/oracles/same_motion.h"

namespace featherstorm::test_edit_description {
namespace {

using namespace testing;

TEST(Description, OfABuiltRobotBuildsItAgain) {
  for (bool floating : {false, true})
    for_descriptions(floating, [](const ModelBuilder&, const Robot& robot, unsigned seed) {
      const Robot again = description(robot).build();
      EXPECT_EQ(again.joint_names, robot.joint_names);
      EXPECT_EQ(again.model.armature, robot.model.armature);
      expect_same(robot, again, seed);
    });
}

// In chains of revolute joints body frames are turned and coordinates are offset: docs/decisions/02-denavit-hartenberg-chains.md.
TEST(Description, OfAChainInDenavitHartenbergFormBuildsItAgain) {
  int offset = 0;
  for (unsigned seed = 1; seed <= 8; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.types = {JointType::Revolute}, o.aligned = 0, o.reversed = 0;
    const Robot robot = random_robot(seed, o);
    for (const Body<double>& b : robot.model.body) offset += b.zero.s != 0;
    expect_same(robot, description(robot).build(), seed);
  }
  EXPECT_GT(offset, 10);
}

TEST(Description, KeepsWhatJointsMayDoAndWhatStandsOnTheWorld) {
  RandomOptions o;
  o.types = {JointType::Revolute, JointType::Prismatic, JointType::Cylindrical, JointType::Universal};
  for (unsigned seed = 1; seed <= 6; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RobotSpec spec = random_spec(seed, o);
    Random random(seed);
    for (JointSpec& j : spec.joints)
      for (int k = 0; k < joint_size(j.type).nv; k++) {
        j.lower.push_back(random.uniform(-3, 0)), j.upper.push_back(random.uniform(0, 3));
        for (auto* a : {&j.max_velocity, &j.max_effort, &j.damping, &j.friction}) a->push_back(random.uniform(0.1, 5));
      }
    spec.links.push_back(random_link(random, "stand"));
    JointSpec weld{"stand_weld", JointType::Fixed, "", "stand"};
    weld.X = random_placement(random, 0);
    spec.joints.push_back(weld);
    const Robot robot = build(spec), again = description(robot).build();
    const Model<double>&a = robot.model, &b = again.model;
    ASSERT_EQ(again.joint_names, robot.joint_names);
    EXPECT_EQ(a.lower, b.lower);
    EXPECT_EQ(a.upper, b.upper);
    EXPECT_EQ(a.max_velocity, b.max_velocity);
    EXPECT_EQ(a.max_effort, b.max_effort);
    EXPECT_EQ(a.damping, b.damping);
    EXPECT_EQ(a.friction, b.friction);
    for (double x : a.friction) EXPECT_GT(x, 0);
    expect_same(robot, again, seed);
  }
}

}  // namespace
}  // namespace featherstorm::test_edit_description
