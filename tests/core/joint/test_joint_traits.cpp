// What the joint types say of themselves, held against their motion.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/kinematics/position_rate.h"
#include "core/model/joints.h"
#include "tests/support/robots/random_robot.h"

namespace featherstorm::test_joint_traits {
namespace {

using namespace testing;

Robot of_one_joint(JointType type, bool reversed, unsigned seed) {
  RandomOptions o;
  o.bodies = 1, o.types = {type}, o.reversed = reversed, o.fixed = 0, o.armature = 0;
  return random_robot(seed, o);
}
UserJointAt<double> at(const Robot& r, const State& s) {
  UserJointAt<double> J;
  jcalc(r.model, r.model.body[1], s.q, s.v, J);
  return J;
}
double distance(const Motion<double>& a, const Motion<double>& b) {
  return (a.w - b.w).cwiseAbs().maxCoeff() + (a.v - b.v).cwiseAbs().maxCoeff();
}

TEST(JointTraits, NamesTellTypesApart) {
  std::set<std::string> names{"fixed"};
  EXPECT_EQ(std::string(joint_traits(JointType::Fixed).name), "fixed");
  for (JointType type : all_joint_types)
    EXPECT_TRUE(names.insert(joint_traits(type).name).second) << joint_traits(type).name;
  EXPECT_EQ(names.size(), static_cast<std::size_t>(JointType::UserDefined) + 1)
      << "a type is missing in all_joint_types";
}

TEST(JointTraits, ASubspaceIsConstantWhereTheySaySo) {
  for (JointType type : all_joint_types) {
    if (type == JointType::UserDefined) continue;
    for (bool reversed : {false, true}) {
      const Robot r = of_one_joint(type, reversed, 3);
      const UserJointAt<double> a = at(r, random_state(r, 1)), b = at(r, random_state(r, 2));
      double change = 0;
      for (int k = 0; k < r.model.nv; k++) change += distance(a.S[k], b.S[k]);
      EXPECT_EQ(constant_subspace(r.model.body[1]), change < 1e-12)
          << joint_traits(type).name << ", reversed " << reversed;
    }
  }
}

TEST(JointTraits, QuaternionsAreUnitAtTheNeutralPosition) {
  for (JointType type : all_joint_types) {
    if (type == JointType::UserDefined) continue;
    const Robot r = of_one_joint(type, false, 4);
    std::vector<double> expected(r.model.nq, 0.0);
    const int w = joint_traits(type).quaternion;
    if (w >= 0) expected[w] = 1;
    EXPECT_EQ(r.q0, expected) << joint_traits(type).name;
    const UserJointAt<double> J = at(r, {r.q0, std::vector<double>(r.model.nv, 0.0), {}, {}, {}});
    EXPECT_LT((Mat3d(J.X.R) - Mat3d::Identity()).norm() + Vec3d(J.X.r).norm(), 1e-12) << joint_traits(type).name;
  }
}

// Where coordinates are plain, velocities are their derivatives; elsewhere those from `rotation` on are not.
TEST(JointTraits, VelocitiesAreDerivativesOfCoordinatesButOfRotations) {
  for (JointType type : all_joint_types) {
    if (type == JointType::UserDefined) continue;
    const Robot r = of_one_joint(type, false, 5);
    const Model<double>& m = r.model;
    const State s = random_state(r, 6);
    std::vector<double> rate(m.nq);
    position_rate(m, s.q.data(), s.v.data(), rate.data());
    const int rotation = joint_traits(type).rotation;
    double off = 0;
    for (int k = 0; k < (rotation < 0 ? m.nv : rotation); k++) off += std::abs(rate[k] - s.v[k]);
    EXPECT_LT(off, 1e-12) << joint_traits(type).name;
    for (int k = 0; k < m.nv; k++) EXPECT_EQ(m.dof_q[k], rotation < 0 ? k : -1);
    if (rotation < 0) continue;
    for (int k = rotation; k < m.nv; k++) off += std::abs(rate[k] - s.v[k]);
    EXPECT_GT(off, 1e-3) << joint_traits(type).name;
  }
}

// Placements of lengths differ by their difference, those of angles repeat after a turn.
TEST(JointTraits, WhatIsNoLengthIsAnAngle) {
  for (JointType type : all_joint_types) {
    const JointTraits t = joint_traits(type);
    if (type == JointType::UserDefined || type == JointType::BallExp)
      continue;  // a rotation vector's length is the angle
    const Robot r = of_one_joint(type, false, 7);
    State s = random_state(r, 8);
    const UserJointAt<double> before = at(r, s);
    for (int k = 0; k < r.model.nq; k++) {
      if (t.quaternion >= 0 && k >= t.quaternion) continue;
      State turned = s;
      turned.q[k] += 2 * M_PI;
      const Mat3d change = Mat3d(at(r, turned).X.R) - Mat3d(before.X.R);
      const double moved = (Vec3d(at(r, turned).X.r) - Vec3d(before.X.r)).norm();
      EXPECT_LT(change.norm(), 1e-12) << t.name << " " << k;
      const bool length = k >= t.first_length && k < t.first_length + t.lengths;
      if (length) EXPECT_NEAR(moved, 2 * M_PI, 1e-12) << t.name << " " << k;
      else if (r.model.body[1].parameter == 0) EXPECT_LT(moved, 1e-12) << t.name << " " << k;
    }
  }
}

}  // namespace
}  // namespace featherstorm::test_joint_traits
