// Robot: what a loader or a builder made, as plain lists.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.h"
#include "core/builder.h"
#include "host/generate.h"
#include "host/load.h"
#include "host/robots/robots.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

Vector list(const Vec3d& v) { return {v.x(), v.y(), v.z()}; }
Vec3d vector3(const Vector& v, const char* what) {
  if (v.size() != 3) throw ModelError("argument", what, "has " + std::to_string(v.size()) + " numbers, expected 3");
  return {v[0], v[1], v[2]};
}
Mat3d matrix3(const Matrix& rows, const char* what) {
  if (rows.size() != 3) throw ModelError("argument", what, "has " + std::to_string(rows.size()) + " rows, expected 3");
  Mat3d R;
  for (int i = 0; i < 3; i++) R.row(i) = vector3(rows[i], what);
  return R;
}

const std::vector<std::pair<JointType, const char*>>& joint_types() {
  static const std::vector<std::pair<JointType, const char*>> names = {{JointType::Fixed, "fixed"},
                                                                       {JointType::Revolute, "revolute"},
                                                                       {JointType::Prismatic, "prismatic"},
                                                                       {JointType::Helical, "helical"},
                                                                       {JointType::Cylindrical, "cylindrical"},
                                                                       {JointType::Planar, "planar"},
                                                                       {JointType::Ball, "ball"},
                                                                       {JointType::BallYpr, "ball_ypr"},
                                                                       {JointType::BallExp, "ball_exp"},
                                                                       {JointType::Universal, "universal"},
                                                                       {JointType::RackPinion, "rack_pinion"},
                                                                       {JointType::Free, "free"},
                                                                       {JointType::UserDefined, "user_defined"}};
  return names;
}
std::string type_name(JointType type) {
  for (const auto& [t, name] : joint_types())
    if (t == type) return name;
  return "";
}
JointType type_of(const std::string& joint, const std::string& name) {
  for (const auto& [t, n] : joint_types())
    if (n == name && t != JointType::UserDefined) return t;
  throw ModelError("joint", joint, "type '" + name + "' is unknown");
}

Surface surface_of(const std::string& contact, const std::string& name) {
  for (const auto& [surface, n] :
       {std::pair{Surface::Plane, "plane"}, {Surface::Sphere, "sphere"}, {Surface::Cavity, "cavity"}})
    if (n == name) return surface;
  throw ModelError("contact", contact, "surface is '" + name + "', expected plane, sphere or cavity");
}

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
    d["v"] = nb::make_tuple(b.v, end_v);
    d["mass"] = b.I.m;
    d["com"] = list(b.I.m > 0 ? Vec3d(b.I.h / b.I.m) : Vec3d(Vec3d::Zero()));
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
            new (c) ContactSpec{std::move(name), std::move(link), r, radius, std::move(on), kind, X, surface_radius,
                                half_x, half_y, friction, restitution};
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
      .def(
          "with_contacts",
          [](const Robot& r, const std::vector<ContactSpec>& contacts, int sweeps, int relax) {
            Robot copy = r;
            copy.model.contacts = contacts_of(r, contacts, sweeps, relax);
            return copy;
          },
          nb::arg("contacts"), nb::arg("sweeps") = 8, nb::arg("relax") = 2, "A copy that carries these contacts.")
      .def_prop_ro("nc", [](const Robot& r) { return r.model.contacts.nc; })
      .def_prop_ro("gravity", [](const Robot& r) { return list(r.model.gravity); })
      .def_prop_ro("frame_bodies", [](const Robot& r) {
        std::vector<int> body;
        for (const auto& f : r.model.frame) body.push_back(f.body);
        return body;
      });
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
  FEATHERSTORM_FIELD(column)
#undef FEATHERSTORM_FIELD

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
            JointSpec j;
            j.type = type_of(name, type);
            j.name = std::move(name), j.parent = std::move(parent), j.child = std::move(child);
            j.X = {matrix3(rotation, "rotation"), vector3(position, "position")};
            j.axis = vector3(axis, "axis");
            j.parameter = parameter;
            j.lower = std::move(lower), j.upper = std::move(upper);
            j.max_velocity = std::move(max_velocity), j.max_effort = std::move(max_effort);
            j.damping = std::move(damping), j.friction = std::move(friction), j.armature = std::move(armature);
            b.add_joint(std::move(j));
          },
          nb::arg("name"), nb::arg("type"), nb::arg("parent"), nb::arg("child"),
          nb::arg("rotation") = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, nb::arg("position") = Vector{0, 0, 0},
          nb::arg("axis") = Vector{0, 0, 1}, nb::arg("parameter") = 0.0, nb::arg("lower") = Vector{},
          nb::arg("upper") = Vector{}, nb::arg("max_velocity") = Vector{}, nb::arg("max_effort") = Vector{},
          nb::arg("damping") = Vector{}, nb::arg("friction") = Vector{}, nb::arg("armature") = Vector{},
          "A joint from link `parent` (\"\" is the world) to link `child`; per coordinate lists in the order of v.")
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
          [](const ModelBuilder& b, std::vector<std::string> notices) {
            Robot r = b.build();
            r.notices = std::move(notices);
            return r;
          },
          nb::arg("notices") = std::vector<std::string>{});

  module.def(
      "load",
      [](const std::string& name_or_path, std::optional<bool> floating_base) {
        return load(name_or_path, {.floating_base = floating_base});
      },
      nb::arg("name_or_path"), nb::arg("floating_base") = nb::none(), nb::call_guard<nb::gil_scoped_release>());
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
