#include <gtest/gtest.h>

#include <map>

#include "host/load/load_urdf.h"
#include "host/robots/robots.h"
#include "host/urdf/urdf.h"
#include "tests/host/load/shared_models.h"
#include "tests/host/load/urdf_texts.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_load_urdf {
namespace {

using namespace testing;
using test::shared_models;

std::string error_of(const std::string& text, const UrdfOptions& options = {}) {
  return message([&] { load_urdf_text(text, "x.urdf", options); });
}

TEST(LoadUrdf, KeepsEveryLinkAsAFrame) {
  for (const BuiltinRobot& built_in : builtin_robots()) {
    const Robot robot = load_urdf(robot_file(built_in.name));
    for (const UrdfLink& link : read_urdf_file(robot_file(built_in.name)).links)
      EXPECT_GE(robot.frame(link.name), 0) << link.name;
  }
}

TEST(LoadUrdf, KeepsLimitsDampingFrictionAndArmature) {
  const Robot robot = load_urdf_text(two_links("revolute",
                                               "<limit lower='-1' upper='2' effort='3' velocity='4'/>"
                                               "<dynamics damping='5' friction='6' armature='7'/>"));
  const Model<double>& m = robot.model;
  ASSERT_EQ(m.nv, 1);
  EXPECT_EQ(m.lower[0], -1);
  EXPECT_EQ(m.upper[0], 2);
  EXPECT_EQ(m.max_effort[0], 3);
  EXPECT_EQ(m.max_velocity[0], 4);
  EXPECT_EQ(m.damping[0], 5);
  EXPECT_EQ(m.friction[0], 6);
  EXPECT_EQ(m.armature[0], 7);
  EXPECT_TRUE(robot.notices.empty());
}

TEST(LoadUrdf, TakesEveryJointType) {
  const std::map<std::string, std::pair<int, int>> sizes = {{"fixed", {0, 0}},      {"revolute", {1, 1}},
                                                            {"continuous", {1, 1}}, {"prismatic", {1, 1}},
                                                            {"planar", {3, 3}},     {"floating", {7, 6}}};
  for (const auto& [type, size] : sizes) {
    const Robot robot = load_urdf_text(two_links(type));
    EXPECT_EQ(robot.model.nq, size.first) << type;
    EXPECT_EQ(robot.model.nv, size.second) << type;
  }
}

TEST(LoadUrdf, FloatsTheBaseWhenAsked) {
  const Robot robot = load_urdf_text(two_links("revolute"), "x.urdf", {.floating_base = true});
  EXPECT_EQ(robot.model.nv, 7);
  EXPECT_EQ(robot.joint_names, (std::vector<std::string>{"root", "j"}));
  EXPECT_EQ(robot.body_names, (std::vector<std::string>{"world", "a", "b"}));
}

TEST(LoadUrdf, MergesImpossibleTensorsOfFixedLinksIntoASoundBody) {
  const Robot robot = load_urdf(robot_file("anymal_c"), {.floating_base = true});
  EXPECT_EQ(std::count_if(robot.notices.begin(), robot.notices.end(),
                          [](const std::string& n) { return n.find("an inertia that no body has") != n.npos; }),
            5);
}

TEST(LoadUrdf, SaysThatAMimicIsIndependentOrRefusesIt) {
  const Robot panda = load_urdf(robot_file("panda"));
  EXPECT_EQ(panda.model.nv, 9);
  EXPECT_EQ(panda.notices, (std::vector<std::string>{
                               "ignored 8 <collision>",
                               "joint 'panda_finger_joint2' mimics 'panda_finger_joint1'; taken as independent"}));
  const std::string text = "<robot><link name='a'/><link name='b'>" + kMass + "</link><link name='c'>" + kMass +
                           "</link><joint name='i' type='continuous'>" + kEnds +
                           "</joint>\n<joint name='j' type='continuous'><parent link='a'/><child link='c'/><mimic "
                           "joint='i'/></joint></robot>";
  EXPECT_EQ(error_of(text), "no error");
  EXPECT_EQ(error_of(text, {.mimic = UrdfOptions::Mimic::kRefuse}), "x.urdf:2: joint 'j' mimics 'i', which is refused");
}

TEST(LoadUrdf, CouplesMimicJointsWhenAsked) {
  const Robot panda = load_urdf(robot_file("panda"), {.mimic = UrdfOptions::Mimic::kCouple});
  const Coupling<double>& c = panda.model.coupling;
  EXPECT_EQ(c.nu, 8);
  EXPECT_EQ(c.driver, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(c.column, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 7}));
  EXPECT_EQ(c.value, std::vector<double>(9, 1.0));
  EXPECT_EQ(panda.notices, (std::vector<std::string>{"ignored 8 <collision>"}));
  EXPECT_EQ(load_urdf(robot_file("iiwa14"), {.mimic = UrdfOptions::Mimic::kCouple}).model.coupling.nu, 0);

  // a mimic joint of a mimic joint: q_c = 2 q_b + 1, q_b = 3 q_a + 0.5
  const auto chain = [](const std::string& of_a) {
    std::string text = "<robot><link name='w'/>";
    for (const auto& [name, mimic] : {std::pair<std::string, std::string>{"a", of_a},
                                      {"b", "<mimic joint='ja' multiplier='3' offset='0.5'/>"},
                                      {"c", "<mimic joint='jb' multiplier='2' offset='1'/>"}})
      text += "<link name='" + name + "'>" + kMass + "</link>\n<joint name='j" + name +
              "' type='continuous'><parent link='w'/><child link='" + name + "'/>" + mimic + "</joint>";
    return text + "</robot>";
  };
  const Robot r = load_urdf_text(chain(""), "x.urdf", {.mimic = UrdfOptions::Mimic::kCouple});
  EXPECT_EQ(r.model.coupling.nu, 1);
  EXPECT_EQ(r.model.coupling.value, (std::vector<double>{1, 3, 6}));
  EXPECT_EQ(r.model.coupling.offset, (std::vector<double>{0, 0.5, 2}));
  EXPECT_EQ(error_of(chain("<mimic joint='jc'/>"), {.mimic = UrdfOptions::Mimic::kCouple}),
            "x.urdf:2: joint 'ja' mimics itself by way of others");
}

TEST(LoadUrdf, RefusesWhatTheReaderRefuses) {
  EXPECT_EQ(error_of("<robot>"), "x.urdf:1: is not well-formed XML (XML_ERROR_MISMATCHED_ELEMENT)");
  EXPECT_EQ(
      error_of("<robot><link name='a'/><link name='b'/><joint name='j' type='revolute'>" + kEnds + "</joint></robot>"),
      "x.urdf:1: joint 'j': moves no mass, so that forces determine no acceleration: give it a rotor (armature), or make it fixed");
  EXPECT_EQ(
      error_of("<robot><link name='a'/><link name='b'/><joint name='j' type='revolute'>" + kEnds + "</joint></robot>",
               {.strict = true}),
      "x.urdf:1: joint 'j' moves no mass: link 'b' and all beyond it are massless");
}

std::string link(const std::string& name, const std::string& mass, const std::string& moments) {
  return "<link name='" + name + "'><inertial><mass value='" + mass + "'/><inertia " + moments + "/></inertial></link>";
}
std::string moments(const std::string& xx, const std::string& yy, const std::string& zz) {
  return "ixx='" + xx + "' ixy='0' ixz='0' iyy='" + yy + "' iyz='0' izz='" + zz + "'";
}
const std::string kHinge = "<joint name='j' type='continuous'>" + kEnds + "<axis xyz='0 0 1'/></joint>";

// What no body has is kept as it is written: M is what these numbers make.
TEST(LoadUrdf, KeepsInertiasThatNoBodyHas) {
  struct Odd {
    std::string mass, moments;
    double about_z;
  };
  for (const Odd& o : {Odd{"2", moments("-1", "1", "3"), 3}, Odd{"1", moments("1", "1", "5"), 5},
                       Odd{"0", moments("1", "1", "0.5"), 0.5}}) {
    const std::string text = "<robot><link name='a'/>" + link("b", o.mass, o.moments) + kHinge + "</robot>";
    const Robot r = load_urdf_text(text, "x.urdf");
    EXPECT_EQ(r.model.body[1].I.I.zz, o.about_z);
    EXPECT_EQ(r.model.body[1].I.m, std::stod(o.mass));
    ASSERT_FALSE(r.odd.empty());
    EXPECT_NE(r.odd[0].find("'b'"), std::string::npos) << r.odd[0];
    EXPECT_NE(r.odd.back().find("no body has it"), std::string::npos) << r.odd.back();
    for (const std::string& s : r.odd) EXPECT_NE(std::find(r.notices.begin(), r.notices.end(), s), r.notices.end());
  }
}

TEST(LoadUrdf, AddsTheInertiaOfFixedLinksWithoutMass) {
  const std::string tip =
      "<link name='c'><inertial><origin xyz='1 0 0' rpy='0 0 1.57079632679'/><mass value='0'/><inertia " +
      moments("1", "2", "4") +
      "/></inertial></link><joint name='k' type='fixed'><parent link='b'/>"
      "<child link='c'/><origin xyz='0 5 0'/></joint>";
  const Robot r =
      load_urdf_text("<robot><link name='a'/>" + link("b", "1", moments("1", "1", "1")) + tip + kHinge + "</robot>");
  EXPECT_EQ(r.model.body[1].I.I.zz, 1 + 4) << "nothing is shifted where there is no mass";
  EXPECT_EQ(r.model.body[1].I.m, 1);
}

TEST(LoadUrdf, RefusesAJointWhoseInertiaIsZeroEverywhere) {
  const std::string rod = "<robot><link name='a'/>" + link("b", "1", moments("1", "1", "0")) + kHinge + "</robot>";
  const std::string words = error_of(rod);
  EXPECT_EQ(words.find("x.urdf:1: joint 'j': moves no inertia, or only inertia that the joints beyond it move as well"),
            0u)
      << words;
  EXPECT_NE(words.find("give the joint a rotor (armature)"), std::string::npos) << words;
  EXPECT_EQ(load_urdf_text(rod, "x.urdf", {.armature = 0.25}).model.armature, std::vector<double>{0.25});
  // two hinges about one axis with nothing between them
  const std::string twice =
      "<robot><link name='w'/><link name='a'/>" + link("b", "1", moments("1", "1", "1")) +
      "<joint name='i' type='continuous'><parent link='w'/><child link='a'/><axis xyz='0 0 1'/></joint>" + kHinge +
      "</robot>";
  EXPECT_EQ(error_of(twice).find("x.urdf:1: joint 'i': moves no inertia"), 0u) << error_of(twice);
}

TEST(LoadUrdf, GivesRotorsToJointsThatHaveNone) {
  const std::string text = "<robot><link name='a'/>" + link("b", "1", moments("1", "1", "1")) + kHinge + "</robot>";
  EXPECT_EQ(load_urdf_text(text).model.armature, std::vector<double>{0});
  EXPECT_EQ(load_urdf_text(text, "x", {.armature = 2}).model.armature, std::vector<double>{2});
  const std::string own = "<robot><link name='a'/>" + link("b", "1", moments("1", "1", "1")) +
                          "<joint name='j' type='continuous'>" + kEnds + "<dynamics armature='3'/></joint></robot>";
  EXPECT_EQ(load_urdf_text(own, "x", {.armature = 2}).model.armature, std::vector<double>{3});
}

TEST(LoadUrdf, RefusesMoreDofsThanTheMatrixCanHold) {
  std::string text = "<robot><link name='l0'/>";
  for (int i = 1; i <= 2000; ++i) {
    const std::string n = std::to_string(i);
    text += "<link name='l" + n + "'>" + kMass + "</link><joint name='j" + n + "' type='floating'><parent link='l" +
            std::to_string(i - 1) + "'/><child link='l" + n + "'/></joint>";
  }
  EXPECT_EQ(error_of(text + "</robot>"), "x.urdf: has 12000 degrees of freedom, expected at most 10000");
}

TEST(LoadUrdf, GivesTheLineOfWhatTheBuilderRefuses) {
  EXPECT_EQ(
      error_of("<robot><link name='a'/>\n<link name='b'><inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' "
               "iyy='1' iyz='0' izz='4'/></inertial></link><joint name='j' type='continuous'>" +
                   kEnds + "</joint></robot>",
               {.strict = true}),
      "x.urdf:2: link 'b': principal moments of inertia violate the triangle inequality");
  // names of the file come first: the joint of the floating base has another
  std::string root = two_links("continuous");
  root.replace(root.find("'j'"), 3, "'root'");
  EXPECT_EQ(error_of(root, {.floating_base = true}), "no error");
  EXPECT_GE(load_urdf_text(root, "x.urdf", {.floating_base = true}).joint("root"), 0);
}

TEST(LoadUrdf, TakesThePublishedFiles) {
  if (shared_models().empty()) GTEST_SKIP() << "no published models beside the project";
  for (const auto& entry : std::filesystem::directory_iterator(shared_models() / "urdf"))
    for (bool floating : {false, true})
      EXPECT_NO_THROW(load_urdf(entry.path(), {.floating_base = floating})) << entry.path();
}

}  // namespace
}  // namespace featherstorm::test_load_urdf
