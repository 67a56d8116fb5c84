#include "host/simulation/world_readings.h"

#include <algorithm>

#include "core/mujoco/smooth.h"
#include "core/sensor/sensors.h"
#include "host/simulation/contact_readings.h"
#include "host/world/element_name.h"

namespace featherstorm {
namespace {

// Return row i of an array, in T; zeros if the array has no data.
template <class T> std::vector<T> row_of(const ArrayRef& a, long i, int n) {
  std::vector<T> row(static_cast<std::size_t>(n));
  if (!a.data) return row;
  for (long c = 0; c < n; c++)
    row[static_cast<std::size_t>(c)] =
        static_cast<const T*>(a.data)[c * a.component_stride + (a.instances == 1 ? 0 : i) * a.instance_stride];
  return row;
}

// The state of one instance at a moment.
template <class T> struct Instance {
  Instance(const Model<T>& m, const WorldMoment& at, long i)
      : q(row_of<T>(at.q, i, m.nq)),
        v(row_of<T>(at.v, i, m.nv)),
        act(row_of<T>(at.act, i, m.world.na)),
        ctrl(row_of<T>(at.ctrl, i, m.world.nu)),
        qacc(row_of<T>(at.qacc, i, m.nv)),
        row_force(row_of<T>(at.row_force, i, rows_of(m.world.constraints))),
        links(row_of<T>(at.contact_link, i, link_numbers * m.world.n_links())),
        sensors(row_of<T>(at.contact_sensor, i, numbers_of_touch(m.world))),
        x(static_cast<std::size_t>(m.nx)),
        X(static_cast<std::size_t>(m.nb) + 1) {
    T* numbers = x.data();
    update_joints(m, q.data(), v.data(), numbers);
    body_placements(m, numbers, X);
  }
  std::vector<T> q, v, act, ctrl, qacc, row_force, links, sensors, x;
  std::vector<Placement<T>> X;
};

// Store the distances that the operation `sensors` does not compute because they need iterative algorithms, at their
// indices in sensordata.
//
// in   placed  the placement of a geom in the world
template <class T> void put_distances_by_loops(const World<T>& w, auto&& placed, T* data) {
  Reading<T, T*> out{data};
  for (const Sensor<T>& sensor : w.sensor)
    if (sensor.by_loops) put_distance(sensor, nearest_geoms<T>(w.contacts, sensor, placed), out);
}

template <class T> std::vector<T> sensordata(const Model<T>& m, const Instance<T>& s, double time) {
  const auto& w = m.world;
  std::vector<T> data(static_cast<std::size_t>(w.n_sensordata));
  Smooth<T> smooth(m, w);
  smooth_kinematics(m, w, s.q.data(), s.v.data(), smooth);
  if (reads_actuators(w)) {
    gravity_compensation(m, w, smooth.x, smooth.X, smooth.qfrc_gravcomp.data());
    actuator_stage(m, w, s.v.data(), s.act.data(), s.ctrl.data(), smooth);
  }
  const SensedTendons tendons{smooth.ten_length.data(), smooth.ten_velocity.data(), smooth.ten_J.data()};
  const SensedActuators actuators{smooth.actuator_length.data(), smooth.actuator_velocity.data(),
                                  smooth.actuator_force.data(), smooth.qfrc_actuator.data()};
  std::vector<T> open(data.size());
  const auto placed = [&](const Geom<T>& geom) { return geom_placement<T>(s.X, geom); };
  put_distances_by_loops<T>(w, placed, open.data());
  sensors(m, w, smooth.x, smooth.X, SensedMotion{s.q.data(), s.v.data(), s.qacc.data(), T(time)}, tendons, actuators,
          SensedForces{Zeros<T>{}, s.row_force.data(), s.links.data(), s.sensors.data(), open.data()}, data.data());
  return data;
}

template <class T> std::vector<T> ranges(const RangeFinder& f, const RayScene& scene, const Model<T>& m,
                                         const Sensor<double>& sensor, const Instance<T>& s) {
  std::vector<double> position, rotation, data(static_cast<std::size_t>(f.count));
  for (const Geom<T>& geom : m.world.contacts.geom) {
    const Placement<double> X = cast<double>(in_world<T>(s.X, geom.place));
    for (int k = 0; k < 3; k++) position.push_back(X.r(k));
    for (int k = 0; k < 9; k++) rotation.push_back(X.R(k / 3, k % 3));
  }
  measure(f, scene, {position.data(), rotation.data()}, cast<double>(in_world<T>(s.X, cast<T>(sensor.place))),
          data.data());
  return {data.begin(), data.end()};
}

// Return the first `count` numbers of f(instance) for all instances, (B, count).
template <class T> Buffer for_each_instance(const Robot& robot, const WorldMoment& at, int count, const auto& f) {
  const Model<T> m = cast<T>(robot.model);
  const Buffer out(at.q.precision, at.q.instances, count);
  for (long i = 0; i < at.q.instances; i++) {
    const std::vector<T> found = f(m, Instance<T>(m, at, i));
    for (long c = 0; c < count; c++) out.component<T>(c)[i] = found[static_cast<std::size_t>(c)];
  }
  return out;
}
Buffer in_its_precision(const Robot& robot, const WorldMoment& at, int count, const auto& f) {
  if (at.q.device != on_host) throw Error("readings of a world exist only on the host");
  return at.q.precision == Precision::float32 ? for_each_instance<float>(robot, at, count, f)
                                              : for_each_instance<double>(robot, at, count, f);
}

// Return the reason why a sensor cannot be measured, or an empty text.
std::string missing(const World<double>& w, const Sensor<double>& s) {
  if (s.kind != SensorKind::Force && s.kind != SensorKind::Torque) return {};
  for (const auto& t : w.tendon)
    if (t.spatial) return "forces of spatial tendons on bodies are not included";
  return {};
}

}  // namespace

void measure_distances(const Robot& robot, long n, const double* position, const double* rotation, const double* size,
                       double* data) {
  World<double> w = robot.model.world;
  auto& geoms = w.contacts.geom;
  const auto of = [&](const Geom<double>& geom) { return static_cast<std::size_t>(&geom - geoms.data()); };
  for (long i = 0; i < n; i++) {
    const auto first = static_cast<std::size_t>(i) * geoms.size();
    for (std::size_t g = 0; size != nullptr && g < geoms.size(); g++)
      for (std::size_t k = 0; k < 3; k++) geoms[g].size(static_cast<int>(k)) = size[3 * (first + g) + k];
    const auto placed = [&](const Geom<double>& geom) {
      const double *r = position + 3 * (first + of(geom)), *R = rotation + 9 * (first + of(geom));
      return Placement<double>{rows<double>(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]), {r[0], r[1], r[2]}};
    };
    put_distances_by_loops<double>(w, placed, data + i * w.n_sensordata);
  }
}

std::vector<std::pair<std::string, int>> moment_arrays(const Robot& robot, const std::set<std::string>& selections) {
  const Model<double>& m = robot.model;
  std::vector<std::pair<std::string, int>> all = {{"q", m.nq},         {"v", m.nv},
                                                  {"act", m.world.na}, {"ctrl", m.world.nu},
                                                  {"qacc", m.nv},      {"row_force", rows_of(m.world.constraints)}};
  std::set<std::string> names = selections;
  names.insert({"contact_link", "contact_sensor"});
  for (const auto& array : asked_readings(robot, names).arrays) all.push_back(array);
  return all;
}

WorldReadings::WorldReadings(const Robot& robot) : robot_(robot) {
  const auto& all = robot.model.world.sensor;
  const auto casts = [](const auto& s) { return s.kind == SensorKind::RangeFinder; };
  if (!robot.source || std::none_of(all.begin(), all.end(), casts)) return;
  finders_ = range_finders(robot.source->tables);
  scene_.emplace(robot.source->tables);
}

const MujocoTables& WorldReadings::tables() const {
  if (!robot_.source)
    throw Error("robot '" + robot_.name + "' has a world without names, expected one that was read from a file");
  return robot_.source->tables;
}

// Return the number of an element; -1 for an unknown name that is not required.
int WorldReadings::number_of(const std::string& kind, const std::string& count, const std::string& addresses,
                             const std::string& name, bool required) const {
  const MujocoTables& t = tables();
  const std::string wanted = kind + " '" + name + "'";
  std::string known;
  for (int i = 0; t.has(count) && i < t.integer(count); i++) {
    const std::string found = element_name(t, kind.c_str(), addresses.c_str(), i);
    if (found == wanted) return i;
    known += (known.empty() ? "" : ", ") + found.substr(kind.size() + 1);
  }
  if (!required) return -1;
  throw Error("robot '" + robot_.name + "' has no " + wanted + "; there are: " + (known.empty() ? "none" : known));
}

int WorldReadings::sensor(const std::string& name) const {
  const int k = number_of("sensor", "nsensor", "name_sensoradr", name);
  const auto& all = robot_.model.world.sensor;
  if (k >= static_cast<int>(all.size()))
    throw Error("sensor '" + name + "' is not measured: the file turns sensors off");
  if (const std::string why = missing(robot_.model.world, all[static_cast<std::size_t>(k)]); !why.empty())
    throw Error("sensor '" + name + "' is not measured: " + why);
  return k;
}

int WorldReadings::site(const std::string& name) const { return number_of("site", "nsite", "name_siteadr", name); }

WorldReadings::Touched WorldReadings::touched(const std::string& name) const {
  const int geom = number_of("geom", "ngeom", "name_geomadr", name, false);
  if (geom >= 0) return {false, geom};
  const int body = number_of("body", "nbody", "name_bodyadr", name, false);
  if (body >= 0) return {true, body};
  throw Error("robot '" + robot_.name + "' has no geom or body '" + name + "'");
}

bool WorldReadings::is_at_solve(int sensor) const {
  switch (const auto& s = robot_.model.world.sensor.at(static_cast<std::size_t>(sensor)); s.kind) {
    case SensorKind::Touch:
    case SensorKind::JointLimitForce:
    case SensorKind::TendonLimitForce:
    case SensorKind::ActuatorForce:
    case SensorKind::JointActuatorForce:
    case SensorKind::TendonActuatorForce: return true;
    default: return reads_accelerations(s.kind);
  }
}

Buffer WorldReadings::measure(int sensor, const WorldMoment& at) const {
  const auto& s = robot_.model.world.sensor.at(static_cast<std::size_t>(sensor));
  if (s.kind == SensorKind::RangeFinder) {
    const auto f =
        std::find_if(finders_.begin(), finders_.end(), [&](const RangeFinder& x) { return x.first == s.first; });
    return in_its_precision(robot_, at, s.count, [&]<class T>(const Model<T>& m, const Instance<T>& instance) {
      return ranges(*f, *scene_, m, s, instance);
    });
  }
  return in_its_precision(robot_, at, s.count, [&](const auto& m, const auto& instance) {
    const auto data = sensordata(m, instance, at.time);
    return std::vector(data.begin() + s.first, data.begin() + s.first + s.count);
  });
}

Buffer WorldReadings::place(int site, const WorldMoment& at) const {
  const WorldTables<double> t(tables());
  const Frame<double> frame =
      Places<double>(robot_, t, robot_.source->link_names, robot_.source->joint_names).site(site);
  return in_its_precision(robot_, at, 3, [&]<class T>(const Model<T>&, const Instance<T>& s) {
    const Vec3<T> r = (s.X[static_cast<std::size_t>(frame.body)] * cast<T>(frame.X)).r;
    return std::vector<T>{r[0], r[1], r[2]};
  });
}

std::string WorldReadings::array_of(Touched what) {
  return (what.body ? "contact_on_body" : "contact_on_geom") + std::to_string(what.number);
}

}  // namespace featherstorm
