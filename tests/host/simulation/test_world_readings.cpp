// Readings of a world: sensors, sites and forces of contacts by the names of a file, which a URDF's tables and a few more rows stand for.
// tests/python/world/test_world_faces.py compares readings of all kinds with MuJoCo's.
#include <gtest/gtest.h>

#include <cmath>

#include "host/simulation/simulation.h"
#include "tests/support/robots/sensor_box.h"
#include "tests/support/robots/worlds.h"

namespace featherstorm::test_world_readings {
namespace {

using namespace testing;

constexpr double kWeight = 2 * 9.81;
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
  const auto measured = [&](const char* input, bool uniform, int outputs, bool at_solve) {
    Program p;
    const std::vector<Expr> x = p.input(input, 1, uniform);
    Tracing scope(p.graph);
    for (int k = 0; k < outputs; k++) p.output("found" + std::to_string(k), x);
    return message([&] { s.measure(WorldReading(e, Precision::float64, p, at_solve)); });
  };
  EXPECT_EQ(measured("row_force", false, 1, false),
            "a reading of the state has the input row_force, which is not there");
  EXPECT_EQ(measured("wind", false, 1, true), "a reading of the last substep has the input wind, which is not there");
  EXPECT_EQ(measured("p", true, 1, false), "a reading has the uniform input p, expected t alone");
  EXPECT_EQ(measured("q", false, 2, false), "a reading has 2 outputs, expected 1");
  EXPECT_NE(measured("q", false, 1, false), "no error");  // of 7 numbers
  EXPECT_EQ(measured("t", true, 1, false), "no error");
  Simulation tree(e, 1, {.dt = 0.001, .ignore = {"world"}}, Precision::float64);
  EXPECT_EQ(message([&] { tree.sensor("imu"); }), "Simulation: box has no world, or ignores it");
  const Robot pendulum = load("double_pendulum");
  Evaluator other(pendulum, {.threads = 1});
  EXPECT_EQ(message([&] { Simulation(other, 1, {.dt = 0.001, .rigid = RigidLaw<double>{}}); }),
            "Simulation: the rigid law is for the world of a model file, and step has none");
}

}  // namespace
}  // namespace featherstorm::test_world_readings
