#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <string>

#include "host/urdf/urdf_mass.h"
#include "tests/host/load/urdf_texts.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_urdf_mass {
namespace {

using namespace testing;

std::string mass_error(const std::string& text, bool floating_base = false) {
  return message([&] {
    const Urdf urdf = read_urdf(text, "x.urdf");
    check_urdf_masses(urdf, merge_fixed_links(urdf), floating_base, "x.urdf");
  });
}
const std::string kRod =
    "<inertial><mass value='1'/><inertia ixx='0' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>";
std::string moved(const std::string& type, const std::string& inertial, const std::string& inside = "") {
  return robot_of("<link name='a'>" + kMass + "</link><link name='b'>" + inertial + "</link>\n<joint name='j' type='" +
                  type + "'>" + kEnds + inside + "</joint>");
}

TEST(UrdfMasses, RefuseAJointThatMovesNothing) {
  for (const char* type : {"revolute", "continuous", "prismatic", "planar", "floating"})
    EXPECT_EQ(mass_error(moved(type, "")),
              "x.urdf:3: joint 'j' moves no mass: link 'b' and all beyond it are massless");
  EXPECT_EQ(mass_error(moved("fixed", "")), "no error");
}

TEST(UrdfMasses, RefuseALastLinkWithoutInertiaAboutItsJoint) {
  for (const char* type : {"revolute", "continuous", "planar"})
    EXPECT_EQ(mass_error(moved(type, kRod)), "x.urdf:3: joint 'j': link 'b' has no inertia about its axis");
  EXPECT_EQ(mass_error(moved("floating", kRod)), "x.urdf:3: joint 'j': link 'b' has no inertia about some axis");
  EXPECT_EQ(mass_error(moved("prismatic", kRod)), "no error");
  EXPECT_EQ(mass_error(moved("revolute", kRod, "<axis xyz='0 1 0'/>")), "no error");
  EXPECT_EQ(mass_error(moved("revolute", kRod, "<dynamics armature='1'/>")), "no error");
}

TEST(UrdfMasses, TakeAPointMassBesideTheAxis) {
  const std::string point =
      "<inertial><origin xyz='0 0 0.5'/><mass value='1'/><inertia ixx='0' ixy='0' ixz='0' iyy='0' iyz='0' "
      "izz='0'/></inertial>";
  EXPECT_EQ(mass_error(moved("revolute", point)), "no error");
  EXPECT_EQ(mass_error(moved("revolute", point, "<axis xyz='0 0 1'/>")),
            "x.urdf:3: joint 'j': link 'b' has no inertia about its axis");
}

TEST(UrdfMasses, TakeLinksWithoutMassBetweenJoints) {
  EXPECT_EQ(mass_error(robot_of("<link name='a'/><link name='b'/><link name='c'>" + kMass +
                                "</link><joint name='i' type='revolute'>" + kEnds +
                                "</joint><joint name='j' type='revolute'><parent link='b'/><child link='c'/></joint>")),
            "no error");
}

TEST(UrdfMasses, CountWhatIsFixedToALink) {
  const std::string tool =
      robot_of("<link name='a'/><link name='b'/><link name='c'>" + kMass + "</link><joint name='i' type='revolute'>" +
               kEnds + "</joint><joint name='j' type='fixed'><parent link='b'/><child link='c'/></joint>");
  EXPECT_EQ(mass_error(tool), "no error");
}

TEST(UrdfMasses, RefuseAFloatingBaseWithoutMass) {
  const std::string text = robot_of("<link name='a'/><link name='b'>" + kMass +
                                    "</link><joint name='j' type='revolute'>" + kEnds + "</joint>");
  EXPECT_EQ(mass_error(text), "no error");
  EXPECT_EQ(mass_error(text, true), "x.urdf:2: floating base: the root link 'a' and what is fixed to it have no mass");
  EXPECT_EQ(mass_error(robot_of("<link name='a'>" + kRod + "</link>"), true),
            "x.urdf:2: floating base: link 'a' has no inertia about some axis");
}

TEST(UrdfMasses, MergeFixedLinks) {
  // Two unit masses 2 m apart on y, seen from a link turned by 90 degrees about z.
  const std::string unit =
      "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='2' iyz='0' izz='2'/></inertial>";
  const Urdf urdf = read_urdf(
      robot_of("<link name='a'>" + unit + "</link><link name='b'>" + unit + "</link><joint name='j' type='fixed'>" +
               kEnds + "<origin xyz='0 2 0' rpy='0 0 1.57079632679'/></joint>"),
      "x.urdf");
  const std::vector<UrdfBody> bodies = merge_fixed_links(urdf);
  ASSERT_EQ(bodies.size(), 1u);
  EXPECT_EQ(bodies[0].link, 0);
  EXPECT_EQ(bodies[0].mass, 2);
  EXPECT_EQ(bodies[0].com, Eigen::Vector3d(0, 1, 0));
  EXPECT_EQ(bodies[0].inertia, Eigen::Vector3d(1 + 2 + 2, 2 + 1, 2 + 2 + 2).asDiagonal().toDenseMatrix());
}

}  // namespace
}  // namespace featherstorm::test_urdf_mass
