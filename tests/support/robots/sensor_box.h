// A box with sensors, whose world is a URDF's tables and a few more rows.
#pragma once
#include <vector>

#include "host/load/load_urdf.h"
#include "host/world/world_of.h"

namespace featherstorm::testing {

enum Type { kTouch = 0, kAccelerometer = 1, kVelocimeter = 2, kGyro = 3 };  // mjtSensor

// A box of 2 kg with a tip at (0.3, 0, 0.1), and a site there; `more` writes further tables.
inline const char* const kBox =
    "<robot name='box'><link name='box'><inertial><mass value='2'/><inertia ixx='0.03' ixy='0' ixz='0' iyy='0.03' iyz='0'"
    " izz='0.03'/></inertial><collision><geometry><box size='0.2 0.2 0.2'/></geometry></collision></link></robot>";

struct SensorOf {
  Type type;
  const char* name;
  int dim;
};

inline Robot with_sensors(const std::vector<SensorOf>& sensors) {
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
  t.set("names", names);
  std::vector<std::string> notices;
  return with_world(plain, source, notices);
}

inline const std::vector<SensorOf> kAll = {
    {kAccelerometer, "imu", 3}, {kVelocimeter, "speed", 3}, {kGyro, "gyro", 3}, {kTouch, "sole", 1}};

}  // namespace featherstorm::testing
