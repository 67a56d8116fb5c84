// What the builder makes of a description, and what it says of one that makes no sense.
#include "core/model/builder.h"

#include <gtest/gtest.h>

#include "core/model/joint_axes.h"
#include "tests/support/oracles/cases.h"

namespace featherstorm::test_builder {
namespace {

using namespace testing;

using dense::Matrix4;

// Pose of every named frame in the world, from the model alone.
std::vector<Placement<double>> frames_of_model(const Model<double>& m, const std::vector<double>& q) {
  const std::vector<double> v(m.nv, 0.0);
  std::vector<double> x(m.nx);
  std::vector<Placement<double>> body(m.nb + 1, identity_placement<double>()), frame;
  for (int i = 1; i <= m.nb; i++) {
    update_joint(m, i, q, v, x);
    with_joint(m, i, x, [&](const auto& J) { body[i] = body[m.body[i].parent] * J.placement(); });
  }
  for (const Frame<double>& f : m.frame) frame.push_back(body[f.body] * f.X);
  return frame;
}

// Turning axes to z and removing turns of parents moves no frame the user named.
TEST(Builder, FramesStayWhereTheUserPutThem) {
  for_random_robots([](const Case& c) {
    const auto frames = frames_of_model(c.model(), c.state.q);
    const dense::Pose p = c.oracle.pose(c.state.q, c.state.v);
    double scale = 1;
    for (std::size_t i = 0; i < c.oracle.node.size(); i++) {
      const Placement<double>& F = frames.at(c.robot.frame(c.oracle.node[i].name));
      scale = std::max(scale, F.r.norm());
      EXPECT_LT((dense::homogeneous(F.R, F.r) - p.T[i]).cwiseAbs().maxCoeff(), tolerance<double>("placement") * scale)
          << c.oracle.node[i].name;
      if (c.oracle.node[i].name != c.spec.frames[0].link) continue;
      const Placement<double>& tool = frames.at(c.robot.frame("tool"));
      const Matrix4 T = p.T[i] * dense::homogeneous(c.spec.frames[0].X.R, c.spec.frames[0].X.r);
      EXPECT_LT((dense::homogeneous(tool.R, tool.r) - T).cwiseAbs().maxCoeff(), tolerance<double>("placement") * scale);
    }
  });
}

// Chains of revolute joints become Denavit-Hartenberg: all but branches' second children are turns about x.
TEST(Builder, RevoluteChainsAreTilted) {
  RandomOptions o;
  o.bodies = 8, o.types = {JointType::Revolute}, o.reversed = 0, o.branching = 0, o.roots = 0, o.fixed = 0.3;
  for (unsigned seed = 1; seed <= 10; seed++) {
    const Model<double> m = random_robot(seed, o).model;
    for (int i = 2; i <= m.nb; i++) {
      EXPECT_EQ(m.body[i].shape, JointShape::RevoluteTilted);
      EXPECT_NEAR(m.body[i].tilt.c * m.body[i].tilt.c + m.body[i].tilt.s * m.body[i].tilt.s, 1, 1e-12);
      EXPECT_NEAR(m.body[i].zero.c * m.body[i].zero.c + m.body[i].zero.s * m.body[i].zero.s, 1, 1e-12);
    }
  }
}

// Axis-aligned robots keep exact zeros and ones, which fold away in traced programs; turned for the sake of their numbers all
// but the angle at q = 0, and the centres of mass of last bodies lie in the plane y = 0 or x = 0.
TEST(Builder, AlignedRobotsHaveExactNumbers) {
  RandomOptions o;
  o.bodies = 10, o.types = {JointType::Revolute, JointType::Prismatic}, o.aligned = 1, o.reversed = 0, o.fixed = 0;
  int inclined = 0;
  for (unsigned seed = 1; seed <= 10; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Model<double> m = random_robot(seed, o).model, by_numbers = turned(m);
    auto exact = [](double x) { return x == 0 || x == 1 || x == -1; };
    for (int i = 1; i <= m.nb; i++) {
      const Body<double>& b = m.body[i];
      for (double x : {b.zero.c, b.zero.s}) EXPECT_TRUE(exact(x)) << i << " " << x;
      inclined += b.I.h.x() * b.I.h.y() != 0;
      for (const Body<double>& a : {b, by_numbers.body[i]}) {
        for (int k = 0; k < 9; k++) EXPECT_TRUE(exact(a.X_T.R(k))) << i << " " << a.X_T.R(k);
        for (double x : {a.tilt.c, a.tilt.s}) EXPECT_TRUE(exact(x)) << i << " " << x;
      }
      const Vec3d& h = by_numbers.body[i].I.h;
      if (b.type == JointType::Revolute && children(m, i).empty()) { EXPECT_EQ(h.x() * h.y(), 0) << i; }
    }
  }
  EXPECT_GT(inclined, 10);
}

// The axes of bodies are told by the axes of joints alone: a robot with other masses, lengths and limits has the same, and what
// is told in them (regressors, forces on bodies) goes on meaning the same.
TEST(Builder, AxesOfBodiesDoNotDependOnNumbers) {
  for_random_robots([](const Case& c) {
    Random random(3);
    RobotSpec other = c.spec;
    for (LinkSpec& l : other.links) l = random_link(random, l.name);
    for (JointSpec& j : other.joints)
      j.X.r = Vec3d(random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1));
    const Robot moved = build(other);
    for (int i = 1; i <= c.model().nb; i++) {
      const Body<double>&a = c.model().body[i], &b = moved.model.body[i];
      EXPECT_EQ(a.X_T.R, b.X_T.R) << i;
      EXPECT_EQ(a.zero.c, b.zero.c) << i;
      EXPECT_EQ(a.zero.s, b.zero.s) << i;
    }
  });
}

// One body of several welded links has their composite inertia; the links stay as frames.
TEST(Builder, FixedJointsMergeIntoOneBody) {
  Random random(3);
  RobotSpec spec;
  JointSpec j;
  j.name = "hinge", j.child = "a", j.axis = {0, 0, 1};
  spec.links = {random_link(random, "a"), random_link(random, "b"), random_link(random, "c")};
  spec.joints = {j};
  j = {};
  j.name = "ab", j.type = JointType::Fixed, j.parent = "a", j.child = "b", j.X = random_placement(random, 0);
  spec.joints.push_back(j);
  j.name = "bc", j.parent = "b", j.child = "c", j.X = random_placement(random, 0);
  spec.joints.push_back(j);
  const Robot r = build(spec);
  ASSERT_EQ(r.model.nb, 1);
  EXPECT_EQ(r.frame_names, (std::vector<std::string>{"a", "b", "c"}));
  // centre of mass and inertia of the three about a's origin, link a's axes = body axes up to the frame of a
  dense::Matrix6 I = dense::Matrix6::Zero();
  Matrix4 T = Matrix4::Identity();
  for (int k = 0; k < 3; k++) {
    if (k > 0) T = T * dense::homogeneous(spec.joints[k].X.R, spec.joints[k].X.r);
    const dense::Matrix6 X = dense::transform_to(T);
    I += X.transpose() * dense::inertia(spec.links[k].mass, spec.links[k].com, spec.links[k].inertia) * X;
  }
  const Placement<double> L = r.model.frame[0].X;
  const RigidBodyInertia<double> J = apply_transpose(inverse(L), r.model.body[1].I);  // in link a's frame
  EXPECT_NEAR(J.m, I(5, 5), 1e-14);
  EXPECT_LT((full(J.I) - I.topLeftCorner<3, 3>()).norm(), 1e-13);
  EXPECT_LT((dense::skew(J.h) - I.topRightCorner<3, 3>()).norm(), 1e-13);
}

// A link welded to the world takes no part in the dynamics; what hangs on it moves.
TEST(Builder, LinksWeldedToTheWorldBecomeItsFrames) {
  RobotSpec spec;
  spec.links = {{"base", 5.0}, {"arm", 1.0, Vec3d(1, 0, 0)}};
  JointSpec j;
  j.name = "hinge", j.parent = "base", j.child = "arm";
  spec.joints = {j};
  const Robot r = build(spec);
  EXPECT_EQ(r.model.nb, 1);
  EXPECT_EQ(r.model.frame[r.frame("base")].body, 0);
  EXPECT_EQ(r.body_names, (std::vector<std::string>{"world", "arm"}));
}

// Children are visited in the order their joints were added; joint_order leads from that order to bodies.
TEST(Builder, NumberingFollowsTheOrderOfJoints) {
  RobotSpec spec;
  for (const char* name : {"d", "a", "c", "b", "e"}) spec.links.push_back({name, 1.0});
  auto add = [&](const char* name, const char* parent, const char* child) {
    JointSpec j;
    j.name = name, j.parent = parent, j.child = child;
    spec.joints.push_back(j);
  };
  add("to_e", "b", "e"), add("to_c", "a", "c"), add("to_b", "a", "b"), add("to_a", "", "a"), add("to_d", "", "d");
  const Robot r = build(spec);
  EXPECT_EQ(r.joint_names, (std::vector<std::string>{"to_a", "to_c", "to_b", "to_e", "to_d"}));
  EXPECT_EQ(r.joint_order, (std::vector<int>{4, 2, 3, 1, 5}));
  EXPECT_EQ(r.v_names, r.joint_names);
  EXPECT_EQ(r.joint("to_b"), 3);
  EXPECT_EQ(r.joint("nothing"), -1);
  EXPECT_EQ(r.frame("nothing"), -1);
  EXPECT_EQ(r.frame_names, (std::vector<std::string>{"d", "a", "c", "b", "e"}));
}

// The order in which links and joints are added permutes coordinates and changes no number.
TEST(Builder, NumberingIsEquivariant) {
  for (unsigned seed = 1; seed <= 20; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions o;
    o.bodies = 9, o.shuffled = false;
    const RobotSpec spec = random_spec(seed, o);
    RobotSpec shuffled = spec;
    Random random(seed);
    random.shuffle(shuffled.links), random.shuffle(shuffled.joints);
    const Case a(spec, seed);
    const Robot b = build(shuffled);
    State t = a.state;
    std::vector<int> v_of(a.model().nv);  // coordinate in b of each coordinate of a
    for (int i = 1; i <= a.model().nb; i++) {
      const int k = b.joint(a.robot.joint_names[i - 1]);
      const Body<double>&x = a.model().body[i], &y = b.model.body[k];
      const int nq = (i < a.model().nb ? a.model().body[i + 1].q : a.model().nq) - x.q;
      const int nv = (i < a.model().nb ? a.model().body[i + 1].v : a.model().nv) - x.v;
      for (int c = 0; c < nq; c++) t.q[y.q + c] = a.state.q[x.q + c];
      for (int c = 0; c < nv; c++) {
        t.v[y.v + c] = a.state.v[x.v + c], t.a[y.v + c] = a.state.a[x.v + c];
        v_of[x.v + c] = y.v + c;
      }
      for (int c = 0; c < 6; c++) t.f_ext[6 * (k - 1) + c] = a.state.f_ext[6 * (i - 1) + c];
    }
    const auto x = call_rnea(a.model(), a.state.q, a.state.v, a.state.a, a.state.f_ext);
    const auto y = call_rnea(b.model, t.q, t.v, t.a, t.f_ext);
    std::vector<double> back(x.size());
    for (std::size_t k = 0; k < x.size(); k++) back[k] = y[v_of[k]];
    EXPECT_LT(relative_error(back, x, force_scale(a, a.state.a)), tolerance<double>("rnea"));
  }
}

TEST(Builder, FloatRootNamesTheJoint) {
  RobotSpec spec;
  spec.links = {{"a", 1.0}, {"b", 1.0}};
  spec.floating = {"a"};
  EXPECT_EQ(build(spec).joint_names, (std::vector<std::string>{"root"}));
  spec.floating = {"a", "b"};
  const Robot r = build(spec);
  EXPECT_EQ(r.joint_names, (std::vector<std::string>{"root_a", "root_b"}));
  EXPECT_EQ(r.model.nq, 14);
  EXPECT_EQ(r.model.body[1].shape, JointShape::Free);
  EXPECT_EQ(r.v_names[7], "root_b_1");
}

TEST(Builder, LimitsAndLossesReachTheirCoordinates) {
  RobotSpec spec;
  spec.links = {{"a", 1.0}, {"b", 1.0}};
  JointSpec j;
  j.name = "one", j.child = "a", j.type = JointType::Universal;
  j.lower = {-1, -2}, j.upper = {1, 2}, j.damping = {0.1, 0.2}, j.friction = {3, 4}, j.armature = {5, 6};
  j.max_velocity = {7, 8}, j.max_effort = {9, 10};
  JointSpec k;
  k.name = "two", k.parent = "a", k.child = "b", k.type = JointType::Ball;
  spec.joints = {j, k};
  const Model<double> m = build(spec).model;
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(m.lower, (std::vector<double>{-1, -2, -inf, -inf, -inf}));
  EXPECT_EQ(m.upper, (std::vector<double>{1, 2, inf, inf, inf}));
  EXPECT_EQ(m.damping, (std::vector<double>{0.1, 0.2, 0, 0, 0}));
  EXPECT_EQ(m.friction, (std::vector<double>{3, 4, 0, 0, 0}));
  EXPECT_EQ(m.armature, (std::vector<double>{5, 6, 0, 0, 0}));
  EXPECT_EQ(m.max_velocity, (std::vector<double>{7, 8, inf, inf, inf}));
  EXPECT_EQ(m.max_effort, (std::vector<double>{9, 10, inf, inf, inf}));
  EXPECT_EQ(m.dof_q, (std::vector<int>{0, 1, -1, -1, -1}));
}

// A massless link between two joints is allowed: what it carries has mass.
TEST(Builder, MasslessLinkMayCarryMass) {
  RobotSpec spec;
  spec.links = {{"cross"}, {"load", 1.0, Vec3d(1, 0, 0)}};
  JointSpec j;
  j.name = "one", j.child = "cross";
  spec.joints = {j};
  j.name = "two", j.parent = "cross", j.child = "load", j.axis = {1, 0, 0};
  spec.joints.push_back(j);
  EXPECT_EQ(build(spec).model.nb, 2);
}

TEST(Builder, MasslessJointMayHaveARotor) {
  RobotSpec spec;
  spec.links = {{"disc"}};
  JointSpec j;
  j.name = "one", j.child = "disc", j.armature = {0.1};
  spec.joints = {j};
  const Model<double> m = build(spec).model;
  EXPECT_NEAR(call_articulated_bodies<double>(m, {0}, {0}, {2}, {})[0], 20, 1e-13);
}

// A model of no joints has no coordinates, and the algorithms do nothing on it.
TEST(Builder, ModelWithoutJoints) {
  for (bool with_link : {false, true}) {
    RobotSpec spec;
    if (with_link) spec.links = {{"base", 1.0}};
    const Robot r = build(spec);
    EXPECT_EQ(r.model.nb, 0);
    EXPECT_EQ(r.model.nv, 0);
    EXPECT_EQ(r.model.nh, 0);
    EXPECT_EQ(r.model.row_start, std::vector<int>{0});
    EXPECT_TRUE(r.q0.empty());
    EXPECT_TRUE(call_rnea<double>(r.model, {}, {}, {}, {}).empty());
    EXPECT_TRUE(call_newton_euler<double>(r.model, {}, {}, {}, {}).empty());
    EXPECT_TRUE(call_crba<double>(r.model, {}).empty());
    EXPECT_TRUE(call_articulated_bodies<double>(r.model, {}, {}, {}, {}).empty());
    ltdl(r.model, static_cast<double*>(nullptr));
    solve<Factor::LTDL>(r.model, static_cast<const double*>(nullptr), static_cast<double*>(nullptr));
  }
}

// A valid description, a change that spoils it, and what the builder says then.
struct Fault {
  const char* name;
  void (*spoil)(RobotSpec&);
  const char* message;
};
RobotSpec valid() {
  RobotSpec spec;
  LinkSpec a{"a", 1.0};
  a.inertia = Vec3d(1, 1, 1).asDiagonal();
  LinkSpec b = a;
  b.name = "b";
  spec.links = {a, b};
  JointSpec j;
  j.name = "one", j.child = "a";
  spec.joints = {j};
  j.name = "two", j.parent = "a", j.child = "b";
  spec.joints.push_back(j);
  return spec;
}
constexpr double nan_ = std::numeric_limits<double>::quiet_NaN(), inf_ = std::numeric_limits<double>::infinity();
const Fault faults[] = {
    {"LinkWithoutName", [](RobotSpec& s) { s.links[0].name = ""; }, "link '': has no name"},
    {"LinkTwice", [](RobotSpec& s) { s.links[1].name = "a"; }, "link 'a': name is used twice"},
    {"MassNotFinite", [](RobotSpec& s) { s.links[0].mass = nan_; },
     "link 'a': mass, centre of mass or inertia is not finite"},
    {"ComNotFinite", [](RobotSpec& s) { s.links[0].com.x() = inf_; },
     "link 'a': mass, centre of mass or inertia is not finite"},
    {"InertiaNotFinite", [](RobotSpec& s) { s.links[0].inertia(0, 1) = nan_; },
     "link 'a': mass, centre of mass or inertia is not finite"},
    {"MassNegative", [](RobotSpec& s) { s.links[0].mass = -1; }, "link 'a': mass is negative"},
    {"InertiaWithoutMass", [](RobotSpec& s) { s.links[0].mass = 0; }, "link 'a': inertia without mass"},
    {"InertiaNotSymmetric", [](RobotSpec& s) { s.links[0].inertia(0, 1) = 0.1; }, "link 'a': inertia is not symmetric"},
    {"InertiaNotPositive", [](RobotSpec& s) { s.links[0].inertia(0, 0) = -1; },
     "link 'a': inertia is not positive definite"},
    {"InertiaTriangle", [](RobotSpec& s) { s.links[0].inertia(0, 0) = 3; },
     "link 'a': principal moments of inertia violate the triangle inequality"},
    {"GravityNotFinite", [](RobotSpec& s) { s.gravity.x() = nan_; }, "model 'robot': gravity is not finite"},
    {"JointTwice", [](RobotSpec& s) { s.joints[1].name = "one"; }, "joint 'one': name is used twice"},
    {"NoChild", [](RobotSpec& s) { s.joints[1].child = "x"; }, "joint 'two': child link 'x' does not exist"},
    {"NoParent", [](RobotSpec& s) { s.joints[1].parent = "x"; }, "joint 'two': parent link 'x' does not exist"},
    {"TwoParents", [](RobotSpec& s) { s.joints[1].child = "a", s.joints[1].parent = "b"; },
     "link 'a': has two parents, through joints 'one' and 'two'"},
    {"FloatingLinkWithParent", [](RobotSpec& s) { s.floating = {"a"}; },
     "link 'a': has two parents, through joints 'root' and 'one'"},
    {"FloatingNothing", [](RobotSpec& s) { s.floating = {"x"}; }, "joint 'root': child link 'x' does not exist"},
    {"PlacementNotFinite", [](RobotSpec& s) { s.joints[0].X.r.x() = nan_; }, "joint 'one': placement is not finite"},
    {"PlacementNoRotation", [](RobotSpec& s) { s.joints[0].X.R(0, 0) = 2; },
     "joint 'one': placement is not a rotation"},
    {"PlacementMirrors", [](RobotSpec& s) { s.joints[0].X.R(0, 0) = -1; }, "joint 'one': placement is not a rotation"},
    {"ParameterNotFinite", [](RobotSpec& s) { s.joints[0].parameter = nan_; }, "joint 'one': parameter is not finite"},
    {"AxisZero", [](RobotSpec& s) { s.joints[0].axis = Vec3d::Zero(); }, "joint 'one': axis is zero or not finite"},
    {"AxisNotFinite", [](RobotSpec& s) { s.joints[0].axis.x() = nan_; }, "joint 'one': axis is zero or not finite"},
    {"UserWithoutFunctions", [](RobotSpec& s) { s.joints[0].type = JointType::UserDefined; },
     "joint 'one': user-defined joint has no functions"},
    {"Cycle", [](RobotSpec& s) { s.joints[0].parent = "b"; }, "link 'a': is part of a cycle of joints"},
    {"LimitsCount", [](RobotSpec& s) { s.joints[0].lower = {1, 2}; },
     "joint 'one': lower limit has 2 numbers, expected 1"},
    {"LimitNan", [](RobotSpec& s) { s.joints[0].upper = {nan_}; }, "joint 'one': upper limit is nan"},
    {"LimitsCrossed", [](RobotSpec& s) { s.joints[0].lower = {2}, s.joints[0].upper = {1}; },
     "joint 'one': lower limit exceeds upper limit"},
    {"ArmatureNegative", [](RobotSpec& s) { s.joints[0].armature = {-1}; }, "joint 'one': armature is -1.000000"},
    {"ArmatureInfinite", [](RobotSpec& s) { s.joints[0].armature = {inf_}; }, "joint 'one': armature is inf"},
    {"DampingNegative", [](RobotSpec& s) { s.joints[0].damping = {-1}; }, "joint 'one': damping is -1.000000"},
    {"FrictionNegative", [](RobotSpec& s) { s.joints[0].friction = {-1}; }, "joint 'one': friction is -1.000000"},
    {"VelocityLimitNegative", [](RobotSpec& s) { s.joints[0].max_velocity = {-1}; },
     "joint 'one': velocity limit is -1.000000"},
    {"EffortLimitNegative", [](RobotSpec& s) { s.joints[0].max_effort = {-1}; },
     "joint 'one': effort limit is -1.000000"},
    {"NoMass", [](RobotSpec& s) { s.links[1].mass = 0, s.links[1].inertia = Mat3d::Zero(); },
     "joint 'two': moves no mass, so that forces determine no acceleration: give it a rotor (armature), or make it fixed"},
    {"FrameNowhere", [](RobotSpec& s) { s.frames = {{"tool", "x"}}; }, "frame 'tool': link 'x' does not exist"},
    {"FrameTwice", [](RobotSpec& s) { s.frames = {{"b", "a"}}; }, "frame 'b': name is used twice"},
};

class BuilderFault : public ::testing::TestWithParam<Fault> {};
TEST_P(BuilderFault, IsNamed) {
  RobotSpec spec = valid();
  EXPECT_NO_THROW(builder(spec).build(true));
  GetParam().spoil(spec);
  try {
    builder(spec).build(true);
    FAIL() << "no error, expected: " << GetParam().message;
  } catch (const ModelError& e) {
    EXPECT_EQ(std::string(e.what()), GetParam().message);
    EXPECT_EQ(e.kind + " '" + e.name + "': " + e.reason, GetParam().message);
  }
}
INSTANTIATE_TEST_SUITE_P(All, BuilderFault, ::testing::ValuesIn(faults),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace featherstorm::test_builder
