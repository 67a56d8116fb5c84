// Readings of a world: sensors, sites and forces of contacts by the names of a file, which a URDF's tables and a few more rows stand for.
#include <gtest/gtest.h>

#include <cmath>

#include "host/load/load_urdf.h"
#include "host/simulation/simulation.h"
#include "host/world/world_of.h"
#include "tests/host/simulation/worlds.h"

namespace featherstorm::test_world_readings {
namespace {

using namespace testing;

constexpr double kWeight = 2 * 9.81;
enum Type {
  kTouch = 0,
  kAccelerometer = 1,
  kVelocimeter = 2,
  kGyro = 3,
  kForce = 4,
  kRange = 7,
  kJointVelocity = 10,
  kContact = 42
};

// A box of 2 kg with a tip at (0.3, 0, 0.1), and a site there; `more` writes further tables.
const char* const kBox =
    "<robot name='box'><link name='box'><inertial><mass value='2'/><inertia ixx='0.03' ixy='0' ixz='0' iyy='0.03' iyz='0'"
    " izz='0.03'/></inertial><collision><geometry><box size='0.2 0.2 0.2'/></geometry></collision></link></robot>";

struct SensorOf {
  Type type;
  const char* name;
  int dim;
};

Robot with_sensors(const std::vector<SensorOf>& sensors) {
  const Robot plain = load_urdf_text(kBox, "box.urdf", {.floating_base = true, .world = UrdfWorld{.ground = true}});
  auto source = std::make_shared<WorldSource>(*plain.source);
  MujocoTables& t = source->tables;
  std::vector<double> names = t.all().at("names"), at, type, dim, first, stage_of, object;
  const auto name = [&](const char* text) {
    const double begins = static_cast<double>(names.size());
    for (; *text; text++) names.push_back(*text);
    names.push_back(0);
    return begins;
  };
  t.set("nsite", {2});
  t.set("name_siteadr", {name("tip"), name("middle")});
  t.set("site_bodyid", {1, 1}), t.set("site_sameframe", {0, 0});
  t.set("site_pos", {0.3, 0, 0.1, 0, 0, -0.1}), t.set("site_quat", {1, 0, 0, 0, 1, 0, 0, 0});
  t.set("site_size", {0.01, 0.01, 0.01, 0.15, 0.15, 0.05}), t.set("site_type", {2, 6});
  double size = 0;
  for (const SensorOf& s : sensors) {
    at.push_back(name(s.name)), type.push_back(s.type), dim.push_back(s.dim), first.push_back(size);
    object.push_back(s.type == kTouch ? 1 : 0);
    size += s.dim;
  }
  const auto n = sensors.size();
  const std::vector<double> zeros(n);
  t.set("nsensor", {static_cast<double>(n)}), t.set("nsensordata", {size}), t.set("name_sensoradr", at);
  t.set("sensor_type", type), t.set("sensor_dim", dim), t.set("sensor_adr", first), t.set("sensor_objid", object);
  t.set("sensor_objtype", std::vector<double>(n, 6)), t.set("sensor_refid", std::vector<double>(n, -1));
  for (const char* other : {"sensor_datatype", "sensor_cutoff", "sensor_reftype"}) t.set(other, zeros);
  t.set("sensor_history", std::vector<double>(2 * n)), t.set("sensor_intprm", std::vector<double>(3 * n));
  if (n > 0 && sensors.back().type == kContact) {
    // of the box's subtree: found and force, the sum of all
    std::vector<double> objects(n, 6), ids = object, numbers(3 * n);
    objects.back() = 2, ids.back() = 1, numbers[3 * n - 3] = 3, numbers[3 * n - 2] = 3, numbers[3 * n - 1] = 1;
    t.set("sensor_objtype", objects), t.set("sensor_objid", ids), t.set("sensor_intprm", numbers);
  }
  t.set("names", names);
  std::vector<std::string> notices;
  return with_world(plain, source, notices);
}

const std::vector<SensorOf> kAll = {
    {kAccelerometer, "imu", 3}, {kVelocimeter, "speed", 3}, {kGyro, "gyro", 3}, {kTouch, "sole", 1}};

void place(const Simulation& s, double height, double vx, double wz) {
  for (long i = 0; i < s.instances(); i++) {
    const auto set = [&](const ArrayRef& a, long c, double x) {
      const long at = c * a.component_stride + i * a.instance_stride;
      if (a.precision == Precision::float64) static_cast<double*>(a.data)[at] = x;
      else static_cast<float*>(a.data)[at] = static_cast<float>(x);
    };
    set(s.q(), 2, height), set(s.v(), 0, vx), set(s.v(), 5, wz);
  }
}

void expect_near(const Buffer& found, const std::vector<double>& expected, double tolerance, const char* what) {
  const std::vector<double> x = numbers_of(found.ref());
  ASSERT_EQ(x.size() % expected.size(), 0u) << what;
  for (std::size_t k = 0; k < x.size(); k++) EXPECT_NEAR(x[k], expected[k % expected.size()], tolerance) << what;
}

TEST(WorldReadings, MeasureABoxAtRest) {
  const Robot robot = with_sensors(kAll);
  for (const Precision p : {Precision::float32, Precision::float64}) {
    const double tolerance = p == Precision::float32 ? 1e-3 : 1e-6;
    Evaluator e(robot, {.threads = 1});
    Simulation s(e, 3, {}, p);
    expect_near(s.sensor("imu"), {0, 0, 0}, 0, "before the first step");
    expect_near(s.contact_force("box"), {0, 0, 0}, 0, "before the first step");
    place(s, 0.1, 0, 0);
    for (int k = 0; k < 500; k++) s.step();
    expect_near(s.sensor("imu"), {0, 0, 9.81}, tolerance, "imu");
    expect_near(s.sensor("speed"), {0, 0, 0}, tolerance, "speed");
    expect_near(s.sensor("sole"), {kWeight}, kWeight * tolerance, "sole");
    expect_near(s.contact_force("box"), {0, 0, kWeight}, kWeight * tolerance, "box");
    expect_near(s.contact_force("ground"), {0, 0, -kWeight}, kWeight * tolerance, "ground");
    const std::vector<double> q = numbers_of(s.q());
    expect_near(s.site("tip"), {0.3, 0, q[2] + 0.1}, 1e-6, "tip");
  }
}

TEST(WorldReadings, MeasureMotionWhereItIsAndForcesWhereTheyWere) {
  const Robot robot = with_sensors(kAll);
  Evaluator e(robot, {.threads = 1});
  Simulation s(e, 2, {.substeps = 3}, Precision::float64);
  place(s, 5, 1, 2);
  s.step();
  // free fall: v = (1, 2 * 0.3, -g t) at the tip, which turns with the box
  const double t = 3 * 0.002, angle = 2 * t, c = std::cos(angle), n = std::sin(angle);
  Simulation none(e, 0, {}, Precision::float64);
  EXPECT_EQ(none.sensor("imu").ref().instances, 0);
  EXPECT_EQ(none.sensor("imu").ref().components, 3);
  expect_near(s.sensor("speed"), {c, 0.6 - n, -9.81 * t}, 1e-9, "speed");
  expect_near(s.sensor("gyro"), {0, 0, 2}, 1e-9, "gyro");
  expect_near(s.site("tip"), {t + 0.3 * c, 0.3 * n, 5.1 - 9.81 * 0.002 * 0.002 * 6}, 1e-9, "tip");
  // weightless but for the turning: -w^2 r
  expect_near(s.sensor("imu"), {-4 * 0.3, 0, 0}, 1e-9, "imu");
  // a second reading, and after further steps, is of those
  place(s, 5, 1, 1);
  s.step();
  expect_near(s.sensor("imu"), {-0.3, 0, 0}, 1e-9, "imu");
  s.reset({true, false});
  EXPECT_EQ(numbers_of(s.sensor("imu").ref())[0], 0);
  EXPECT_NEAR(numbers_of(s.sensor("imu").ref())[3], -0.3, 1e-9);
}

TEST(WorldReadings, ForcesOfLinksTakeContactsAlong) {
  const Robot robot = with_sensors({{kForce, "held", 3}});
  Evaluator e(robot, {.threads = 1});
  Simulation s(e, 1, {}, Precision::float64);
  place(s, 0.1, 0, 0);
  for (int k = 0; k < 500; k++) s.step();
  // nothing but the ground holds it
  expect_near(s.sensor("held"), {0, 0, 0}, 1e-5, "held");
}

TEST(WorldReadings, ContactSensorsHaveWhatTheGroundBears) {
  const Robot robot = with_sensors({{kTouch, "sole", 1}, {kContact, "ground", 4}});
  Evaluator e(robot, {.threads = 1});
  Simulation s(e, 3, {}, Precision::float64);
  place(s, 0.1, 0, 0);
  for (int k = 0; k < 500; k++) s.step();
  // four corners; the box is the sensor's first object, so that the sum is the force on the ground
  expect_near(s.sensor("ground"), {4, 0, 0, -kWeight}, kWeight * 1e-6, "ground");
  expect_near(s.sensor("sole"), {kWeight}, kWeight * 1e-6, "sole");
}

TEST(WorldReadings, TheRigidLawHasForcesToo) {
  const Robot robot = with_sensors(kAll);
  Evaluator e(robot, {.threads = 1});
  Simulation s(e, 1, {.rigid = RigidLaw<double>{}}, Precision::float64), soft(e, 1, {}, Precision::float64);
  place(s, 0.1, 6, 0), place(soft, 0.1, 6, 0);
  double highest = 0, highest_soft = 0;
  for (int k = 0; k < 100; k++) {
    s.step(), soft.step();
    highest = std::max(highest, numbers_of(s.q())[2]), highest_soft = std::max(highest_soft, numbers_of(soft.q())[2]);
  }
  EXPECT_LT(highest, 0.103);  // it begins to tip
  EXPECT_GT(highest_soft, 0.105);
  for (int k = 0; k < 1000; k++) s.step();
  expect_near(s.contact_force("box"), {0, 0, kWeight}, 1e-4, "box");
}

// Tables that range finders read.
Robot with_visible_geoms(const Robot& robot, int data) {
  auto source = std::make_shared<WorldSource>(*robot.source);
  MujocoTables& t = source->tables;
  const int n = t.integer("ngeom");
  const auto all = [n](std::initializer_list<double> row) {
    std::vector<double> rows;
    for (int i = 0; i < n; i++) rows.insert(rows.end(), row);
    return rows;
  };
  t.set("geom_matid", all({-1})), t.set("geom_rgba", all({1, 1, 1, 1})), t.set("sensor_intprm", {double(data), 0, 0});
  std::vector<std::string> notices;
  return with_world(robot, source, notices);
}

TEST(WorldReadings, RangeFindersMeasureTheGround) {
  enum { kDistance = 1, kDirection = 2, kOrigin = 4, kPoint = 8, kNormal = 16 };  // bits of mjtRayDataField
  const int data = kDistance | kDirection | kOrigin | kPoint | kNormal;
  const Robot robot = with_visible_geoms(with_sensors({{kRange, "eye", 13}}), data);
  for (const Precision p : {Precision::float32, Precision::float64}) {
    Evaluator e(robot, {.threads = 1});
    Simulation s(e, 2, {}, p);
    place(s, 5, 0, 0);
    // the tip looks up
    expect_near(s.sensor("eye"), {-1, 0, 0, 0, 0.3, 0, 5.1, 0, 0, 0, 0, 0, 0}, 1e-6, "up");
    // half a turn about x: down, past the box, which carries it
    s.reset({}, {0, 0, 5, 0, 1, 0, 0});
    expect_near(s.sensor("eye"), {4.9, 0, 0, -1, 0.3, 0, 4.9, 0.3, 0, 0, 0, 0, 1}, 1e-6, "down");
  }
}

TEST(WorldReadings, LimitsHaveDistanceRateAndForceOfTheirRow) {
  const char* const arm =
      "<robot name='arm'><link name='base'/><link name='rod'><inertial><origin xyz='0.5 0 0'/><mass value='2'/>"
      "<inertia ixx='0.1' ixy='0' ixz='0' iyy='0.1' iyz='0' izz='0.1'/></inertial></link><joint name='hinge'"
      " type='revolute'><parent link='base'/><child link='rod'/><axis xyz='0 1 0'/><limit lower='-1' upper='0.2'"
      " effort='100' velocity='10'/><dynamics damping='1'/></joint></robot>";
  const Robot plain = load_urdf_text(arm, "arm.urdf", {.floating_base = false, .world = UrdfWorld{}});
  auto source = std::make_shared<WorldSource>(*plain.source);
  MujocoTables& t = source->tables;
  t.set("nsensor", {3}), t.set("nsensordata", {3}), t.set("sensor_type", {20, 21, 22});  // jointlimitpos, vel, frc
  t.set("sensor_adr", {0, 1, 2}), t.set("sensor_dim", {1, 1, 1}), t.set("sensor_objtype", {3, 3, 3});
  for (const char* zeros : {"sensor_objid", "sensor_cutoff", "sensor_datatype", "sensor_reftype"})
    t.set(zeros, {0, 0, 0});
  t.set("sensor_refid", {-1, -1, -1}), t.set("sensor_history", std::vector<double>(6));
  t.set("sensor_intprm", std::vector<double>(9));
  std::vector<double> names = t.all().at("names"), at;
  for (const char letter : {'d', 'r', 'f'}) {
    at.push_back(static_cast<double>(names.size()));
    names.push_back(letter), names.push_back(0);
  }
  t.set("names", names), t.set("name_sensoradr", at);
  std::vector<std::string> notices;
  const Robot robot = with_world(plain, source, notices);
  ASSERT_TRUE(robot.model.world.is_given()) << (notices.empty() ? "" : notices[0]);
  Evaluator e(robot, {.threads = 1});
  Simulation s(e, 2, {}, Precision::float64);
  s.step();
  for (const char* name : {"d", "r", "f"}) expect_near(s.sensor(name), {0}, 0, "far from the limit");
  for (int k = 0; k < 5000; k++) s.step();  // it falls to its upper limit, since +y turns x downward
  const double angle = numbers_of(s.q())[0];
  EXPECT_GT(angle, 0.2);
  expect_near(s.sensor("d"), {0.2 - angle}, 1e-12, "distance");
  expect_near(s.sensor("r"), {0}, 1e-6, "rate");
  expect_near(s.sensor("f"), {2 * 9.81 * 0.5 * std::cos(angle)}, 1e-6, "force");
}

TEST(WorldReadings, ReadTheParametersOfEachInstance) {
  const Robot robot = with_sensors(kAll);
  Evaluator e(robot, {.threads = 1, .parameters = {"gravity"}});
  Simulation s(e, 2, {}, Precision::float64);
  const Buffer gravity(Precision::float64, 2, 3);
  gravity.component<double>(2)[0] = -9.81, gravity.component<double>(2)[1] = -3;
  s.parameter("gravity", gravity.ref());
  place(s, 0.1, 0, 0);
  for (int k = 0; k < 1000; k++) s.step();
  const std::vector<double> imu = numbers_of(s.sensor("imu").ref()), sole = numbers_of(s.sensor("sole").ref());
  EXPECT_NEAR(imu[2], 9.81, 1e-6);
  EXPECT_NEAR(imu[5], 3, 1e-6);
  EXPECT_NEAR(sole[0], 2 * 9.81, 1e-4);
  EXPECT_NEAR(sole[1], 6, 1e-4);
  EXPECT_EQ(message([&] { s.site("tip"); }),
            "sites, range finders and distances between shapes without a closed form are not measured in a world with "
            "parameters; gravity is one");
}

TEST(WorldReadings, NameWhatTheyDoNotHave) {
  const Robot robot = with_sensors({{kAccelerometer, "imu", 3}, {kGyro, "eye", 3}});
  Evaluator e(robot, {.threads = 1});
  Simulation s(e, 1, {}, Precision::float64);
  EXPECT_EQ(message([&] { s.sensor("nose"); }), "robot 'box' has no sensor 'nose'; there are: 'imu', 'eye'");
  EXPECT_EQ(message([&] { s.site("nose"); }), "robot 'box' has no site 'nose'; there are: 'tip', 'middle'");
  EXPECT_EQ(message([&] { s.contact_force("nose"); }), "robot 'box' has no geom or body 'nose'");
  Simulation tree(e, 1, {.dt = 0.001, .ignore = {"world"}}, Precision::float64);
  EXPECT_EQ(message([&] { tree.sensor("imu"); }), "Simulation: box has no world, or ignores it");
  const Robot pendulum = load("double_pendulum");
  Evaluator other(pendulum, {.threads = 1});
  EXPECT_EQ(message([&] { Simulation(other, 1, {.dt = 0.001, .rigid = RigidLaw<double>{}}); }),
            "Simulation: the rigid law is for the world of a model file, and step has none");
}

}  // namespace
}  // namespace featherstorm::test_world_readings
