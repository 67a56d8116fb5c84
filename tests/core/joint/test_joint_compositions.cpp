// Joint types as compositions of others: the same mechanism described twice.
#include <gtest/gtest.h>

#include "tests/support/oracles/cases.h"

namespace featherstorm::test_joint_compositions {
namespace {

using namespace testing;

// Two descriptions of one mechanism move alike: the torques of rnea, for given coordinates of both, must agree.
class Composition : public ::testing::Test {
 protected:
  Composition() {
    link_ = random_link(random_, "end");
    placement_ = random_placement(random_, 0);
    axis_ = random_.rotation().col(0);
  }
  JointSpec joint(const std::string& name, JointType type, const Vec3d& axis, const std::string& parent,
                  const std::string& child) {
    JointSpec j;
    j.name = name, j.type = type, j.axis = axis, j.parent = parent, j.child = child;
    return j;
  }
  Model<double> model(std::vector<JointSpec> joints) {
    ModelBuilder b;
    joints[0].X = placement_;
    for (const JointSpec& j : joints) b.add_link(j.child == "end" ? link_ : LinkSpec{j.child});
    for (const JointSpec& j : joints) b.add_joint(j);
    b.set_gravity({1, 2, -9});
    return b.build().model;
  }
  void expect_equal(const Model<double>& a, const Model<double>& b, const std::vector<double>& q) {
    ASSERT_EQ(a.nv, b.nv);
    const State s = random_state(a, 3);
    const auto x = call_rnea<double>(a, q, s.v, s.a, {}), y = call_rnea<double>(b, q, s.v, s.a, {});
    EXPECT_LT(relative_error(x, y, 1 + largest(y)), tolerance<double>("rnea"));
    EXPECT_GT(largest(y), 0.01);
  }
  Random random_{11};
  LinkSpec link_;
  Placement<double> placement_;
  Vec3d axis_;
};

TEST_F(Composition, RevoluteThenPrismaticIsCylindrical) {
  expect_equal(
      model({joint("r", JointType::Revolute, axis_, "", "m"), joint("p", JointType::Prismatic, axis_, "m", "end")}),
      model({joint("c", JointType::Cylindrical, axis_, "", "end")}), {0.7, -0.4});
}
TEST_F(Composition, ThreeRevolutesAreYawPitchRoll) {
  expect_equal(
      model({joint("z", JointType::Revolute, {0, 0, 1}, "", "m"), joint("y", JointType::Revolute, {0, 1, 0}, "m", "n"),
             joint("x", JointType::Revolute, {1, 0, 0}, "n", "end")}),
      model({joint("ypr", JointType::BallYpr, {0, 0, 1}, "", "end")}), {0.7, -0.4, 1.9});
}
TEST_F(Composition, TwoRevolutesAreUniversal) {
  expect_equal(model({joint("z", JointType::Revolute, {0, 0, 1}, "", "m"),
                      joint("x", JointType::Revolute, {1, 0, 0}, "m", "end")}),
               model({joint("u", JointType::Universal, {0, 0, 1}, "", "end")}), {0.7, -0.4});
}
TEST_F(Composition, HelicalOfPitchZeroIsRevolute) {
  expect_equal(model({joint("h", JointType::Helical, axis_, "", "end")}),
               model({joint("r", JointType::Revolute, axis_, "", "end")}), {0.7});
}
TEST_F(Composition, RackOfRadiusZeroIsRevolute) {
  expect_equal(model({joint("h", JointType::RackPinion, axis_, "", "end")}),
               model({joint("r", JointType::Revolute, axis_, "", "end")}), {0.7});
}
TEST_F(Composition, SlidersAndBallAreFree) {
  // v of the free joint is (velocity of the origin in the predecessor's axes; w in the body): P3 + ball's, exactly
  const Model<double> chain = model(
      {joint("x", JointType::Prismatic, {1, 0, 0}, "", "a"), joint("y", JointType::Prismatic, {0, 1, 0}, "a", "b"),
       joint("z", JointType::Prismatic, {0, 0, 1}, "b", "c"), joint("ball", JointType::Ball, {0, 0, 1}, "c", "end")});
  const Eigen::Quaterniond p = random_.quaternion();
  expect_equal(model({joint("free", JointType::Free, {0, 0, 1}, "", "end")}), chain,
               {0.1, -0.2, 0.3, p.w(), p.x(), p.y(), p.z()});
}
TEST_F(Composition, SlidersAndRevoluteArePlanar) {
  const Model<double> planar = model({joint("planar", JointType::Planar, {0, 0, 1}, "", "end")});
  const Model<double> chain = model({joint("x", JointType::Prismatic, {1, 0, 0}, "", "a"),
                                     joint("y", JointType::Prismatic, {0, 1, 0}, "a", "b"),
                                     joint("r", JointType::Revolute, {0, 0, 1}, "b", "end")});
  const auto x = call_rnea<double>(planar, {0.7, 0.2, -0.3}, {1, 2, 3}, {4, 5, 6}, {});
  const auto y = call_rnea<double>(chain, {0.2, -0.3, 0.7}, {2, 3, 1}, {5, 6, 4}, {});
  EXPECT_NEAR(x[0], y[2], 1e-13);
  EXPECT_NEAR(x[1], y[0], 1e-13);
  EXPECT_NEAR(x[2], y[1], 1e-13);
}
TEST_F(Composition, BallsOfBothKindsAgree) {
  const Vec3d e(0.4, -0.9, 0.3);
  const Eigen::Quaterniond p(Eigen::AngleAxisd(e.norm(), e.normalized()));
  const Model<double> exp = model({joint("b", JointType::BallExp, {0, 0, 1}, "", "end")});
  const Model<double> ball = model({joint("b", JointType::Ball, {0, 0, 1}, "", "end")});
  const auto x = call_rnea<double>(exp, {e.x(), e.y(), e.z()}, {1, 2, 3}, {4, 5, 6}, {});
  const auto y = call_rnea<double>(ball, {p.w(), p.x(), p.y(), p.z()}, {1, 2, 3}, {4, 5, 6}, {});
  EXPECT_LT(relative_error(x, y, largest(y)), tolerance<double>("rnea"));
}
TEST_F(Composition, UserDefinedRackEqualsBuiltIn) {
  JointSpec user = joint("u", JointType::UserDefined, {0, 0, 1}, "", "end");
  JointSpec rack = joint("r", JointType::RackPinion, {0, 0, 1}, "", "end");
  user.user = user_rack_pinion;
  user.parameter = rack.parameter = 0.37;
  for (bool reversed : {false, true}) {
    user.reversed = rack.reversed = reversed;
    expect_equal(model({user}), model({rack}), {0.9});
  }
}
TEST_F(Composition, UserDefinedCraneEqualsItsChain) {
  JointSpec user = joint("u", JointType::UserDefined, {0, 0, 1}, "", "end");
  user.user = user_crane;
  expect_equal(
      model({user}),
      model({joint("x", JointType::Prismatic, {1, 0, 0}, "", "a"), joint("y", JointType::Revolute, {0, 1, 0}, "a", "b"),
             joint("z", JointType::Prismatic, {0, 0, 1}, "b", "end")}),
      {0.3, -0.8, 0.5});
}
// The direction of a symmetric joint only changes the sign of its coordinate: RBDA section 4.1.3.
TEST_F(Composition, ReversedRevoluteIsRevoluteOfOppositeSign) {
  JointSpec reversed = joint("r", JointType::Revolute, axis_, "", "end");
  reversed.reversed = true;
  const auto x = call_rnea<double>(model({reversed}), {0.7}, {1.3}, {-2}, {});
  const auto y = call_rnea<double>(model({joint("r", JointType::Revolute, axis_, "", "end")}), {-0.7}, {-1.3}, {2}, {});
  EXPECT_NEAR(x[0], -y[0], 1e-13);
}
TEST_F(Composition, JointWithoutFreedomIsAWeld) {
  // a weld between body and end equals one composite link: see also Builder.FixedJointsMergeIntoOneBody
  JointSpec weld = joint("w", JointType::Fixed, {0, 0, 1}, "m", "end");
  weld.X = random_placement(random_, 0);
  const Model<double> m = model({joint("r", JointType::Revolute, axis_, "", "m"), weld});
  EXPECT_EQ(m.nb, 1);
  EXPECT_NEAR(m.body[1].I.m, link_.mass, 1e-15);
}

}  // namespace
}  // namespace featherstorm::test_joint_compositions
