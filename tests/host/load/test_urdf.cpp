#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <clocale>
#include <string>

#include "host/urdf/urdf.h"
#include "host/urdf/urdf_text.h"
#include "tests/host/load/urdf_texts.h"
#include "tests/support/tools/message.h"
#include "tests/support/tools/scratch.h"

namespace featherstorm::test_urdf {
namespace {

using namespace testing;

std::string inertial(const std::string& inside) {
  return robot_of("<link name='a'><inertial>" + inside + "</inertial></link>");
}
std::string inertia(const std::string& xx, const std::string& xy, const std::string& yy, const std::string& zz) {
  return inertial("<mass value='1'/><inertia ixx='" + xx + "' ixy='" + xy + "' ixz='0' iyy='" + yy + "' iyz='0' izz='" +
                  zz + "'/>");
}
std::string repeat(const std::string& text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += text;
  return out;
}
std::string many(int n, const std::string& before, const std::string& after) {
  std::string out;
  for (int i = 0; i < n; ++i) out += before + std::to_string(i) + after;
  return out;
}

struct Refusal {
  const char* claim;
  std::string text, message;
};
void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.claim; }

std::string error_of(const std::string& text, bool strict) {
  return message([&] { read_urdf(text, "x.urdf", {.strict = strict}); });
}

// Strict reading refuses these, as does reading that is not, but for what is odd.
class UrdfRefuses : public ::testing::TestWithParam<Refusal> {};
TEST_P(UrdfRefuses, WithItsMessage) {
  EXPECT_EQ(error_of(GetParam().text, true), GetParam().message);
  EXPECT_EQ(error_of(GetParam().text, false), GetParam().message);
}
// What is odd but has a meaning.
class UrdfTakes : public ::testing::TestWithParam<Refusal> {};
TEST_P(UrdfTakes, WithANotice) {
  const std::string& notice = GetParam().message;
  const Urdf urdf = read_urdf(GetParam().text, "x.urdf");
  ASSERT_EQ(urdf.odd, std::vector<std::string>{notice});
  EXPECT_NE(std::find(urdf.notices.begin(), urdf.notices.end(), notice), urdf.notices.end());
  const std::string refused = error_of(GetParam().text, true);
  EXPECT_EQ(refused.find(notice.substr(0, notice.find(';'))), refused.find(": ") + 2) << refused;
}

const Refusal kRefusals[] = {
    // the text
    {"Empty", "", "x.urdf: is empty"},
    {"Blank", " \n\t", "x.urdf: is empty"},
    {"ZeroByte", std::string("<robot>\0</robot>", 16), "x.urdf: holds a zero byte; it is not XML text in UTF-8"},
    {"Utf16", std::string("\xff\xfe<\0r\0", 6), "x.urdf: holds a zero byte; it is not XML text in UTF-8"},
    {"LongTag", "<robot " + many(20000, "a", "='1' ") + "/>",
     "x.urdf: has more than 64 KiB in one tag, comment or text"},
    {"NotXml", "solid part", "x.urdf:1: is not well-formed XML (XML_ERROR_PARSING_TEXT)"},
    {"CutOff", "<robot>\n<link name='a'", "x.urdf:2: is not well-formed XML (XML_ERROR_PARSING_ELEMENT)"},
    {"DeepNesting", "<robot>" + repeat("<a>", 300) + repeat("</a>", 300) + "</robot>",
     "x.urdf:1: is not well-formed XML (XML_ELEMENT_DEPTH_EXCEEDED)"},
    {"OnlyAComment", "<!-- nothing -->", "x.urdf: holds no XML element"},
    {"Mjcf", "<mujoco/>",
     "x.urdf:1: <mujoco> is the root element: this is MJCF, which load_mjcf reads; expected <robot>"},
    {"OtherXml", "<sdf/>", "x.urdf:1: <sdf> is the root element, expected <robot>"},
    {"TwoRootElements", "<robot><link name='a'/></robot>\n<robot/>", "x.urdf:2: <robot> follows the root element"},
    {"XacroMacro", robot_of("<xacro:property name='m' value='1'/>"),
     "x.urdf:2: <xacro:property> is a xacro macro; run xacro on the file first"},
    {"XacroExpression", inertial("<mass value='${m}'/>"),
     "x.urdf:2: link 'a': <mass> value: '${m}' is a xacro expression; run xacro on the file first"},
    // links
    {"NoLinks", "<robot/>", "x.urdf:1: <robot> has no <link>"},
    {"NamelessLink", robot_of("<link/>"), "x.urdf:2: <link> has no attribute 'name'"},
    {"EmptyName", robot_of("<link name=''/>"), "x.urdf:2: <link> has an empty name"},
    {"LongName", robot_of("<link name='" + std::string(1001, 'n') + "'/>"),
     "x.urdf:2: <link> has a name of more than 1000 bytes"},
    {"BrokenUtf8", robot_of("<link name='caf\xe9'/>"),
     "x.urdf:2: <link> has the name 'caf?', which is not clean UTF-8"},
    {"SameLinkNames", robot_of("<link name='a'/>\n<link name='a'/>"),
     "x.urdf:3: link 'a': <link> has the name of another link"},
    {"NoMassValue", inertial("<mass/>"), "x.urdf:2: link 'a': <mass> has no attribute 'value'"},
    {"NegativeMass", inertial("<mass value='-1'/>"), "x.urdf:2: link 'a': <mass> is negative"},
    {"MissingMoment", inertial("<mass value='1'/><inertia ixx='1'/>"),
     "x.urdf:2: link 'a': <inertia> has no attribute 'ixy'"},
    // joints
    {"NamelessJoint", robot_of("<link name='a'/><joint/>"), "x.urdf:2: <joint> has no attribute 'name'"},
    {"SameJointNames",
     robot_of("<link name='a'/><link name='b'/>\n" + repeat("<joint name='j' type='fixed'>" + kEnds + "</joint>\n", 2)),
     "x.urdf:4: joint 'j': <joint> has the name of another joint"},
    {"NoType", robot_of("<link name='a'/><joint name='j'/>"), "x.urdf:2: joint 'j': <joint> has no attribute 'type'"},
    {"UnknownType", two_links("ball"),
     "x.urdf:4: joint 'j': <joint> has the type 'ball', expected fixed, revolute, continuous, prismatic, planar or "
     "floating"},
    {"NoParent", robot_of("<link name='b'/><joint name='j' type='fixed'><child link='b'/></joint>"),
     "x.urdf:2: joint 'j': <joint> has no <parent>"},
    {"NoChild", robot_of("<link name='a'/><joint name='j' type='fixed'><parent link='a'/></joint>"),
     "x.urdf:2: joint 'j': <joint> has no <child>"},
    {"ParentWithoutLink", robot_of("<link name='a'/><joint name='j' type='fixed'><parent/></joint>"),
     "x.urdf:2: joint 'j': <parent> has no attribute 'link'"},
    {"UnknownLink",
     robot_of("<link name='a'/><joint name='j' type='fixed'><parent link='a'/><child link='z'/></joint>"),
     "x.urdf:2: joint 'j': <child> names the link 'z', which does not exist"},
    {"TwoOrigins", two_links("fixed", "<origin/><origin/>"), "x.urdf:4: joint 'j': <origin> occurs twice"},
    {"NotANumber", two_links("fixed", "<origin xyz='0 1,5 0'/>"),
     "x.urdf:4: joint 'j': <origin> xyz: '1,5' is not a number"},
    {"Nan", two_links("fixed", "<origin xyz='nan 0 0'/>"),
     "x.urdf:4: joint 'j': <origin> xyz: 'nan' is not a finite number of sensible size"},
    {"Infinity", two_links("fixed", "<origin rpy='0 -inf 0'/>"),
     "x.urdf:4: joint 'j': <origin> rpy: '-inf' is not a finite number of sensible size"},
    {"Overflow", two_links("fixed", "<origin xyz='0 1e999 0'/>"),
     "x.urdf:4: joint 'j': <origin> xyz: '1e999' is not a finite number of sensible size"},
    {"AbsurdNumber", two_links("fixed", "<origin xyz='0 1e13 0'/>"),
     "x.urdf:4: joint 'j': <origin> xyz: '1e13' is not a finite number of sensible size"},
    {"TooFewNumbers", two_links("fixed", "<origin xyz='0 1'/>"),
     "x.urdf:4: joint 'j': <origin> xyz: '0 1' holds 2 numbers, expected 3"},
    {"TooManyNumbers", two_links("fixed", "<origin rpy='0 1 2 3'/>"),
     "x.urdf:4: joint 'j': <origin> rpy: '0 1 2 3' holds 4 numbers, expected 3"},
    {"NoNumber", two_links("revolute", "<limit lower='' upper='1'/>"),
     "x.urdf:4: joint 'j': <limit> lower: '' holds 0 numbers, expected 1"},
    {"ZeroAxis", two_links("revolute", "<axis xyz='0 0 0'/>"), "x.urdf:4: joint 'j': <axis> has length zero"},
    {"AxisWithoutNumbers", two_links("revolute", "<axis/>"), "x.urdf:4: joint 'j': <axis> has no attribute 'xyz'"},
    {"MimicOfItself", two_links("revolute", "<mimic joint='j'/>"), "x.urdf:4: joint 'j': <mimic> names its own joint"},
    {"MimicOfAFloatingJoint",
     robot_of("<link name='a'/><link name='b'/><link name='c'/><joint name='i' type='floating'>" + kEnds +
              "</joint><joint name='j' type='revolute'><parent link='b'/><child link='c'/><mimic joint='i'/></joint>"),
     "x.urdf:2: joint 'j': <mimic> couples joints of which one has not one degree of freedom"},
    // the tree
    {"TwoRoots", robot_of("<link name='a'/>\n<link name='b'/>"),
     "x.urdf:3: two links have no parent, 'a' and 'b'; a robot has one root"},
    {"TwoParents",
     robot_of("<link name='a'/><link name='b'/><link name='c'/><joint name='i' type='fixed'>" + kEnds +
              "</joint>\n<joint name='j' type='fixed'><parent link='c'/><child link='b'/></joint>"),
     "x.urdf:3: link 'b' has two parents, by the joints 'i' and 'j'"},
    {"Loop",
     robot_of("<link name='a'/><link name='b'/><joint name='i' type='fixed'>" + kEnds +
              "</joint><joint name='j' type='fixed'><parent link='b'/><child link='a'/></joint>"),
     "x.urdf:2: no link is the root: the joints form a loop"},
    {"JointOntoItself",
     robot_of("<link name='a'/><joint name='j' type='fixed'><parent link='a'/><child link='a'/></joint>"),
     "x.urdf:2: no link is the root: the joints form a loop"},
    {"LoopApart",
     robot_of("<link name='r'/>\n<link name='a'/><link name='b'/><joint name='i' type='fixed'>" + kEnds +
              "</joint><joint name='j' type='fixed'><parent link='b'/><child link='a'/></joint>"),
     "x.urdf:3: link 'a' is in a loop of joints that the root does not reach"},
    {"TooManyLinks", robot_of(many(10001, "<link name='", "'/>")), "x.urdf:2: <link> is one of more than 10000 links"},
    {"TooManyJoints",
     robot_of("<link name='a'/><link name='b'/>" +
              many(10001, "<joint name='", "' type='fixed'>" + kEnds + "</joint>")),
     "x.urdf:2: <joint> is one of more than 10000 joints"},
};

const Refusal kOdd[] = {
    {"TwoInertials", robot_of("<link name='a'>" + kMass + kMass + "</link>"),
     "link 'a': <inertial> occurs twice; the first one is used"},
    {"NoMass", inertial(""), "link 'a': <inertial> has no <mass>; taken as 0"},
    {"NoInertia", inertial("<mass value='1'/>"),
     "link 'a': <inertial> has a mass and no <inertia>; taken as a point mass"},
    {"IndefiniteInertia", inertia("1", "2", "1", "1"),
     "link 'a': <inertia> is not positive definite; kept, although no physical body has it"},
    {"NegativeInertia", inertia("-1", "0", "-1", "-1"),
     "link 'a': <inertia> is not positive definite; kept, although no physical body has it"},
    {"CrossedLimits", two_links("revolute", "<limit lower='1' upper='-1'/>"),
     "joint 'j': <limit> has lower above upper; taken as unlimited"},
    {"NegativeEffort", two_links("revolute", "<limit effort='-1'/>"),
     "joint 'j': <limit> effort is negative; taken as absent"},
    {"NegativeVelocity", two_links("revolute", "<limit velocity='-1'/>"),
     "joint 'j': <limit> velocity is negative; taken as absent"},
    {"NegativeDamping", two_links("revolute", "<dynamics damping='-1'/>"),
     "joint 'j': <dynamics> damping is negative; taken as absent"},
    {"NegativeFriction", two_links("revolute", "<dynamics friction='-1'/>"),
     "joint 'j': <dynamics> friction is negative; taken as absent"},
    {"NegativeArmature", two_links("revolute", "<dynamics armature='-1'/>"),
     "joint 'j': <dynamics> armature is negative; taken as absent"},
    {"MimicOfNothing", two_links("revolute", "<mimic joint='z'/>"),
     "joint 'j': <mimic> names the joint 'z', which does not exist; the joint is independent"},
};
INSTANTIATE_TEST_SUITE_P(Urdf, UrdfTakes, ::testing::ValuesIn(kOdd), [](const auto& info) { return info.param.claim; });
INSTANTIATE_TEST_SUITE_P(Urdf, UrdfRefuses, ::testing::ValuesIn(kRefusals),
                         [](const auto& info) { return info.param.claim; });

// apart from the list above, which every process of these tests makes
TEST(Urdf, RefusesAFileTooLongToBeARobot) {
  EXPECT_EQ(error_of(std::string((64u << 20) + 1, ' '), false),
            "x.urdf: has more than 64 MiB, the largest size accepted");
}

// Files write 1e16, 3.4e38 or inf where there is no limit.
TEST(Urdf, TakesLimitsOfAnySize) {
  const Urdf urdf =
      read_urdf(two_links("revolute", "<limit lower='-1e16' upper='1e999' effort='3.4e38' velocity='inf'/>"), "x.urdf");
  EXPECT_EQ(urdf.joints[0].lower, -1e16);
  EXPECT_EQ(urdf.joints[0].upper, UrdfJoint::kUnlimited);
  EXPECT_EQ(urdf.joints[0].effort, 3.4e38);
  EXPECT_EQ(urdf.joints[0].velocity, UrdfJoint::kUnlimited);
  EXPECT_EQ(error_of(two_links("revolute", "<limit effort='nan'/>"), false),
            "x.urdf:4: joint 'j': <limit> effort: 'nan' is not a finite number of sensible size");
}

TEST(Urdf, DoesNotExpandEntitiesOfTheFile) {
  const Urdf urdf = read_urdf("<!DOCTYPE r [<!ENTITY x 'boom'>]><robot name='&x;'><link name='a'/></robot>", "x.urdf");
  EXPECT_EQ(urdf.name, "&x;");
}

TEST(Urdf, ReadsAJoint) {
  const Urdf urdf = read_urdf(two_links("revolute",
                                        "<origin xyz=' 1\t+2\n-3e-1 ' rpy='0.1 0.2 0.3'/><axis xyz='0 3 4'/>"
                                        "<limit lower='-1' upper='2' effort='3' velocity='4'/>"
                                        "<dynamics damping='5' friction='6' armature='7'/>"),
                              "x.urdf");
  ASSERT_EQ(urdf.joints.size(), 1u);
  const UrdfJoint& j = urdf.joints[0];
  EXPECT_EQ(j.name, "j");
  EXPECT_EQ(j.type, UrdfJointType::kRevolute);
  EXPECT_EQ(j.translation, Eigen::Vector3d(1, 2, -0.3));
  EXPECT_TRUE(j.axis.isApprox(Eigen::Vector3d(0, 0.6, 0.8), 1e-15));
  const Eigen::Matrix3d R =
      (Eigen::AngleAxisd(0.3, Eigen::Vector3d::UnitZ()) * Eigen::AngleAxisd(0.2, Eigen::Vector3d::UnitY()) *
       Eigen::AngleAxisd(0.1, Eigen::Vector3d::UnitX()))
          .toRotationMatrix();
  EXPECT_TRUE(j.rotation.isApprox(R, 1e-15));
  EXPECT_EQ(j.lower, -1);
  EXPECT_EQ(j.upper, 2);
  EXPECT_EQ(j.effort, 3);
  EXPECT_EQ(j.velocity, 4);
  EXPECT_EQ(j.damping, 5);
  EXPECT_EQ(j.friction, 6);
  EXPECT_EQ(j.armature, 7);
  EXPECT_TRUE(urdf.notices.empty());
}

TEST(Urdf, HasTheDefaultsOfTheStandard) {
  const Urdf urdf = read_urdf(two_links("continuous"), "x.urdf");
  const UrdfJoint& j = urdf.joints[0];
  EXPECT_EQ(j.axis, Eigen::Vector3d::UnitX());
  EXPECT_EQ(j.rotation, Eigen::Matrix3d::Identity());
  EXPECT_EQ(j.translation, Eigen::Vector3d::Zero());
  EXPECT_EQ(j.upper, UrdfJoint::kUnlimited);
  EXPECT_EQ(j.lower, -UrdfJoint::kUnlimited);
  EXPECT_EQ(j.damping, 0);
}

TEST(Urdf, TakesRoundedQuarterTurnsAsExact) {
  const Urdf urdf =
      read_urdf(two_links("fixed", "<origin rpy='1.57079632679 -1.57079632679 3.14159265359'/>"), "x.urdf");
  const Eigen::Matrix3d& R = urdf.joints[0].rotation;
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(R(i) == 0 || std::abs(R(i)) == 1) << R;
  EXPECT_NEAR(R.determinant(), 1, 1e-15);
}

TEST(Urdf, LeavesCoarselyRoundedAnglesAlone) {
  const Urdf urdf = read_urdf(two_links("fixed", "<origin rpy='1.5708 0 0'/>"), "x.urdf");
  EXPECT_NEAR(urdf.joints[0].rotation(1, 1), std::cos(1.5708), 1e-16);
}

TEST(Urdf, TurnsTheInertiaIntoLinkAxes) {
  const Urdf urdf = read_urdf(inertial("<origin xyz='1 2 3' rpy='0 0 0.3'/><mass value='2'/>"
                                       "<inertia ixx='2' ixy='0' ixz='0' iyy='3' iyz='0' izz='4'/>"),
                              "x.urdf");
  const UrdfLink& link = urdf.links[0];
  const double c = std::cos(0.3), s = std::sin(0.3);
  Eigen::Matrix3d I;
  I << 2 * c * c + 3 * s * s, (2 - 3) * c * s, 0, (2 - 3) * c * s, 2 * s * s + 3 * c * c, 0, 0, 0, 4;
  EXPECT_EQ(link.mass, 2);
  EXPECT_EQ(link.com, Eigen::Vector3d(1, 2, 3));
  EXPECT_TRUE(link.inertia.isApprox(I, 1e-15)) << link.inertia;
}

TEST(Urdf, IgnoresTheLocale) {
  bool comma = false;  // whether this machine has a locale that writes 1,5
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"}) comma = comma || std::setlocale(LC_ALL, locale);
  if (!comma) GTEST_SKIP() << "no locale with a decimal comma is installed";
  const Urdf urdf = read_urdf(two_links("fixed", "<origin xyz='1.5 0 0'/>"), "x.urdf");
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(urdf.joints[0].translation[0], 1.5);
}

TEST(Urdf, ReadsMimicsInAnyOrder) {
  const Urdf urdf =
      read_urdf(robot_of("<link name='a'/><link name='b'/><link name='c'/><joint name='k' type='prismatic'>"
                         "<parent link='a'/><child link='c'/><mimic joint='j' multiplier='-2' offset='0.5'/></joint>"
                         "<joint name='j' type='prismatic'>" +
                         kEnds + "</joint>"),
                "x.urdf");
  ASSERT_TRUE(urdf.joints[0].mimic);
  EXPECT_EQ(urdf.joints[0].mimic->joint, 1);
  EXPECT_EQ(urdf.joints[0].mimic->multiplier, -2);
  EXPECT_EQ(urdf.joints[0].mimic->offset, 0.5);
  EXPECT_FALSE(urdf.joints[1].mimic);
}

TEST(Urdf, SaysOnceWhatItIgnores) {
  const Urdf urdf = read_urdf(
      robot_of("<material name='m'/><link name='a'><visual/><visual/><collision/></link><gazebo/>"), "x.urdf");
  EXPECT_EQ(urdf.notices, (std::vector<std::string>{"ignored 1 <collision>", "ignored 1 <gazebo>",
                                                    "ignored 1 <material>", "ignored 2 <visual>"}));
}

TEST(Urdf, SaysWhatLooksOdd) {
  EXPECT_EQ(read_urdf(two_links("revolute"), "x").notices,
            std::vector<std::string>{"joint 'j' has no range; taken as unlimited"});
  EXPECT_EQ(read_urdf(two_links("revolute", "<limit lower='0' upper='0'/>"), "x").notices,
            std::vector<std::string>{"joint 'j' has a range of one point"});
  EXPECT_EQ(
      read_urdf(inertial("<mass value='0'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"), "x").notices,
      std::vector<std::string>{"link 'a': <inertia> has no mass; kept, although no physical body has it"});
  EXPECT_EQ(read_urdf(inertial("<mass value='0'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/>"), "x",
                      {.strict = true})
                .notices,
            std::vector<std::string>{"link 'a' has an inertia but no mass; taken as a frame"});
  EXPECT_EQ(read_urdf(inertia("1", "0", "1", "4"), "x").notices,
            std::vector<std::string>{
                "link 'a' has an inertia that no body has: its largest principal moment is above the sum of "
                "the others by 50 %"});
}

TEST(Urdf, KeepsTheNumberOfNoticesSmall) {
  EXPECT_LE(read_urdf(robot_of("<link name='a'/>" + many(5000, "<x", "/>")), "x").notices.size(), 31u);
}

TEST(Urdf, TakesAZeroVelocityLimitAsNone) {
  EXPECT_EQ(read_urdf(two_links("continuous", "<limit effort='0' velocity='0'/>"), "x").joints[0].velocity,
            UrdfJoint::kUnlimited);
  EXPECT_EQ(read_urdf(two_links("continuous", "<limit effort='0' velocity='0'/>"), "x").joints[0].effort, 0);
}

TEST(Urdf, TakesAThinRodAndAPointMass) {
  EXPECT_NO_THROW(read_urdf(inertia("1", "0", "1", "0"), "x"));
  EXPECT_NO_THROW(read_urdf(inertia("0", "0", "0", "0"), "x"));
}

std::string file_error(const std::filesystem::path& path) {
  return message([&] { read_urdf_file(path); });
}

TEST(UrdfFile, ReadsAFile) {
  const test::Scratch scratch;
  test::write_file(scratch / "r.urdf", two_links("fixed"));
  EXPECT_EQ(read_urdf_file(scratch / "r.urdf").links.size(), 2u);
}

TEST(UrdfFile, RefusesWhatIsNoFile) {
  const test::Scratch scratch;
  const std::string folder = scratch.path().string();
  EXPECT_EQ(file_error(folder + "/none.urdf"), folder + "/none.urdf: there is no such file");
  EXPECT_EQ(file_error(folder), folder + ": is a directory, expected a URDF file");
  EXPECT_EQ(file_error("/dev/null"), "/dev/null: is not a regular file");
  EXPECT_EQ(file_error(""), ": there is no such file");
}

TEST(UrdfFile, RefusesXacroEmptyAndHugeFiles) {
  const test::Scratch scratch;
  const std::string folder = scratch.path().string();
  test::write_file(folder + "/r.urdf.xacro", two_links("fixed"));
  EXPECT_EQ(file_error(folder + "/r.urdf.xacro"),
            folder + "/r.urdf.xacro: is a xacro file; run xacro on it first: xacro r.urdf.xacro > robot.urdf");
  test::write_file(folder + "/empty.urdf", "");
  EXPECT_EQ(file_error(folder + "/empty.urdf"), folder + "/empty.urdf: is empty");
  test::write_file(folder + "/huge.urdf", " ");
  std::filesystem::resize_file(folder + "/huge.urdf", kMaxUrdfBytes + 1);  // sparse
  EXPECT_EQ(file_error(folder + "/huge.urdf"), folder + "/huge.urdf: has more than 64 MiB, the largest size accepted");
}

TEST(UrdfText, QuotesHostileNamesHarmlessly) {
  EXPECT_EQ(urdf::quote("a\nb\x1b[31m\xff"), "'a?b?[31m?'");
  EXPECT_EQ(urdf::quote("机器人"), "'机器人'");
  EXPECT_EQ(urdf::quote(std::string(500, 'x')), "'" + std::string(80, 'x') + "...'");
  EXPECT_EQ(urdf::quote(std::string(79, 'x') + "é"), "'" + std::string(79, 'x') + "...'");
}

TEST(UrdfText, KnowsWellFormedUtf8) {
  for (const char* good : {"", "a", "é", "机", "😀"}) EXPECT_TRUE(urdf::is_clean_utf8(good)) << good;
  for (const char* bad :
       {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf8", "a\n", "\x7f"})
    EXPECT_FALSE(urdf::is_clean_utf8(bad)) << urdf::quote(bad);
}

}  // namespace
}  // namespace featherstorm::test_urdf
