// Reads the sensors of a compiled MuJoCo model.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "core/sensor/geom_distances.h"
#include "core/trace/expr.h"
#include "host/world/element_name.h"
#include "host/world/world_of.h"

namespace featherstorm {
namespace {

// By mjtSensor: the element's name in the file, and the kind if supported. The values of touch and contact sensors are
// computed from contacts (core/sensor/contact_readings.h).
struct SensorName {
  const char* name;
  std::optional<SensorKind> kind;
};
using enum SensorKind;
const SensorName sensor_names[] = {{"touch", Touch},
                                   {"accelerometer", Accelerometer},
                                   {"velocimeter", Velocimeter},
                                   {"gyro", Gyro},
                                   {"force", Force},
                                   {"torque", Torque},
                                   {"magnetometer", Magnetometer},
                                   {"rangefinder", RangeFinder},
                                   {"camprojection", CameraProjection},
                                   {"jointpos", JointPosition},
                                   {"jointvel", JointVelocity},
                                   {"tendonpos", TendonPosition},
                                   {"tendonvel", TendonVelocity},
                                   {"actuatorpos", ActuatorPosition},
                                   {"actuatorvel", ActuatorVelocity},
                                   {"actuatorfrc", ActuatorForce},
                                   {"jointactuatorfrc", JointActuatorForce},
                                   {"tendonactuatorfrc", TendonActuatorForce},
                                   {"ballquat", BallQuaternion},
                                   {"ballangvel", BallAngularVelocity},
                                   {"jointlimitpos", JointLimitPosition},
                                   {"jointlimitvel", JointLimitVelocity},
                                   {"jointlimitfrc", JointLimitForce},
                                   {"tendonlimitpos", TendonLimitPosition},
                                   {"tendonlimitvel", TendonLimitVelocity},
                                   {"tendonlimitfrc", TendonLimitForce},
                                   {"framepos", FramePosition},
                                   {"framequat", FrameQuaternion},
                                   {"framexaxis", FrameX},
                                   {"frameyaxis", FrameY},
                                   {"framezaxis", FrameZ},
                                   {"framelinvel", FrameLinearVelocity},
                                   {"frameangvel", FrameAngularVelocity},
                                   {"framelinacc", FrameLinearAcceleration},
                                   {"frameangacc", FrameAngularAcceleration},
                                   {"subtreecom", SubtreeCentre},
                                   {"subtreelinvel", SubtreeLinearVelocity},
                                   {"subtreeangmom", SubtreeAngularMomentum},
                                   {"insidesite", InsideSite},
                                   {"distance", GeomDistance},
                                   {"normal", GeomNormal},
                                   {"fromto", GeomFromTo},
                                   {"contact", Touch},
                                   {"e_potential", PotentialEnergy},
                                   {"e_kinetic", KineticEnergy},
                                   {"clock", Clock},
                                   {"tactile", {}},
                                   {"plugin", {}},
                                   {"user", User}};

constexpr int contact_sensor = 42;                                               // mjtSensor
enum { body_object = 1, xbody = 2, joint = 3, geom = 5, site = 6, camera = 7 };  // mjtObj
enum { from_real = 0, from_positive = 1 };                                       // mjtDataType

template <class T> Quaternion<T> quaternion(const std::vector<T>& q) {
  return normalised(Quaternion<T>{q[0], q[1], q[2], q[3]});
}

// Reads one sensor of the model.
template <class T> class Reader {
 public:
  Reader(const WorldTables<T>& tables, const Places<T>& places, const std::vector<Geom<T>>& geom, int sensor)
      : t_(tables), places_(places), geom_(geom), i_(sensor) {}

  Sensor<T> read() const {
    const int type = t_.integer("sensor_type", i_);
    if (type < 0 || type >= static_cast<int>(std::size(sensor_names)))
      refuse("sensors of type " + std::to_string(type) + " are");
    const SensorName& known = sensor_names[type];
    if (!known.kind) refuse(std::string("sensors '") + known.name + "' are");
    if (*known.kind == InsideSite && t_.row("sensor_intprm", i_, 3)[0] != 0) refuse("enclosed sites are");

    Sensor<T> s;
    s.place.X = s.reference.X = identity_placement<T>();
    s.kind = *known.kind;
    s.first = t_.integer("sensor_adr", i_), s.count = t_.integer("sensor_dim", i_);
    const int data = t_.integer("sensor_datatype", i_);
    s.cutoff = t_.real("sensor_cutoff", i_);
    s.limited = t_.nominal("sensor_cutoff", i_) > 0 && (data == from_real || data == from_positive);
    s.positive = data == from_positive;
    if (type == contact_sensor) {
      s.limited = false;
      if (t_.integer("sensor_objtype", i_) == site) set_object(s, site, t_.integer("sensor_objid", i_));
      return s;
    }
    const int reference = t_.integer("sensor_refid", i_);
    if (measures_distances(s.kind)) {
      set_geoms(s);
      return s;
    }
    set_object(s, t_.integer("sensor_objtype", i_), t_.integer("sensor_objid", i_));
    if (reference >= 0 && s.kind != InsideSite) set_reference(s, t_.integer("sensor_reftype", i_), reference);
    if (s.kind == InsideSite) set_site(s, reference);
    return s;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(element_name(t_.tables(), "sensor", "name_sensoradr", i_) + ": " + what + " not supported");
  }

  // The body that carries an object, and the object's axes in it.
  struct Carried {
    int body;
    std::vector<T> position, quaternion;
  };
  Carried carried(int type, int id) const {
    const T o(0.0);
    const std::vector<T> origin = {o, o, o}, straight = {T(1.0), o, o, o};
    switch (type) {
      case body_object: return {id, t_.numbers("body_ipos", id, 3), t_.numbers("body_iquat", id, 4)};
      case xbody: return {id, origin, straight};
      case geom: return {t_.integer("geom_bodyid", id), t_.numbers("geom_pos", id, 3), t_.numbers("geom_quat", id, 4)};
      case site: return {t_.integer("site_bodyid", id), t_.numbers("site_pos", id, 3), t_.numbers("site_quat", id, 4)};
      case camera:
        if (t_.integer("cam_mode", id) != 0) refuse("cameras that track or target are");
        return {t_.integer("cam_bodyid", id), t_.numbers("cam_pos", id, 3), t_.numbers("cam_quat", id, 4)};
      default: refuse("objects of type " + std::to_string(type) + " are");
    }
  }
  Frame<T> frame(int type, int id, const Carried& c) const {
    switch (type) {
      case body_object: return places_.inertial(id);
      case geom: return places_.geom(id);
      case site: return places_.site(id);
      default: return places_.in_link(c.body, c.position, c.quaternion);
    }
  }

  void set_object(Sensor<T>& s, int type, int id) const {
    switch (s.kind) {
      case JointPosition:
      case JointVelocity:
      case JointActuatorForce:
      case BallQuaternion:
      case BallAngularVelocity: s.body = places_.joint(id); return;
      case TendonPosition:
      case TendonVelocity:
      case TendonActuatorForce: s.index = id; return;
      case ActuatorPosition:
      case ActuatorVelocity:
      case ActuatorForce: s.index = t_.integer("actuator_outadr", id); return;
      case SubtreeCentre:
      case SubtreeLinearVelocity:
      case SubtreeAngularMomentum: s.index = id; return;
      case JointLimitPosition:
      case JointLimitVelocity:
      case JointLimitForce: s.body = places_.joint(id); return;
      case TendonLimitPosition:
      case TendonLimitVelocity:
      case TendonLimitForce: s.index = id; return;
      case PotentialEnergy:
      case KineticEnergy:
      case User:
      case Clock:
      case GeomDistance:
      case GeomNormal:
      case GeomFromTo: return;
      case RangeFinder:
      case Accelerometer:
      case Velocimeter:
      case Gyro:
      case Force:
      case Torque:
      case Magnetometer:
      case Touch:
      case FramePosition:
      case FrameQuaternion:
      case FrameX:
      case FrameY:
      case FrameZ:
      case FrameLinearVelocity:
      case FrameAngularVelocity:
      case FrameLinearAcceleration:
      case FrameAngularAcceleration:
      case CameraProjection:
      case InsideSite: break;
    }
    const Carried c = carried(type, id);
    s.place = frame(type, id, c), s.link = c.body;
    if (s.kind == FrameQuaternion) s.turn = way_to(c);
    if (s.kind == Touch) set_size(s, id);
    const bool hollow = s.kind == InsideSite && type == body_object && id > 0;
    if (hollow && t_.nominal("body_mass", id) < 1e-15 && t_.nominal("body_subtreemass", id) >= 1e-15) s.index = id;
  }
  void set_reference(Sensor<T>& s, int type, int id) const {
    const Carried c = carried(type, id);
    s.relative = true, s.reference = frame(type, id, c);
    if (s.kind == FrameQuaternion) s.reference_turn = way_to(c);
    if (s.kind == CameraProjection) set_image(s, id);
  }
  void set_image(Sensor<T>& s, int id) const {
    const Lens lens = lens_of(t_.tables(), id);
    const auto pixels = t_.row("cam_resolution", id, 2);
    for (std::size_t k = 0; k < 2; k++) s.focal[k] = T(lens.focal[k]), s.middle[k] = T(0.5 * pixels[k]);
  }
  // Sets the geoms of both objects; for a body, all of its geoms.
  void set_geoms(Sensor<T>& s) const {
    const std::string of[] = {"sensor_obj", "sensor_ref"};
    for (int k = 0; k < 2; k++) {
      const int id = t_.integer(of[k] + "id", i_);
      const bool is_body = t_.integer(of[k] + "type", i_) == body_object;
      s.geom[k] = is_body ? std::max(t_.integer("body_geomadr", id), 0) : id;
      s.n_geoms[k] = is_body ? t_.integer("body_geomnum", id) : 1;
    }
    if (s.kind == GeomFromTo) s.limited = false;
    for (int i = s.geom[0]; i < s.geom[0] + s.n_geoms[0]; i++)
      for (int j = s.geom[1]; j < s.geom[1] + s.n_geoms[1]; j++) {
        const Geom<T>&a = geom_[static_cast<std::size_t>(i)], &b = geom_[static_cast<std::size_t>(j)];
        if (a.type == GeomType::SignedDistance || b.type == GeomType::SignedDistance)
          refuse("distances of signed distance fields are");
        if ((a.type == GeomType::Mesh && a.hull < 0) || (b.type == GeomType::Mesh && b.hull < 0))
          refuse("distances of meshes without a hull are");
        s.by_loops = s.by_loops || (has_distance(a.type, b.type) && !has_closed_distance(a.type, b.type));
      }
  }
  void set_site(Sensor<T>& s, int id) const {
    s.reference = places_.site(id);
    set_size(s, id);
    enum { sphere = 2, box = 6 };  // mjtGeom; between them capsule, ellipsoid, cylinder
    if (s.shape < sphere || s.shape > box) refuse("insides of meshes are");
  }
  void set_size(Sensor<T>& s, int id) const {
    const auto size = t_.numbers("site_size", id, 3);
    for (int k = 0; k < 3; k++) s.size[k] = size[k];
    s.shape = t_.integer("site_type", id);
  }

  // The rotations from the world to an object: one for each joint on the path that rotates, and a last one.
  std::vector<Turn<T>> way_to(const Carried& c) const {
    enum { free = 0, ball = 1, slide = 2, hinge = 3 };  // mjtJoint
    std::vector<int> path;
    for (int b = c.body; b > 0; b = t_.integer("body_parentid", b)) path.insert(path.begin(), b);
    std::vector<Turn<T>> way;
    const Quaternion<T> straight{T(1.0), T(0.0), T(0.0), T(0.0)};
    Quaternion<T> fixed = straight;
    for (const int b : path) {
      const Quaternion<T> placed = quaternion(t_.numbers("body_quat", b, 4));
      fixed = fixed * (t_.is_given("body_quat") ? normalised(placed) : placed);
      const int first = t_.integer("body_jntadr", b), n = t_.integer("body_jntnum", b);
      for (int j = first; j < first + n; j++) {
        const int q = t_.integer("jnt_qposadr", j), type = t_.integer("jnt_type", j);
        if (type == free) way = {{straight, q + 3, false}};
        if (type == ball) way.push_back({fixed, q, false});
        if (type == hinge) {
          const Quaternion<T> z = from_z(t_.row("jnt_axis", j, 3));
          T s, c;
          sincos(T(T(-0.5) * t_.real("qpos0", q)), s, c);
          way.push_back({fixed * z * Quaternion<T>{c, T(0.0), T(0.0), s}, q, true});
          fixed = conjugated(z);
        } else if (type != slide) {
          fixed = straight;
        }
      }
    }
    way.push_back({fixed * quaternion(c.quaternion), -1, true});
    return way;
  }
  // The shortest rotation from z to a unit vector.
  static Quaternion<T> from_z(std::span<const double> n) {
    if (n[2] < -1 + 1e-12) return {T(0.0), T(1.0), T(0.0), T(0.0)};
    return normalised(Quaternion<T>{T(1 + n[2]), T(-n[1]), T(n[0]), T(0.0)});
  }

  const WorldTables<T>& t_;
  const Places<T>& places_;
  const std::vector<Geom<T>>& geom_;
  int i_;
};

template <class T> History<T> history_of(const WorldTables<T>& t, int i) {
  const auto samples = t.row("sensor_history", i, 2);
  History<T> h;
  h.of_sensor = true, h.index = t.integer("sensor_adr", i), h.width = t.integer("sensor_dim", i);
  h.first = t.integer("sensor_historyadr", i);
  h.samples = static_cast<int>(samples[0]), h.order = static_cast<int>(samples[1]);
  h.delay = t.real("sensor_delay", i), h.is_delayed = t.nominal("sensor_delay", i) > 0;
  h.interval = t.numbers("sensor_interval", i, 2)[0];
  h.has_interval = t.nominal_row("sensor_interval", i, 2)[0] > 0;
  return h;
}

}  // namespace

Lens lens_of(const MujocoTables& t, int camera) {
  const auto pixels = t.row("cam_resolution", camera, 2), size = t.row("cam_sensorsize", camera, 2),
             intrinsic = t.row("cam_intrinsic", camera, 4);
  const double half = t.real("cam_fovy", camera) * std::numbers::pi / 360;
  Lens r;
  for (std::size_t k = 0; k < 2; k++) {
    const bool has_size = size[0] != 0 && size[1] != 0;
    const auto in_pixels = [&](double x) {  // divided in float, as MuJoCo stores and divides these numbers
      return static_cast<double>(static_cast<float>(x) / static_cast<float>(size[k])) * pixels[k];
    };
    r.focal[k] = has_size ? in_pixels(intrinsic[k]) : 0.5 / std::tan(half) * pixels[1];
    r.middle[k] = has_size ? in_pixels(intrinsic[2 + k]) : 0.5 * pixels[k];
  }
  return r;
}

template <class T> void add_sensors(World<T>& w, const WorldTables<T>& t, const Places<T>& places) {
  constexpr int no_sensors = 1 << 13;  // mjtDisableBit
  const auto magnetic = t.numbers("opt.magnetic", 0, 3);
  w.magnetic = {magnetic[0], magnetic[1], magnetic[2]};
  w.n_sensordata = t.integer("nsensordata");
  if (t.integer("opt.disableflags") & no_sensors) return;
  const int n = t.integer("nsensor");
  for (int i = 0; i < n; i++) {
    w.sensor.push_back(Reader<T>(t, places, w.contacts.geom, i).read());
    if (w.n_history > 0 && t.row("sensor_history", i, 2)[0] > 0) w.history.push_back(history_of(t, i));
  }
}

template void add_sensors(World<double>&, const WorldTables<double>&, const Places<double>&);
template void add_sensors(World<Expr>&, const WorldTables<Expr>&, const Places<Expr>&);

}  // namespace featherstorm
