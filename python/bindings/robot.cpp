// Robot: the result of a loader or a builder, as plain lists.
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.h"
#include "core/collision/candidates.h"
#include "core/model/builder.h"
#include "descriptions.h"
#include "gil.h"
#include "host/compile/generate.h"
#include "host/load/joint_inertia.h"
#include "host/load/load.h"
#include "host/load/robot_bytes.h"
#include "host/robots/robots.h"
#include "host/simulation/world_readings.h"
#include "host/system/interruption.h"
#include "host/world/world_of.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

const std::vector<std::pair<LoopType, const char*>>& loop_types() {
  static const std::vector<std::pair<LoopType, const char*>> names = {{LoopType::Fixed, "fixed"},
                                                                      {LoopType::Revolute, "revolute"},
                                                                      {LoopType::Prismatic, "prismatic"},
                                                                      {LoopType::Helical, "helical"},
                                                                      {LoopType::RackPinion, "rack_pinion"},
                                                                      {LoopType::Cylindrical, "cylindrical"},
                                                                      {LoopType::Universal, "universal"},
                                                                      {LoopType::Planar, "planar"},
                                                                      {LoopType::Spherical, "spherical"},
                                                                      {LoopType::PointOnLine, "point_on_line"}};
  return names;
}
// featherstorm.Loop, featherstorm.Coupling
LoopSpec loop_of(nb::handle h) {
  LoopSpec l;
  const auto text = [&](const char* name) { return nb::cast<std::string>(h.attr(name)); };
  l.name = text("name"), l.predecessor = text("predecessor"), l.successor = text("successor");
  const std::string type = text("type");
  std::string known;
  bool found = false;
  for (const auto& [t, n] : loop_types()) {
    known += (known.empty() ? "" : ", ") + std::string(n);
    if (n == type) l.type = t, found = true;
  }
  if (!found) throw ModelError("loop joint", l.name, "type '" + type + "' is unknown; there are: " + known);
  l.X_P = {matrix3(nb::cast<Matrix>(h.attr("rotation")), "rotation"), vector3(nb::cast<Vector>(h.attr("at")), "at")};
  l.X_S = {matrix3(nb::cast<Matrix>(h.attr("on_rotation")), "on_rotation"),
           vector3(nb::cast<Vector>(h.attr("on")), "on")};
  l.parameter = nb::cast<double>(h.attr("parameter"));
  return l;
}
Robot with_tables(const Robot& r, const nb::dict& tables, const std::vector<std::string>& link_names,
                  const std::vector<std::string>& joint_names, bool strict, std::optional<nb::list> read) {
  const auto source = std::make_shared<WorldSource>();
  source->tables = tables_of(tables), source->link_names = link_names, source->joint_names = joint_names;
  Robot copy = r;
  std::vector<std::string> left_out;
  std::set<std::string> names;
  source->tables.record(&names);
  try {
    copy = with_world(r, source, left_out);
    if (strict && !left_out.empty()) throw Error(left_out[0]);
    copy.notices.insert(copy.notices.end(), left_out.begin(), left_out.end());
  } catch (const std::exception& e) {
    if (strict) throw;
    copy.notices.push_back(std::string("the file's world is left out: ") + e.what());
  }
  source->tables.record(nullptr);
  if (read)
    for (const std::string& name : names) read->append(name);
  return copy;
}
// The tables from which a world was read, by name.
nb::dict world_tables(const Robot& r) {
  nb::dict all;
  if (!r.source) return all;
  for (const auto& [name, numbers] : r.source->tables.all()) all[name.c_str()] = nb::cast(numbers);
  return all;
}
// Reads a featherstorm.UrdfWorld and its mesh reader: (file, scale) -> rotation, position, corners, polygons. The
// caller keeps both alive, because they are used while other Python threads run.
std::optional<UrdfWorld> urdf_world_of(nb::handle world, nb::handle read_hull) {
  if (world.is_none()) return std::nullopt;
  UrdfWorld w;
  w.ground = nb::cast<bool>(world.attr("ground")), w.motors = nb::cast<bool>(world.attr("motors"));
  w.timestep = nb::cast<double>(world.attr("timestep"));
  for (const std::string& folder : nb::cast<std::vector<std::string>>(world.attr("packages")))
    w.packages.emplace_back(folder);
  if (read_hull.is_none()) return w;
  w.hull = [read_hull](const std::filesystem::path& file, const Vec3d& scale) {
    return with_gil([&] {
      try {
        const nb::object found = read_hull(file.string(), nb::make_tuple(scale[0], scale[1], scale[2]));
        const auto [rotation, position, corners, polygons, neighbours] =
            nb::cast<std::tuple<Matrix, Vector, std::vector<Vector>, std::vector<std::pair<Vector, std::vector<int>>>,
                                std::vector<std::vector<int>>>>(found);
        MeshHull hull{{matrix3(rotation, "rotation"), vector3(position, "position")}, {}, {}, neighbours};
        for (const Vector& r : corners) hull.corner.push_back(vector3(r, "a corner"));
        for (const auto& [normal, corner] : polygons) hull.polygon.push_back({vector3(normal, "a normal"), corner});
        return hull;
      } catch (nb::python_error& e) {
        if (e.matches(PyExc_KeyboardInterrupt)) throw Interruption{std::current_exception()};
        throw Error(nb::cast<std::string>(nb::str(e.value())));
      }
    });
  };
  return w;
}
CouplingSpec coupling_of(nb::handle h) {
  CouplingSpec c;
  c.joint = nb::cast<std::string>(h.attr("joint")), c.offset = nb::cast<double>(h.attr("offset"));
  for (const auto& [driver, ratio] : nb::cast<nb::dict>(h.attr("drivers")))
    c.terms.push_back({nb::cast<std::string>(driver), nb::cast<double>(ratio)});
  return c;
}
Robot with_closures(Robot r, const nb::iterable& loops, const nb::iterable& couplings) {
  std::vector<LoopSpec> l;
  std::vector<CouplingSpec> c;
  for (nb::handle h : loops) l.push_back(loop_of(h));
  for (nb::handle h : couplings) c.push_back(coupling_of(h));
  if (!l.empty()) r.model.loops = close_loops(r, l);
  if (!c.empty() && r.model.coupling.nu > 0)
    throw ModelError("robot", r.name, "its mimic joints are coupled already; no other couplings can be added");
  if (!c.empty()) r.model.coupling = couple(r, c);
  return r;
}
// Names of the independent velocities u; empty if no joints are coupled.
std::vector<std::string> u_names(const Robot& r) {
  std::vector<std::string> names;
  for (int k : r.model.coupling.driver) names.push_back(r.v_names[k]);
  return names;
}
Surface surface_of(const std::string& contact, const std::string& name) {
  for (std::size_t k = 0; k < std::size(surface_names); k++)
    if (surface_names[k] == name) return static_cast<Surface>(k);
  throw ModelError("contact", contact, "surface is '" + name + "', expected plane, sphere or cavity");
}

using Doubles = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using WrittenDoubles = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The moving bodies as dictionaries, for printing and for conversions.
nb::list bodies(const Robot& r) {
  nb::list all;
  for (int i = 1; i <= r.model.nb; i++) {
    const Body<double>& b = r.model.body[i];
    const int end_q = i < r.model.nb ? r.model.body[i + 1].q : r.model.nq;
    const int end_v = i < r.model.nb ? r.model.body[i + 1].v : r.model.nv;
    nb::dict d;
    d["name"] = r.body_names[i];
    d["parent"] = b.parent;
    d["joint"] = r.joint_names[i - 1];
    d["type"] = type_name(b.type);
    d["q"] = nb::make_tuple(b.q, end_q);
    const JointTraits traits = joint_traits(b.type);
    d["quaternion"] = traits.quaternion < 0 ? nb::object(nb::none()) : nb::object(nb::int_(b.q + traits.quaternion));
    d["lengths"] = nb::make_tuple(b.q + traits.first_length, b.q + traits.first_length + traits.lengths);
    d["v"] = nb::make_tuple(b.v, end_v);
    d["mass"] = b.I.m;
    d["com"] = list(b.I.m > 0 ? Vec3d(b.I.h / b.I.m) : Vec3d(Vec3d::Zero()));
    all.append(d);
  }
  return all;
}

// The pairs of a model file's geoms as dictionaries, with MuJoCo's names for the properties of their contacts.
nb::list contact_pairs(const Robot& r) {
  nb::list all;
  for (const ContactPair<double>& p : r.model.world.contacts.pair) {
    const auto numbers = [](const auto& x) { return nb::cast(std::vector<double>(std::begin(x), std::end(x))); };
    nb::dict d;
    d["geom"] = nb::make_tuple(p.geom[0], p.geom[1]);
    d["slots"] = p.slots;
    d["dim"] = p.dimension;
    d["friction"] = numbers(p.friction);
    d["solref"] = numbers(p.softness.reference);
    d["solimp"] = numbers(p.softness.impedance);
    d["solreffriction"] = numbers(p.friction_reference);
    d["invweight"] = numbers(p.inverse_inertia);
    d["includemargin"] = p.margin;
    d["detection"] = p.detection;
    const auto& geom = r.model.world.contacts.geom;
    d["closed_form"] =
        has_closed_form(geom[static_cast<std::size_t>(p.geom[0])].type, geom[static_cast<std::size_t>(p.geom[1])].type);
    all.append(d);
  }
  return all;
}

}  // namespace

void bind_robot(nb::module_& module) {
  nb::class_<ContactSpec>(module, "ContactSpec", "A contact in the frames of links; see featherstorm.Contact.")
      .def(
          "__init__",
          [](ContactSpec* c, std::string name, std::string link, const Vector& centre, double radius, std::string on,
             const std::string& surface, const Matrix& rotation, const Vector& position, double surface_radius,
             double half_x, double half_y, double friction, double restitution) {
            const Surface kind = surface_of(name, surface);
            auto in_contact = [&](const char* what) { return what + (" of contact '" + name + "'"); };
            const Vec3d r = vector3(centre, in_contact("centre").c_str());
            const Placement<double> X{matrix3(rotation, in_contact("rotation").c_str()),
                                      vector3(position, in_contact("position").c_str())};
            new (c) ContactSpec{std::move(name), std::move(link), r,      radius,   std::move(on), kind, X,
                                surface_radius,  half_x,          half_y, friction, restitution};
          },
          nb::arg("name"), nb::arg("link"), nb::arg("centre"), nb::arg("radius"), nb::arg("on"), nb::arg("surface"),
          nb::arg("rotation"), nb::arg("position"), nb::arg("surface_radius"), nb::arg("half_x"), nb::arg("half_y"),
          nb::arg("friction"), nb::arg("restitution"));

  nb::class_<Robot> robot(module, "Robot", "A model with its names. Immutable.");
  robot.def_prop_ro("name", [](const Robot& r) { return r.name; })
      .def_prop_ro("body_names", [](const Robot& r) { return r.body_names; })
      .def_prop_ro("joint_names", [](const Robot& r) { return r.joint_names; })
      .def_prop_ro("frame_names", [](const Robot& r) { return r.frame_names; })
      .def_prop_ro("q_names", [](const Robot& r) { return r.q_names; })
      .def_prop_ro("v_names", [](const Robot& r) { return r.v_names; })
      .def_prop_ro("q0", [](const Robot& r) { return r.q0; })
      .def_prop_ro("notices", [](const Robot& r) { return r.notices; })
      .def_prop_ro("odd", [](const Robot& r) { return r.odd; })
      .def("__reduce__",
           [](nb::handle self) {
             const std::string bytes = robot_bytes(nb::cast<const Robot&>(self));
             // pickle requires a Python function
             return nb::make_tuple(nb::module_::import_("featherstorm.model").attr("robot_of_bytes"),
                                   nb::make_tuple(nb::bytes(bytes.data(), bytes.size())));
           })
      .def_prop_ro("bodies", bodies)
      .def(
          "undamped",
          [](const Robot& r) {
            Robot copy = r;
            for (auto* numbers : {&copy.model.damping, &copy.model.friction})
              std::fill(numbers->begin(), numbers->end(), 0.0);
            return copy;
          },
          "A copy without damping and dry friction, whose energy is conserved.")
      .def("with_closures", with_closures, nb::arg("loops") = nb::tuple(), nb::arg("couplings") = nb::tuple(),
           "A copy with kinematic loops (featherstorm.Loop) and coupled joints (featherstorm.Coupling).")
      .def_prop_ro("nl", [](const Robot& r) { return r.model.loops.nl; })
      .def_prop_ro("n_constraints", [](const Robot& r) { return r.model.loops.nc; })
      .def_prop_ro("nu", [](const Robot& r) { return r.model.coupling.nu; })
      .def_prop_ro("u_names", u_names)
      .def(
          "with_contacts",
          [](const Robot& r, const std::vector<ContactSpec>& contacts, int sweeps, int relax) {
            Robot copy = r;
            copy.model.contacts = contacts_of(r, contacts, sweeps, relax);
            return copy;
          },
          nb::arg("contacts"), nb::arg("sweeps") = 8, nb::arg("relax") = 2, "A copy with these contacts.")
      .def_prop_ro("nc", [](const Robot& r) { return r.model.contacts.nc; })
      .def("with_world", with_tables, nb::arg("tables"), nb::arg("link_names"), nb::arg("joint_names"),
           nb::arg("strict") = false, nb::arg("read") = nb::none(),
           "A copy with the world of a compiled MuJoCo model, given by its arrays by name, as float64, and by the "
           "names of its bodies (\"\" for the world) and of its joints. If the model has unsupported features, the "
           "world is left out, with a notice; strict: raises an error instead. read: a list to which the names of the "
           "arrays are appended on which the world depends.")
      .def_prop_ro(
          "contact_pairs", contact_pairs,
          "Pairs of a model file's geoms that may touch: numbers of the two geoms in the file, slots in the operation "
          "`contacts`, and the properties of MuJoCo's contacts. detection: distance at which a contact is found, "
          "margin + gap. closed_form: true if the contact is computed without a loop.")
      .def(
          "with_pairs",
          [](const Robot& r, const std::vector<std::array<int, 2>>& pairs) { return with_pairs(r, pairs); },
          nb::arg("pairs"), "The robot with only these of its pairs of geoms, by the numbers of the geoms in the file.")
      .def(
          "measure_distances",
          [](const Robot& r, const Doubles& position, const Doubles& rotation, const std::optional<Doubles>& size,
             const WrittenDoubles& data) {
            const std::size_t n = data.shape(0), geoms = r.model.world.contacts.geom.size();
            const auto is = [&](const auto& a, std::size_t width) { return a.shape(0) == n && a.shape(1) == width; };
            if (!is(position, 3 * geoms) || !is(rotation, 9 * geoms) || (size && !is(*size, 3 * geoms)) ||
                !is(data, static_cast<std::size_t>(r.model.world.n_sensordata)))
              throw Error("measure_distances: shapes of arrays differ from those of the robot's geoms and sensors");
            measure_distances(r, static_cast<long>(n), position.data(), rotation.data(), size ? size->data() : nullptr,
                              data.data());
          },
          nb::arg("position"), nb::arg("rotation"), nb::arg("size").none(), nb::arg("data"),
          "Writes the sensors of distances between geoms that need loops into data (n, n_sensordata), float64. "
          "Positions (n, 3 geoms), rotations (n, 9 geoms) and sizes (n, 3 geoms) are those of the geoms; sizes None: "
          "the file's sizes.")
      .def_prop_ro(
          "sensors_by_loops",
          [](const Robot& r) {
            std::vector<int> all;
            for (const Sensor<double>& s : r.model.world.sensor)
              if (s.by_loops) all.push_back(s.first);
            return all;
          },
          "First indices in sensordata of the sensors whose distances need loops.")
      .def_prop_ro("n_sensordata", [](const Robot& r) { return r.model.world.n_sensordata; })
      .def_prop_ro("world_tables", world_tables, "The tables from which the world was read, by MuJoCo's names, flat.")
      .def_prop_ro("world_links",
                   [](const Robot& r) { return r.source ? r.source->link_names : std::vector<std::string>(); })
      .def_prop_ro("has_world", [](const Robot& r) { return r.model.world.is_given(); })
      .def_prop_ro("n_ctrl", [](const Robot& r) { return r.model.world.nu; })
      .def_prop_ro("n_act", [](const Robot& r) { return r.model.world.na; })
      .def_prop_ro(
          "timestep", [](const Robot& r) { return r.model.world.timestep; },
          "Time step of the model file of the world [s]; 0 without one.")
      .def_prop_ro("gravity", [](const Robot& r) { return list(r.model.gravity); })
      .def_prop_ro("frame_bodies",
                   [](const Robot& r) {
                     std::vector<int> body;
                     for (const auto& f : r.model.frame) body.push_back(f.body);
                     return body;
                   })
      .def_prop_ro(
          "frame_placements",
          [](const Robot& r) {
            nb::list all;
            for (const auto& f : r.model.frame) {
              Matrix R(3, Vector(3));
              for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++) R[i][k] = f.X.R(i, k);
              all.append(nb::make_tuple(R, list(f.X.r)));
            }
            return all;
          },
          "Rotation (rows) and position of each frame in the axes of its body.");
#define FEATHERSTORM_FIELD(name) robot.def_prop_ro(#name, [](const Robot& r) { return r.model.name; });
  FEATHERSTORM_FIELD(nb)
  FEATHERSTORM_FIELD(nq)
  FEATHERSTORM_FIELD(nv)
  FEATHERSTORM_FIELD(nh)
  FEATHERSTORM_FIELD(nf)
  FEATHERSTORM_FIELD(armature)
  FEATHERSTORM_FIELD(damping)
  FEATHERSTORM_FIELD(friction)
  FEATHERSTORM_FIELD(lower)
  FEATHERSTORM_FIELD(upper)
  FEATHERSTORM_FIELD(max_velocity)
  FEATHERSTORM_FIELD(max_effort)
  FEATHERSTORM_FIELD(dof_q)
  FEATHERSTORM_FIELD(dof_parent)
  FEATHERSTORM_FIELD(row_start)
#undef FEATHERSTORM_FIELD
  // a chain of n joints has n^2 / 2 of them
  robot.def_prop_ro(
      "column",
      [](const Robot& r) {
        auto* all = new std::vector<std::int64_t>(r.model.column.begin(), r.model.column.end());
        const nb::capsule owner(all, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
        return nb::ndarray<nb::numpy, std::int64_t>(all->data(), {all->size()}, owner);
      },
      nb::rv_policy::automatic);

  nb::class_<ModelBuilder>(module, "RobotBuilder", "Builds a Robot from links and joints given in any order.")
      .def(nb::init<std::string>(), nb::arg("name") = "robot")
      .def(
          "add_link",
          [](ModelBuilder& b, std::string name, double mass, const Vector& com, const Matrix& inertia) {
            b.add_link({std::move(name), mass, vector3(com, "com"), matrix3(inertia, "inertia")});
          },
          nb::arg("name"), nb::arg("mass") = 0.0, nb::arg("com") = Vector{0, 0, 0},
          nb::arg("inertia") = Matrix(3, Vector(3)),
          "A link: mass [kg], centre of mass [m], inertia about it [kg m^2].")
      .def(
          "add_joint",
          [](ModelBuilder& b, std::string name, const std::string& type, std::string parent, std::string child,
             const Matrix& rotation, const Vector& position, const Vector& axis, double parameter, Vector lower,
             Vector upper, Vector max_velocity, Vector max_effort, Vector damping, Vector friction, Vector armature) {
            b.add_joint(joint_spec(std::move(name), type, std::move(parent), std::move(child), rotation, position, axis,
                                   parameter, std::move(lower), std::move(upper), std::move(max_velocity),
                                   std::move(max_effort), std::move(damping), std::move(friction),
                                   std::move(armature)));
          },
          FEATHERSTORM_JOINT_ARGUMENTS,
          "A joint from link `parent` (\"\" is the world) to link `child`. Lists per coordinate are in the order of "
          "v.")
      .def(
          "add_frame",
          [](ModelBuilder& b, std::string name, std::string link, const Matrix& rotation, const Vector& position) {
            b.add_frame(
                {std::move(name), std::move(link), {matrix3(rotation, "rotation"), vector3(position, "position")}});
          },
          nb::arg("name"), nb::arg("link"), nb::arg("rotation") = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
          nb::arg("position") = Vector{0, 0, 0})
      .def("float_root", &ModelBuilder::float_root, nb::arg("link"))
      .def(
          "set_gravity", [](ModelBuilder& b, const Vector& g) { b.set_gravity(vector3(g, "gravity")); },
          nb::arg("gravity"))
      .def(
          "build",
          [](const ModelBuilder& b, std::vector<std::string> notices, const nb::iterable& loops,
             const nb::iterable& couplings, bool strict) {
            Robot r = b.build(strict);
            check_joint_inertia(r);
            r.notices.insert(r.notices.begin(), notices.begin(), notices.end());
            return with_closures(std::move(r), loops, couplings);
          },
          nb::arg("notices") = std::vector<std::string>{}, nb::arg("loops") = nb::tuple(),
          nb::arg("couplings") = nb::tuple(), nb::arg("strict") = false,
          "The robot. loops: a sequence of featherstorm.Loop. couplings: a sequence of featherstorm.Coupling. strict: "
          "refuses an inertia that no physical body has; otherwise it is kept with a notice.");

  bind_edit(module);

  module.def(
      "load",
      [](const std::string& name_or_path, std::optional<bool> floating_base, bool couple_mimics, bool strict,
         double armature, nb::handle world, nb::handle read_hull) {
        using Mimic = UrdfOptions::Mimic;
        const LoadOptions options{.floating_base = floating_base,
                                  .mimic = couple_mimics ? Mimic::kCouple : Mimic::kIndependent,
                                  .strict = strict,
                                  .armature = armature,
                                  .world = urdf_world_of(world, read_hull)};
        const WithoutGil others_go_on;
        return load(name_or_path, options);
      },
      nb::arg("name_or_path"), nb::arg("floating_base") = nb::none(), nb::arg("couple_mimics") = false,
      nb::arg("strict") = false, nb::arg("armature") = 0.0, nb::arg("world") = nb::none(),
      nb::arg("read_hull") = nb::none());
  module.def(
      "robot_of_bytes", [](nb::bytes b) { return robot_of_bytes({static_cast<const char*>(b.data()), b.size()}); },
      nb::arg("bytes"), "The Robot of the bytes that pickle stores.");
  module.def(
      "robots",
      [] {
        nb::list rows;
        for (const BuiltinRobot& r : builtin_robots())
          rows.append(nb::make_tuple(std::string(r.name), std::string(r.file), std::string(r.description), r.floating));
        return rows;
      },
      "(name, file, description, floating) of every built-in robot.");
  module.def(
      "generate",
      [](const Robot& robot, const std::vector<std::string>& ops, const std::string& name, const std::string& dtype,
         bool cuda, int width) {
        nb::list files;
        const std::vector<GeneratedFile> all = generate(robot, {name, ops, precision_of(dtype), cuda, width});
        for (const GeneratedFile& f : all) files.append(nb::make_tuple(f.name, f.text));
        return files;
      },
      nb::arg("robot"), nb::arg("ops"), nb::arg("name"), nb::arg("dtype"), nb::arg("cuda"), nb::arg("width"),
      "Source files of a robot's kernels: (name, text) of each, the header first.");
  module.def("robot_directory", [] { return robot_directory().string(); });
}

}  // namespace featherstorm
