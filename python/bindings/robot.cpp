// Robot: what a loader or a builder made, as plain lists.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.h"
#include "descriptions.h"
#include "core/builder.h"
#include "host/generate.h"
#include "host/load.h"
#include "host/robots/robots.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

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
            b.add_joint(joint_spec(std::move(name), type, std::move(parent), std::move(child), rotation, position, axis,
                                   parameter, std::move(lower), std::move(upper), std::move(max_velocity),
                                   std::move(max_effort), std::move(damping), std::move(friction), std::move(armature)));
          },
          FEATHERSTORM_JOINT_ARGUMENTS,
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

  bind_edit(module);

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
