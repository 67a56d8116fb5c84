// The world of a URDF's robot, written by the loader. That it is MuJoCo's of the same file: tests/python/world/test_urdf_world.py.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "host/load/load.h"
#include "host/robots/robots.h"
#include "host/system/error.h"
#include "host/urdf/mesh_file.h"
#include "host/world/world_of.h"
#include "tests/support/tools/message.h"

namespace featherstorm::test_urdf_world {
namespace {

const std::string kMass =
    "<inertial><mass value='2'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>";

std::string shape(const std::string& geometry, const std::string& more = "", const std::string& attributes = "") {
  return "<collision" + attributes + ">" + more + "<geometry>" + geometry + "</geometry></collision>";
}
// A base, an arm that turns about y, and a hand that is fixed to it.
std::string arm(const std::string& base, const std::string& upper, const std::string& hand,
                const std::string& joint = "<limit lower='-1' upper='2' effort='3' velocity='1'/>") {
  return "<robot name='arm'><link name='base'>" + kMass + base + "</link><link name='upper'>" + kMass + upper +
         "</link><link name='hand'>" + hand +
         "</link><joint name='elbow' type='revolute'><parent link='base'/><child link='upper'/><origin xyz='0 0 1'/>"
         "<axis xyz='0 1 0'/>" +
         joint +
         "<dynamics damping='0.5' friction='0.25'/></joint><joint name='wrist' type='fixed'><parent link='upper'/>"
         "<child link='hand'/><origin xyz='1 0 0'/></joint></robot>";
}
Robot with_world(const std::string& text, const UrdfWorld& world = {.ground = true}, bool floating = false,
                 bool strict = false) {
  return load_urdf_text(text, "arm.urdf", {.floating_base = floating, .strict = strict, .world = world});
}
std::string error_of(const std::string& text, const UrdfWorld& world = {.ground = true}) {
  return testing::message([&] { with_world(text, world, false, true); });
}
std::vector<double> table(const Robot& robot, const std::string& name) { return robot.source->tables.all().at(name); }

const std::string kSphere = "<sphere radius='0.1'/>", kBox = "<box size='0.2 0.4 0.6'/>";

TEST(UrdfWorld, HasGeomsOfAllShapesWhereTheirLinksAre) {
  const Robot robot = with_world(
      arm(shape(kBox), shape("<cylinder radius='0.1' length='0.5'/>") + shape("<capsule radius='0.2' length='1'/>"),
          shape(kSphere, "<origin xyz='0 0.5 0'/>")));
  const auto& geom = robot.model.world.contacts.geom;
  ASSERT_EQ(geom.size(), 5u);
  const GeomType types[] = {GeomType::Plane, GeomType::Box, GeomType::Cylinder, GeomType::Capsule, GeomType::Sphere};
  const double sizes[][3] = {{0, 0, 1}, {0.1, 0.2, 0.3}, {0.1, 0.25, 0}, {0.2, 0.5, 0}, {0.1, 0, 0}};
  for (std::size_t g = 0; g < 5; g++) {
    EXPECT_EQ(geom[g].type, types[g]) << g;
    EXPECT_EQ(geom[g].place.body, g < 2 ? 0 : 1) << g;
    for (int k = 0; k < 3; k++) EXPECT_NEAR(geom[g].size[k], sizes[g][k], 1e-15) << g;
  }
  // the base is fixed to the world: its box is the world's, and may touch the arm
  EXPECT_EQ(table(robot, "geom_bodyid"), (std::vector<double>{0, 0, 1, 1, 1}));
  EXPECT_EQ(table(robot, "geom_pos"), (std::vector<double>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0.5, 0}));
  EXPECT_EQ(robot.model.world.contacts.pair.size(), 6u);
}

TEST(UrdfWorld, HasLimitsFrictionAndMotorsOfJoints) {
  const Robot robot = with_world(arm("", "", ""), {.motors = true, .timestep = 0.004});
  const auto& w = robot.model.world;
  EXPECT_EQ(w.timestep, 0.004);
  ASSERT_EQ(w.constraints.limit.size(), 1u);
  EXPECT_EQ(w.constraints.limit[0].lower, -1);
  EXPECT_EQ(w.constraints.limit[0].upper, 2);
  ASSERT_EQ(w.constraints.friction.size(), 1u);
  EXPECT_EQ(w.nu, 1);
  EXPECT_TRUE(w.control[0].limited);
  EXPECT_EQ(w.control[0].upper, 3);
  EXPECT_EQ(table(robot, "dof_damping"), std::vector<double>{0.5});
  // about y at 0: the arm's own inertia, M = 1; J^T J / 3 of two translations of its centre of mass, at the joint, and one turn
  EXPECT_NEAR(table(robot, "dof_invweight0")[0], 1, 1e-12);
  EXPECT_NEAR(table(robot, "body_invweight0")[2], 0, 1e-12);
  EXPECT_NEAR(table(robot, "body_invweight0")[3], 1.0 / 3, 1e-12);
  // a range of one point is no limit
  EXPECT_TRUE(with_world(arm("", "", "", "<limit lower='0' upper='0'/>")).model.world.constraints.limit.empty());
  EXPECT_EQ(with_world(arm("", "", "")).model.world.nu, 0);
}

TEST(UrdfWorld, HoldsMimicJointsByEqualities) {
  const std::string panda = robot_file("panda").string();
  const Robot robot = load(panda, {.world = UrdfWorld{.motors = true}});
  ASSERT_EQ(robot.model.world.constraints.equality.size(), 1u);
  EXPECT_EQ(robot.model.coupling.nu, 0);
  EXPECT_EQ(robot.model.world.nu, 8);  // of nine joints one mimics another
  EXPECT_TRUE(robot.notices.empty() || robot.notices[0].find("mimics") == std::string::npos);
}

TEST(UrdfWorld, NamesGeomsByTheirLinks) {
  const Robot robot = with_world(arm(shape(kBox) + shape(kBox), shape(kSphere, "", " name='tip'"), shape(kSphere)));
  const std::vector<double> codes = table(robot, "names");
  std::vector<std::string> names;
  for (const double at : table(robot, "name_geomadr")) {
    names.emplace_back();
    for (auto k = static_cast<std::size_t>(at); codes[k] != 0; k++) names.back() += static_cast<char>(codes[k]);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"ground", "base", "base_2", "tip", "hand"}));
}

// A tetrahedron, whatever the file says.
MeshHull tetrahedron(const std::filesystem::path&, const Vec3d& scale) {
  const double s = std::sqrt(1 / 3.0);
  MeshHull h;
  h.corner = {{0, 0, 0}, {scale[0], 0, 0}, {0, scale[1], 0}, {0, 0, scale[2]}};
  h.polygon = {{{0, 0, -1}, {0, 2, 1}}, {{0, -1, 0}, {0, 1, 3}}, {{-1, 0, 0}, {0, 3, 2}}, {{s, s, s}, {1, 2, 3}}};
  h.X.r = {0, 0, 0.5};
  return h;
}

class UrdfMeshes : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("featherstorm_meshes_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder / "arm_description/meshes");
    std::ofstream(folder / "arm_description/meshes/hand.stl") << "solid";
    std::ofstream(folder / "beside.stl") << "solid";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
};

TEST_F(UrdfMeshes, AreFoundAsTheirNamesSay) {
  const std::filesystem::path urdf = folder / "arm_description/urdf/arm.urdf",
                              hand = folder / "arm_description/meshes/hand.stl";
  const auto found = [&](const std::string& name, std::vector<std::filesystem::path> packages = {},
                         const std::filesystem::path& file = {}) {
    return mesh_file(name, file.empty() ? urdf : file, packages);
  };
  EXPECT_EQ(found("package://arm_description/meshes/hand.stl"), hand);
  EXPECT_EQ(found("model://arm_description/meshes/hand.stl"), hand);
  EXPECT_EQ(found("../meshes/hand.stl"), hand);
  EXPECT_EQ(found("file://" + hand.string()), hand);
  EXPECT_EQ(found(hand.string()), hand);
  const std::filesystem::path far = "/nowhere/arm.urdf";
  EXPECT_EQ(found("package://arm_description/meshes/hand.stl", {}, far), "");
  EXPECT_EQ(found("package://arm_description/meshes/hand.stl", {folder}, far), hand);
  EXPECT_EQ(found("package://arm_description/meshes/hand.stl", {folder / "arm_description"}, far), hand);
  // where MuJoCo looks
  EXPECT_EQ(found("package://other/deep/beside.stl", {}, folder / "arm.urdf"), folder / "beside.stl");
  EXPECT_EQ(found("package://arm_description/meshes/none.stl"), "");
  EXPECT_EQ(found("package://arm_description"), "");
}

TEST_F(UrdfMeshes, TouchByTheHullsOfTheirReader) {
  const std::string mesh = "<mesh filename='" + (folder / "beside.stl").string() + "' scale='1 2 3'/>";
  const std::string text = arm("", shape(mesh, "<origin xyz='1 0 0'/>") + shape(mesh), "");
  const Robot robot = with_world(text, {.ground = true, .hull = tetrahedron});
  const auto& c = robot.model.world.contacts;
  ASSERT_EQ(c.hull.size(), 1u);  // the same for both
  EXPECT_EQ(c.hull[0].corner.size(), 4u);
  EXPECT_EQ(c.hull[0].corner[3].r[2], 3);
  ASSERT_EQ(c.pair.size(), 2u);
  EXPECT_EQ(table(robot, "geom_pos"), (std::vector<double>{0, 0, 0, 1, 0, 0.5, 0, 0, 0.5}));
}

TEST_F(UrdfMeshes, ThatCannotBeHadAreSaidByName) {
  const std::string missing = arm("", shape("<mesh filename='none.stl'/>"), ""),
                    there = arm("", shape("<mesh filename='" + (folder / "beside.stl").string() + "'/>"), "");
  const UrdfWorld no_reader{.ground = true};
  const Robot robot = with_world(missing);
  EXPECT_EQ(robot.notices,
            std::vector<std::string>{"link 'upper': mesh 'none.stl' touches nothing: there is no such file"});
  EXPECT_EQ(robot.odd, robot.notices);
  EXPECT_TRUE(robot.model.world.contacts.pair.empty());
  EXPECT_NE(
      with_world(there, no_reader).notices.at(0).find("touches nothing: meshes have no contacts without a reader"),
      std::string::npos);
  EXPECT_EQ(error_of(missing), "arm.urdf:1: link 'upper': mesh 'none.stl' touches nothing: there is no such file");
  const UrdfWorld fails{.hull = [](const auto&, const auto&) -> MeshHull { throw Error("it is no mesh"); }};
  EXPECT_NE(error_of(there, fails).find("touches nothing: it is no mesh"), std::string::npos);
}

TEST(UrdfWorld, NamesWhatItCannotHave) {
  EXPECT_EQ(error_of(arm("", "", ""), {.timestep = 0}), "timestep is 0.000000, expected a positive number of seconds");
  const std::string planar = "<robot name='r'><link name='a'>" + kMass + "</link><link name='b'>" + kMass +
                             "</link><joint name='j' type='planar'><parent link='a'/><child link='b'/></joint></robot>";
  EXPECT_EQ(error_of(planar), "arm.urdf:1: joint 'j': a world has no planar joints");
  const auto odd = [&](const std::string& geometry) {
    const Robot robot = with_world(arm("", shape(geometry), ""));
    EXPECT_EQ(robot.model.world.contacts.geom.size(), 1u);  // the ground
    return robot.odd.empty() ? "" : robot.odd[0];
  };
  EXPECT_EQ(odd("<sphere radius='0'/>"), "link 'upper': <sphere> has a size that is not positive; left out");
  EXPECT_EQ(odd("<cone radius='1'/>"),
            "link 'upper': <geometry> has no box, cylinder, sphere, capsule or mesh; left out");
  EXPECT_EQ(odd("<mesh filename='a.stl' scale='1 0 1'/>"), "link 'upper': <mesh> has a scale of 0; left out");
  EXPECT_EQ(error_of(arm("", shape("<box size='1 1'/>"), "")),
            "arm.urdf:1: link 'upper': <box> size: '1 1' holds 2 numbers, expected 3");
  EXPECT_EQ(error_of(arm("", "<collision/>", "")), "arm.urdf:1: link 'upper': <collision> has no <geometry>");
}

}  // namespace
}  // namespace featherstorm::test_urdf_world
