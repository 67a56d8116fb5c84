#include "host/simulation/world_readings.h"

#include <algorithm>

#include "core/kinematics/kinematics.h"
#include "core/sensor/frames.h"
#include "core/sensor/geom_distances.h"
#include "host/simulation/contact_readings.h"
#include "host/trace/trace_op.h"
#include "host/world/element_name.h"

namespace featherstorm {
namespace {

// Placements of the bodies.
template <class T> std::vector<Placement<T>> placements(const Model<T>& m, const std::vector<T>& q) {
  std::vector<T> x(static_cast<std::size_t>(m.nx));
  std::vector<Placement<T>> X(static_cast<std::size_t>(m.nb) + 1);
  T* numbers = x.data();
  update_joints(m, q.data(), Zeros<T>{}, numbers);
  body_placements(m, numbers, X);
  return X;
}

// Store the distances that the operation `sensors` does not compute because they need iterative algorithms, at their
// indices in sensordata.
//
// in   placed  the placement of a geom in the world
template <class T> void put_distances_by_loops(const World<T>& w, auto&& placed, T* data) {
  Reading<T, T*> out{data};
  for (const Sensor<T>& sensor : w.sensor)
    if (sensor.by_loops) put_distance(sensor, nearest_geoms<T>(w.contacts, sensor, placed), out);
}

template <class T> std::vector<T> ranges(const RangeFinder& f, const RayScene& scene, const Model<T>& m,
                                         const Sensor<double>& sensor, const std::vector<Placement<T>>& X) {
  std::vector<double> position, rotation, data(static_cast<std::size_t>(f.count));
  for (const Geom<T>& geom : m.world.contacts.geom) {
    const Placement<double> at = cast<double>(in_world<T>(X, geom.place));
    for (int k = 0; k < 3; k++) position.push_back(at.r(k));
    for (int k = 0; k < 9; k++) rotation.push_back(at.R(k / 3, k % 3));
  }
  measure(f, scene, {position.data(), rotation.data()}, cast<double>(in_world<T>(X, cast<T>(sensor.place))),
          data.data());
  return {data.begin(), data.end()};
}

// Return numbers of f(model, placements of the bodies) for all instances, (B, count), from number `first` on.
template <class T>
Buffer for_each_instance(const Robot& robot, const ArrayRef& q, int first, int count, const auto& f) {
  const Model<T> m = cast<T>(robot.model);
  const Buffer out(q.precision, q.instances, count);
  std::vector<T> own(static_cast<std::size_t>(m.nq));
  for (long i = 0; i < q.instances; i++) {
    for (long c = 0; c < m.nq; c++)
      own[static_cast<std::size_t>(c)] = static_cast<const T*>(q.data)[c * q.component_stride + i * q.instance_stride];
    const std::vector<T> found = f(m, placements(m, own));
    for (long c = 0; c < count; c++) out.component<T>(c)[i] = found[static_cast<std::size_t>(first + c)];
  }
  return out;
}
Buffer in_its_precision(const Robot& robot, const ArrayRef& q, int first, int count, const auto& f) {
  return q.precision == Precision::float32 ? for_each_instance<float>(robot, q, first, count, f)
                                           : for_each_instance<double>(robot, q, first, count, f);
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

std::vector<std::pair<std::string, int>> moment_arrays(const Robot& robot, const std::set<std::string>& contacts) {
  const Model<double>& m = robot.model;
  std::vector<std::pair<std::string, int>> all = {{"q", m.nq},         {"v", m.nv},
                                                  {"act", m.world.na}, {"ctrl", m.world.nu},
                                                  {"qacc", m.nv},      {"row_force", rows_of(m.world.constraints)}};
  for (const auto& array : asked_readings(robot, contacts).arrays) all.push_back(array);
  return all;
}

WorldReading::WorldReading(const Evaluator& e, Precision precision, const Program& program, bool at_solve)
    : sequence_(sequence_of(e, precision, program)), precision_(precision), at_solve_(at_solve) {
  if (program.outputs.size() != 1)
    throw Error("a reading has " + std::to_string(program.outputs.size()) + " outputs, expected 1");
  out_ = program.outputs[0].name, size_ = program.outputs[0].size;
  for (const Program::Array& a : program.inputs) {
    if (a.uniform && a.name != "t") throw Error("a reading has the uniform input " + a.name + ", expected t alone");
    if (a.uniform) timed_ = true;
    else in_.push_back(a.name);
    if (is_contact_reading(a.name)) contacts_.insert(a.name);
  }
}

Buffer WorldReading::measure(const WorldMoment& at, long instances, int device, void* stream) const {
  std::vector<SequenceMemory> in;
  for (const std::string& name : in_) {
    const auto found = at.arrays.find(name);
    if (found == at.arrays.end())
      throw Error("a reading " + std::string(at_solve_ ? "of the last substep" : "of the state") + " has the input " +
                  name + ", which is not there");
    in.push_back({name, found->second});
  }
  std::vector<UniformValues> time;
  if (timed_) time.push_back({"t", {at.time}});
  Buffer found(precision_, instances, size_, device, stream);
  sequence_.run(1, instances, in, time, {{out_, found.ref()}}, nullptr, stream);
  return found;
}

WorldReadings::WorldReadings(Evaluator& evaluator) : evaluator_(evaluator), robot_(evaluator.robot()) {
  const Robot& robot = robot_;
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

bool WorldReadings::is_apart(int sensor) const {
  const auto& s = robot_.model.world.sensor.at(static_cast<std::size_t>(sensor));
  return s.kind == SensorKind::RangeFinder || s.by_loops;
}

void WorldReadings::refuse_parameters() const {
  if (!evaluator_.parameters().empty())
    throw Error(
        "sites, range finders and distances between shapes without a closed form are not measured in a world "
        "with parameters; " +
        evaluator_.parameters().front() + " is one");
}

Buffer WorldReadings::measure_apart(int sensor, const ArrayRef& q) const {
  refuse_parameters();
  const World<double>& w = robot_.model.world;
  const auto& s = w.sensor.at(static_cast<std::size_t>(sensor));
  if (s.kind == SensorKind::RangeFinder) {
    const auto f =
        std::find_if(finders_.begin(), finders_.end(), [&](const RangeFinder& x) { return x.first == s.first; });
    return in_its_precision(robot_, q, 0, s.count,
                            [&]<class T>(const Model<T>& m, const auto& X) { return ranges(*f, *scene_, m, s, X); });
  }
  return in_its_precision(robot_, q, s.first, s.count, [&]<class T>(const Model<T>& m, const auto& X) {
    std::vector<T> data(static_cast<std::size_t>(w.n_sensordata));
    put_distances_by_loops<T>(m.world, [&](const Geom<T>& geom) { return geom_placement<T>(X, geom); }, data.data());
    return data;
  });
}

// The operation `sensors` with its optional inputs; only the numbers of one sensor are an output.
Program WorldReadings::sensor_program(int sensor) const {
  const auto& s = robot_.model.world.sensor.at(static_cast<std::size_t>(sensor));
  const OpRow& row = evaluator_.op(evaluator_.op("sensors").given);
  const Parameters parameters(robot_, evaluator_.parameters());
  const std::set<std::string> absent = is_at_solve(sensor) ? std::set<std::string>{"xfrc_applied"}
                                                           : std::set<std::string>{"xfrc_applied", "qacc", "row_force",
                                                                                   "contact_link", "contact_sensor"};
  Program p;
  std::vector<std::vector<Expr>> in, values;
  for (std::size_t k = 0; k + parameters.arrays().size() < row.in.size(); k++) {
    const std::string name = row.in[k].name == "a" ? "qacc" : std::string(row.in[k].name);
    const int n = row.in[k].components;
    in.push_back(n == 0 || absent.contains(name) ? std::vector<Expr>(static_cast<std::size_t>(n))
                                                 : p.input(name, n, name == "t"));
  }
  for (const Parameters::Array& a : parameters.arrays()) values.push_back(p.input(std::string(a.name), a.components));
  Tracing scope(p.graph);
  const int op = op_index(row.name);
  const std::vector<Expr> data = record_op(op, model_of_row(op, robot_.model, parameters, values), 0, 0, in)[0];
  p.output("found", {data.begin() + s.first, data.begin() + s.first + s.count});
  return p;
}

Program WorldReadings::site_program(int site) const {
  refuse_parameters();
  const WorldTables<double> t(tables());
  const Frame<double> frame =
      Places<double>(robot_, t, robot_.source->link_names, robot_.source->joint_names).site(site);
  Program p;
  const std::vector<Expr> q = p.input("q", robot_.model.nq);
  Tracing scope(p.graph);
  const auto X = placements(cast<Expr>(robot_.model), q);
  const Vec3<Expr> r = (X[static_cast<std::size_t>(frame.body)] * cast<Expr>(frame.X)).r;
  p.output("found", {r[0], r[1], r[2]});
  return p;
}

Program WorldReadings::force_program(Touched what) const {
  Program p;
  const std::string array = (what.body ? "contact_on_body" : "contact_on_geom") + std::to_string(what.number);
  const std::vector<Expr> sum = p.input(array, selection_numbers);
  Tracing scope(p.graph);
  p.output("found", {sum[0], sum[1], sum[2]});
  return p;
}

}  // namespace featherstorm
