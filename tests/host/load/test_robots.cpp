#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/model/joints.h"
#include "host/load/load.h"
#include "host/load/robot_bytes.h"
#include "host/robots/robots.h"
#include "host/system/error.h"
#include "host/urdf/urdf.h"
#include "host/urdf/urdf_mass.h"
#include "tests/host/load/shared_models.h"
#include "tests/support/tools/message.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::test_robots {
namespace {

using test::shared_models;

int dofs(const Urdf& urdf) {
  int n = 0;
  for (const UrdfJoint& joint : urdf.joints) n += joint.type != UrdfJointType::kFixed;
  return n;
}

// Where each link is in the root at q = 0, by name.
std::map<std::string, Eigen::Matrix4d> frames(const Urdf& urdf) {
  std::map<std::string, Eigen::Matrix4d> out;
  for (const UrdfLink& link : urdf.links) {
    Eigen::Matrix4d T = Eigen::Matrix4d::Identity();
    for (int i = link.joint; i >= 0; i = urdf.links[urdf.joints[i].parent].joint) {
      Eigen::Matrix4d X = Eigen::Matrix4d::Identity();
      X.topLeftCorner<3, 3>() = urdf.joints[i].rotation;
      X.topRightCorner<3, 1>() = urdf.joints[i].translation;
      T = X * T;
    }
    out[link.name] = T;
  }
  return out;
}

TEST(Robots, SayTheirDofsAndHaveMassesThatMove) {
  for (const BuiltinRobot& robot : builtin_robots()) {
    const Urdf urdf = read_urdf_file(robot_file(robot.name));
    EXPECT_NE(robot.description.find(" " + std::to_string(dofs(urdf)) + " dofs"), std::string_view::npos) << robot.name;
    EXPECT_NO_THROW(check_urdf_masses(urdf, merge_fixed_links(urdf), robot.floating, robot.name)) << robot.name;
  }
}

TEST(Robots, HaveAFileForEachRowAndARowForEachFile) {
  std::set<std::string> rows, files;
  for (const BuiltinRobot& robot : builtin_robots()) rows.insert(std::string(robot.file));
  for (const auto& entry : std::filesystem::directory_iterator(robot_directory()))
    if (entry.path().extension() == ".urdf") files.insert(entry.path().filename().string());
  EXPECT_EQ(rows, files);
}

TEST(Robots, HoldNoVisualsAndNoMeshes) {
  for (const BuiltinRobot& robot : builtin_robots()) {
    const std::string text = test::read_file(robot_file(robot.name));
    for (const char* word : {"<visual", "<mesh", "<gazebo", "<transmission"})
      EXPECT_EQ(text.find(word), std::string::npos) << robot.name << " " << word;
  }
}

TEST(Robots, RefuseAnUnknownNameAndListTheKnown) {
  EXPECT_EQ(testing::message([] { builtin_robot("spot"); }),
            "robot 'spot' is not built in; the built-in robots are cartpole, double_pendulum, ur5, iiwa14, panda, "
            "go2, hyq, anymal_c, humanoid, g1, atlas");
}

TEST(Robots, SayWhereTheFileShouldBe) {
  EXPECT_EQ(
      testing::message([] { robot_file("go2", "/nowhere"); }),
      "robot 'go2': /nowhere/go2.urdf does not exist; set FEATHERSTORM_ROBOTS to the directory of the built-in robots");
}

TEST(Robots, AreFoundWhereTheEnvironmentSays) {
  {
    const test::Environment set("FEATHERSTORM_ROBOTS", "/elsewhere");
    EXPECT_EQ(robot_directory(), "/elsewhere");
  }
  const test::Environment empty("FEATHERSTORM_ROBOTS", "");
  EXPECT_NE(robot_directory(), "");
}

TEST(Robots, AgreeWithThePublishedFiles) {
  if (shared_models().empty()) GTEST_SKIP() << "no published models beside the project";
  int compared = 0;
  for (const BuiltinRobot& robot : builtin_robots()) {
    const std::filesystem::path published = shared_models() / "urdf" / robot.file;
    if (!std::filesystem::exists(published)) continue;  // cartpole, g1 and humanoid are published as MJCF
    SCOPED_TRACE(robot.name);
    const Urdf ours = read_urdf_file(robot_file(robot.name)), theirs = read_urdf_file(published);
    ASSERT_EQ(ours.links.size(), theirs.links.size());
    ASSERT_EQ(ours.joints.size(), theirs.joints.size());
    const auto our_frames = frames(ours), their_frames = frames(theirs);
    for (const UrdfLink& link : theirs.links) {
      const auto found =
          std::find_if(ours.links.begin(), ours.links.end(), [&](const UrdfLink& l) { return l.name == link.name; });
      ASSERT_NE(found, ours.links.end()) << link.name;
      EXPECT_EQ(found->mass, link.mass) << link.name;
      EXPECT_TRUE(found->com.isApprox(link.com, 1e-14)) << link.name;
      EXPECT_TRUE(found->inertia.isApprox(link.inertia, 1e-14)) << link.name;
      EXPECT_TRUE(our_frames.at(link.name).isApprox(their_frames.at(link.name), 1e-10)) << link.name;
    }
    for (std::size_t i = 0; i < theirs.joints.size(); ++i) {
      const UrdfJoint &a = ours.joints[i], &b = theirs.joints[i];
      EXPECT_EQ(a.name, b.name);
      EXPECT_TRUE(a.axis.isApprox(b.axis)) << b.name;
      EXPECT_EQ(a.damping, b.damping) << b.name;
      EXPECT_EQ(a.friction, b.friction) << b.name;
      EXPECT_EQ(a.mimic.has_value(), b.mimic.has_value()) << b.name;
      if (robot.name == "double_pendulum") continue;  // its published limits are all 0
      EXPECT_EQ(a.type, b.type) << b.name;
      EXPECT_EQ(a.lower, b.lower) << b.name;
      EXPECT_EQ(a.upper, b.upper) << b.name;
      EXPECT_EQ(a.effort, b.effort) << b.name;
      EXPECT_EQ(a.velocity, b.velocity) << b.name;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 8);
}

TEST(RobotBytes, HaveJointsWhoseCoordinatesExist) {
  const std::string bytes = robot_bytes(load("go2"));
  int accepted = 0;
  for (std::size_t i = 0; i < bytes.size(); i += i < 3000 ? 1 : 7)
    for (const char changed : {0, 1, 2, 6, -1}) {
      std::string other = bytes;
      other[i] = changed;
      try {
        const Robot robot = robot_of_bytes(other);
        const Model<double>& m = robot.model;
        for (int b = 1; b <= m.nb; b++) {
          const Body<double>& body = m.body[b];
          ASSERT_LE(body.q + joint_size(body.type).nq, m.nq) << i;
          ASSERT_LE(body.v + joint_size(body.type).nv, m.nv) << i;
          ASSERT_LE(body.x + joint_numbers(body.shape), m.nx) << i;
        }
        accepted++;
      } catch (const Error&) {}
    }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace featherstorm::test_robots
