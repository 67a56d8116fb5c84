// Edited robots move like the originals: coordinates mapped by the names of joints. RBDA sections 3.5, 4.1.
#include <gtest/gtest.h>

#include "core/dynamics/joint_wrenches.h"
#include "core/kinematics/kinematics.h"
#include "core/model/edit.h"
#include "core/reference/dynamics/hybrid_aba.h"
#include "tests/support/oracles/same_motion.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_edit {
namespace {

using namespace testing;

TEST(Edit, CutRobotsMergeToTheRobotAgain) {
  for_descriptions(false, [](const ModelBuilder& b, const Robot& robot, unsigned seed) {
    for (const JointSpec& j : b.joints()) {
      if (j.type == JointType::Fixed && seed % 4) continue;
      SCOPED_TRACE(j.name);
      const CutRobot c = cut(b, j.name);
      EXPECT_EQ(c.rest.links().size() + c.part.links().size(), b.links().size());
      expect_same(robot, merged(c.rest, c.part, c.joint).build(), seed);
    }
  });
}

// State of a floating robot in the coordinates of another root.
State rerooted_state(const Robot& a, const State& s, const Robot& b, const std::string& link,
                     const std::string& joint) {
  State t = mapped(a, b, s);
  Numbers pose(12 * a.model.nf), v(6);
  forward_kinematics(a.model, s.q.data(), pose.data());
  frame_velocity(a.model, s.q.data(), s.v.data(), a.frame(link), v.data());
  const double* X = pose.data() + 12 * a.frame(link);
  Mat3d R;
  R << X[3], X[4], X[5], X[6], X[7], X[8], X[9], X[10], X[11];
  const Eigen::Quaterniond p(R);
  const Vec3d w = R.transpose() * Vec3d(v[0], v[1], v[2]);
  const Body<double>& root = b.model.body[b.joint(joint)];
  for (int k = 0; k < 3; k++) t.q[root.q + k] = X[k], t.v[root.v + k] = v[3 + k], t.v[root.v + 3 + k] = w(k);
  t.q[root.q + 3] = p.w(), t.q[root.q + 4] = p.x(), t.q[root.q + 5] = p.y(), t.q[root.q + 6] = p.z();
  return t;
}

// The two parts, each pushed by the wrench that the cut joint carried, move as they did together. RBDA section 5.3.
TEST(Edit, CutRobotsMoveAsBeforeUnderTheForceOfTheJoint) {
  int cuts = 0;
  for_descriptions(false, [&](const ModelBuilder& b, const Robot& robot, unsigned seed) {
    const State s = random_state(robot, seed);
    const Numbers qdd = forward_dynamics(robot, s);
    Numbers wrench(6 * robot.model.nb), pose(12 * robot.model.nf);
    joint_wrenches(robot.model, s.q.data(), s.v.data(), qdd.data(), Zeros<double>{}, wrench.data());
    forward_kinematics(robot.model, s.q.data(), pose.data());
    for (const JointSpec& j : b.joints()) {
      const int i = robot.joint(j.name);
      if (i < 0 || j.type == JointType::Free || !j.armature.empty()) continue;
      SCOPED_TRACE(j.name);
      CutRobot c = cut(b, j.name);
      c.part.float_root(j.child);
      const Robot part = c.part.build();
      const State t = rerooted_state(robot, s, part, j.child, "root");
      Numbers push(6 * part.model.nb, 0.0);
      for (int k = 0; k < 6; k++) push[6 * (part.joint("root") - 1) + k] = wrench[6 * (i - 1) + k];
      expect_same_frames(robot, s, qdd, part, t, forward_dynamics(part, t, push), 1e-8 * largest_of(qdd));
      if (c.rest.links().empty() || robot.model.body[i].parent == 0) continue;
      const Robot rest = c.rest.build();
      const State u = mapped(robot, rest, s);
      // the reaction, about the origin of the body it acts on
      const int parent = robot.model.body[i].parent;
      const std::string& body = robot.body_names[parent];
      const double *X = pose.data() + 12 * robot.frame(j.child), *Y = pose.data() + 12 * robot.frame(body);
      const double* W = wrench.data() + 6 * (i - 1);
      const Vec3d lever(X[0] - Y[0], X[1] - Y[1], X[2] - Y[2]), force(W[3], W[4], W[5]);
      const Vec3d moment = Vec3d(W[0], W[1], W[2]) + cross(lever, force);
      Numbers pull(6 * rest.model.nb, 0.0);
      const int at = rest.joint(robot.joint_names[parent - 1]);
      for (int k = 0; k < 3; k++) pull[6 * (at - 1) + k] = -moment(k), pull[6 * (at - 1) + 3 + k] = -force(k);
      expect_same_frames(robot, s, qdd, rest, u, forward_dynamics(rest, u, pull), 1e-8 * largest_of(qdd));
      cuts++;
    }
  });
  EXPECT_GT(cuts, 20);
}

// The choice of the floating base is free: RBDA section 4.1.
TEST(Edit, AnyLinkMayBeTheFloatingBase) {
  int reversed = 0;
  for_descriptions(true, [&](const ModelBuilder& b, const Robot& robot, unsigned seed) {
    State s = random_state(robot, seed);
    const int root = robot.model.body[robot.joint("root")].v;
    for (int k = 0; k < 6; k++) s.tau[root + k] = 0;
    const Numbers qdd = forward_dynamics(robot, s);
    for (const LinkSpec& l : b.links()) {
      if (l.name == b.floating()[0]) continue;
      SCOPED_TRACE(l.name);
      const Robot other = rerooted(b, l.name).build();
      ASSERT_EQ(other.model.nv, robot.model.nv);
      EXPECT_EQ(other.model.body[other.joint("root")].parent, 0);
      State t = rerooted_state(robot, s, other, l.name, "root");
      const int r = other.model.body[other.joint("root")].v;
      for (int k = 0; k < 6; k++) t.tau[r + k] = 0;
      const Numbers got = forward_dynamics(other, t);
      Numbers expected = mapped(robot, other, qdd, false, Numbers(got.size(), 0.0));
      for (int k = 0; k < 6; k++) expected[r + k] = got[r + k];  // other coordinates; see the frames
      expect_near(expected, got, 1e-8 * largest_of(qdd), "qdd");
      expect_same_frames(robot, s, qdd, other, t, got, 1e-8 * largest_of(qdd));
      expect_near(invariants(robot, s), invariants(other, t), 1e-11 * largest_of(invariants(robot, s)), "invariant");
      for (int i = 1; i <= other.model.nb; i++) reversed += other.model.body[i].reversed;
    }
  });
  EXPECT_GT(reversed, 50);
}

TEST(Edit, RerootingBackGivesTheRobotAgain) {
  for_descriptions(true, [](const ModelBuilder& b, const Robot& robot, unsigned seed) {
    const ModelBuilder there = rerooted(b, b.links().back().name);
    expect_same(robot, rerooted(there, b.floating()[0]).build(), seed);
  });
}

TEST(Edit, RerootingFindsANewNameForTheFrameOfAJoint) {
  Random random(4);
  ModelBuilder b("two");
  b.add_link(random_link(random, "a")), b.add_link(random_link(random, "b")), b.add_link({"j_base", 0.3});
  b.float_root("a");
  JointSpec j{"j", JointType::Ball, "a", "b"}, weld{"weld", JointType::Fixed, "a", "j_base"};
  j.X = random_placement(random, 0), weld.X = random_placement(random, 0);
  b.add_joint(j), b.add_joint(weld);
  const ModelBuilder there = rerooted(b, "b");
  EXPECT_GE(there.build().frame("j_base_"), 0);
  expect_same(b.build(), rerooted(there, "a").build(), 4);
}

// A robot that stands on the world stands on the other end then; a revolute joint stays a revolute joint.
TEST(Edit, ArmStandsOnItsHand) {
  Random random(5);
  ModelBuilder b("arm");
  std::string parent = "base";
  b.add_link(random_link(random, parent));
  for (int k = 0; k < 5; k++) {
    const std::string n = std::to_string(k);
    b.add_link(random_link(random, "link" + n));
    JointSpec j{"joint" + n, k == 2 ? JointType::Helical : JointType::Revolute, parent, "link" + n};
    j.X = random_placement(random, 0), j.axis = random.rotation().col(0), j.parameter = 0.1;
    b.add_joint(j);
    parent = "link" + n;
  }
  const Robot arm = b.build(), other = rerooted(b, "link4").build();
  for (int i = 1; i <= other.model.nb; i++) EXPECT_FALSE(other.model.body[i].reversed);
  const State s = random_state(arm, 5), t = mapped(arm, other, s);
  Numbers a(12 * arm.model.nf), c(12 * other.model.nf);
  forward_kinematics(arm.model, s.q.data(), a.data()), forward_kinematics(other.model, t.q.data(), c.data());
  const auto pose = [](const Robot& r, const Numbers& x, const std::string& f) -> Placement<double> {
    const double* p = x.data() + 12 * r.frame(f);
    return {rows<double>(p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11]), {p[0], p[1], p[2]}};
  };
  for (const LinkSpec& l : b.links()) {
    const Placement<double> x = inverse(pose(arm, a, "link4")) * pose(arm, a, l.name), y = pose(other, c, l.name);
    EXPECT_LT((x.R - y.R).norm() + (x.r - y.r).norm(), 1e-12) << l.name;
  }
}

// A locked joint is a prescribed one that does not move: RBDA sections 3.5 and 9.1.
TEST(Edit, LockedJointIsHybridDynamicsWithoutMotion) {
  for_descriptions(false, [](const ModelBuilder& b, const Robot& robot, unsigned seed) {
    const Model<double>& m = robot.model;
    for (int i = 1; i <= m.nb; i++) {
      const std::string& name = robot.joint_names[i - 1];
      SCOPED_TRACE(name);
      State s = random_state(robot, seed);
      const int n = joint_coordinates(m, i, false);
      for (int k = 0; k < n; k++) s.v[m.body[i].v + k] = s.a[m.body[i].v + k] = 0;
      const Numbers q(s.q.begin() + m.body[i].q, s.q.begin() + m.body[i].q + joint_coordinates(m, i, true));
      const Robot rigid = locked(b, name, q).build();
      ASSERT_EQ(rigid.model.nb, m.nb - 1);
      ASSERT_EQ(rigid.model.nv, m.nv - n);
      std::vector<char> prescribed(m.nb + 1, 0);
      prescribed[i] = 1;
      Numbers qdd(m.nv), tau(m.nv);
      hybrid_aba(m, prescribed, s.q.data(), s.v.data(), s.a.data(), s.tau.data(), Zeros<double>{}, qdd.data(),
                 tau.data());
      const State t = mapped(robot, rigid, s);
      const Numbers got = forward_dynamics(rigid, t);
      expect_near(got, mapped(robot, rigid, qdd, false, Numbers(got.size())), 1e-8 * largest_of(qdd), "qdd");
      expect_same_frames(robot, s, qdd, rigid, t, got, 1e-8 * largest_of(qdd));
      const Numbers x = invariants(robot, s), y = invariants(rigid, t);
      if (m.body[i].parent > 0)  // else mass is welded to the world
        expect_near(x, y, 1e-11 * largest_of(x), "invariant");
    }
  });
}

// Polarity of a revolute joint is the sign of its coordinate, as RBDA section 4.1.3 has it, in the midst of a tree.
TEST(Edit, ReplacedByTheReversedJoint) {
  RandomOptions o;
  o.bodies = 5, o.types = {JointType::Revolute, JointType::Cylindrical, JointType::Helical}, o.fixed = 0.5;
  for (unsigned seed = 1; seed <= 12; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const ModelBuilder b = builder(random_spec(seed, o));
    const Robot robot = b.build();
    const std::string name = robot.joint_names[seed % robot.joint_names.size()];
    JointSpec j;
    for (const JointSpec& k : b.joints())
      if (k.name == name) j = k;
    j.reversed = !j.reversed, j.parent = j.child = "";
    const Robot other = replaced(b, j).build();
    const State s = random_state(robot, seed);
    State t = mapped(robot, other, s);
    const int i = other.joint(name);
    const auto flip = [&](Numbers& x, int first, int n) {
      for (int k = 0; k < n; k++) x[first + k] = -x[first + k];
    };
    flip(t.q, other.model.body[i].q, joint_coordinates(other.model, i, true));
    for (Numbers* x : {&t.v, &t.a, &t.tau}) flip(*x, other.model.body[i].v, joint_coordinates(other.model, i, false));
    Numbers tau = inverse_dynamics(other, t);
    flip(tau, other.model.body[i].v, joint_coordinates(other.model, i, false));
    const Numbers expected = inverse_dynamics(robot, s);
    expect_near(tau, mapped(robot, other, expected, false, Numbers(tau.size())), 1e-12 * largest_of(expected), "tau");
  }
}

TEST(Edit, ReorderedRobotsDifferInTheOrderOfCoordinatesAlone) {
  int renumbered = 0;
  for_descriptions(false, [&](const ModelBuilder& b, const Robot& robot, unsigned seed) {
    std::vector<std::string> names, got;
    for (const JointSpec& j : b.joints()) names.push_back(j.name);
    std::reverse(names.begin(), names.end());
    const ModelBuilder other = reordered(b, names);
    for (const JointSpec& j : other.joints()) got.push_back(j.name);
    EXPECT_EQ(got, names);
    const Robot again = other.build();
    renumbered += again.joint_names != robot.joint_names;
    expect_same(robot, again, seed);
  });
  EXPECT_GT(renumbered, 5);
}

// A hand on an arm's tool frame, twice, under two prefixes: the mechanism of one description written by hand.
TEST(Edit, MergesTwoHandsUnderPrefixes) {
  Random random(9);
  const Placement<double> T = random_placement(random, 0), X = random_placement(random, 0),
                          F = random_placement(random, 0);
  const LinkSpec upper = random_link(random, "upper"), palm = random_link(random, "palm"),
                 finger = random_link(random, "finger");
  ModelBuilder arm("arm"), hand("hand"), whole("whole");
  JointSpec shoulder{"shoulder", JointType::BallYpr, "", "upper"},
      knuckle{"knuckle", JointType::Revolute, "palm", "finger"};
  knuckle.X = F, knuckle.axis = {0, 1, 0};
  arm.add_link(upper), arm.add_joint(shoulder), arm.add_frame({"tool", "upper", T});
  hand.add_link(palm), hand.add_link(finger), hand.add_joint(knuckle), hand.add_frame({"tip", "finger", X});
  hand.float_root("palm");
  JointSpec wrist{"wrist", JointType::Revolute, "tool", "palm"}, weld{"weld", JointType::Fixed, "tool", "palm"};
  wrist.X = weld.X = X;
  const Robot merged_robot = merged(merged(arm, hand, wrist, "l_"), hand, weld, "r_").build();
  whole.add_link(upper), whole.add_joint(shoulder), whole.add_frame({"tool", "upper", T});
  for (const std::string side : {"l_", "r_"}) {
    LinkSpec p = palm, f = finger;
    p.name = side + p.name, f.name = side + f.name;
    whole.add_link(p), whole.add_link(f);
    JointSpec j = side == "l_" ? wrist : weld, k = knuckle;
    j.parent = "upper", j.child = p.name, j.X = T * X;
    k.name = side + k.name, k.parent = p.name, k.child = f.name;
    whole.add_joint(j), whole.add_joint(k), whole.add_frame({side + "tip", f.name, X});
  }
  EXPECT_EQ(merged_robot.joint("root"), -1);
  expect_same(whole.build(), merged_robot, 3);
}

TEST(Edit, RefusesWhatItCannotMean) {
  ModelBuilder b("two");
  b.add_link({"a", 1}), b.add_link({"b", 1});
  JointSpec world{"hinge", JointType::Revolute, "", "a"}, elbow{"elbow", JointType::Revolute, "a", "b"};
  b.add_joint(world), b.add_joint(elbow);
  EXPECT_EQ(message([&] { cut(b, "knee"); }), "joint 'knee': does not exist");
  EXPECT_EQ(message([&] { rerooted(b, "c"); }), "link 'c': does not exist");
  EXPECT_EQ(message([&] { rerooted(b, "b"); }),
            "link 'b': cannot be the root: joint 'hinge' holds link 'a' to the world");
  ModelBuilder floats("floats");
  floats.add_link({"a", 1}), floats.add_link({"b", 1});
  JointSpec root{"root", JointType::Free, "", "a"};
  root.armature = {0, 0, 0, 0, 0, 0.1};
  floats.add_joint(root), floats.add_joint(elbow);
  EXPECT_EQ(message([&] { rerooted(floats, "b"); }),
            "link 'b': cannot be the root: joint 'root' has an armature, which link 'a' moves");
  EXPECT_EQ(message([&] { locked(b, "elbow", {1, 2}); }), "joint 'elbow': position has 2 numbers, expected 1");
  EXPECT_EQ(message([&] { reordered(b, {"elbow"}); }), "model 'two': 1 names of joints, expected each of 2 once");
  EXPECT_EQ(message([&] { reordered(b, {"elbow", "elbow"}); }),
            "model 'two': 2 names of joints, expected each of 2 once");
  EXPECT_EQ(message([&] { merged(b, b, elbow, "x"); }),
            "link 'b': is no root of robot 'two': joint 'elbow' leads to it");
  EXPECT_EQ(message([&] { merged(b, b, {"j", JointType::Fixed, "a", "c"}, "x"); }),
            "link 'c': does not exist in robot 'two'");
  ModelBuilder one("one");
  one.add_link({"c", 1});
  EXPECT_EQ(message([&] { merged(b, one, {"j", JointType::Fixed, "d", "c"}); }),
            "link 'd': is no link or frame of robot 'two'");
  EXPECT_EQ(message([&] { merged(b, one, {"elbow", JointType::Fixed, "a", "c"}).build(); }),
            "joint 'elbow': name is used twice");
}

}  // namespace
}  // namespace featherstorm::test_edit
