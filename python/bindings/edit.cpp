// Methods of RobotBuilder that make robots from robots (core/model/edit.h), and functions of MassProperties for masses
// of shapes (core/model/inertia_of.h).
#include "core/model/edit.h"

#include <nanobind/operators.h>
#include <nanobind/stl/array.h>

#include "core/model/inertia_of.h"
#include "descriptions.h"

namespace nb = nanobind;

namespace featherstorm {
namespace {

Vec3d vector_of(const Vector& v) { return vector3(v, "size"); }
std::vector<Vec3d> points(const Matrix& rows) {
  std::vector<Vec3d> all;
  for (const Vector& row : rows) all.push_back(vector3(row, "points"));
  return all;
}
Matrix rows(const Mat3d& m) {
  Matrix all;
  for (int i = 0; i < 3; i++) all.push_back({m(i, 0), m(i, 1), m(i, 2)});
  return all;
}

void bind_shapes(nb::module_& module) {
  nb::class_<MassProperties> shapes(
      module, "MassProperties", "Mass [kg], centre of mass [m], inertia about it [kg m^2]; a + b combines two bodies.");
  shapes
      .def(
          "__init__",
          [](MassProperties* a, double mass, const Vector& com, const Matrix& inertia) {
            new (a) MassProperties{mass, vector3(com, "com"), matrix3(inertia, "inertia")};
          },
          nb::arg("mass") = 0.0, nb::arg("com") = Vector{0, 0, 0}, nb::arg("inertia") = Matrix(3, Vector(3)))
      .def_ro("mass", &MassProperties::mass)
      .def_prop_ro("com", [](const MassProperties& a) { return list(a.com); })
      .def_prop_ro("inertia", [](const MassProperties& a) { return rows(a.inertia); })
      .def(nb::self + nb::self)
      .def(
          "placed",
          [](const MassProperties& a, const Vector& position, const Matrix& rotation) {
            return placed({matrix3(rotation, "rotation"), vector3(position, "position")}, a);
          },
          nb::arg("position"), nb::arg("rotation") = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
          "The same properties in another frame, in which the shape's frame has this position and rotation.")
      .def(
          "with_mass", [](const MassProperties& a, double mass) { return with_mass(a, mass); }, nb::arg("mass"),
          "The same shape with another mass [kg].");
  shapes.def_static(
      "particles", [](const Vector& masses, const Matrix& at) { return particles(masses, points(at)); },
      nb::arg("masses"), nb::arg("points"), "Point masses [kg] at points (n, 3) [m].");
  shapes.def_static(
      "box", [](double mass, const Vector& size) { return box(mass, vector_of(size)); }, nb::arg("mass"),
      nb::arg("size"), "A solid box with edges along the axes [m].");
  shapes.def_static(
      "ellipsoid", [](double mass, const Vector& a) { return ellipsoid(mass, vector_of(a)); }, nb::arg("mass"),
      nb::arg("semi_axes"), "A solid ellipsoid [m].");
  shapes.def_static("sphere", &sphere, nb::arg("mass"), nb::arg("radius"), "A solid sphere.");
  shapes.def_static("cylinder", &cylinder, nb::arg("mass"), nb::arg("radius"), nb::arg("length"),
                    "A solid cylinder along z, its centre at the origin.");
  shapes.def_static("capsule", &capsule, nb::arg("mass"), nb::arg("radius"), nb::arg("length"),
                    "A cylinder of this length along z with half a sphere at each end.");
  shapes.def_static("cone", &cone, nb::arg("mass"), nb::arg("radius"), nb::arg("height"),
                    "A solid cone, its base around the origin, its tip at +height on z.");
  shapes.def_static(
      "box_shell", [](double mass, const Vector& size) { return box_shell(mass, vector_of(size)); }, nb::arg("mass"),
      nb::arg("size"), "The six faces of a box.");
  shapes.def_static("sphere_shell", &sphere_shell, nb::arg("mass"), nb::arg("radius"), "A hollow sphere.");
  shapes.def_static("cylinder_shell", &cylinder_shell, nb::arg("mass"), nb::arg("radius"), nb::arg("length"),
                    "A tube along z without ends.");
  shapes.def_static("disc", &disc, nb::arg("mass"), nb::arg("radius"), "A thin disc normal to z.");
  shapes.def_static("rod", &rod, nb::arg("mass"), nb::arg("length"), "A thin rod along z.");
  shapes.def_static(
      "mesh",
      [](double density, const Matrix& vertices, const std::vector<Triangle>& triangles) {
        return mesh(density, points(vertices), triangles);
      },
      nb::arg("density"), nb::arg("vertices"), nb::arg("triangles"),
      "A solid with this density [kg/m^3] and a closed surface.");
  shapes.def_static(
      "mesh_shell",
      [](double density, const Matrix& vertices, const std::vector<Triangle>& triangles) {
        return mesh_shell(density, points(vertices), triangles);
      },
      nb::arg("density"), nb::arg("vertices"), nb::arg("triangles"),
      "A surface with this density [kg/m^2], open or closed.");
}

}  // namespace

void bind_edit(nb::module_& module) {
  bind_shapes(module);

  nb::class_<JointSpec>(module, "Joint", "A joint to be added to a robot; arguments as in RobotBuilder.add_joint.")
      .def(
          "__init__",
          [](JointSpec* j, std::string name, const std::string& type, std::string parent, std::string child,
             const Matrix& rotation, const Vector& position, const Vector& axis, double parameter, Vector lower,
             Vector upper, Vector max_velocity, Vector max_effort, Vector damping, Vector friction, Vector armature) {
            new (j) JointSpec(joint_spec(std::move(name), type, std::move(parent), std::move(child), rotation, position,
                                         axis, parameter, std::move(lower), std::move(upper), std::move(max_velocity),
                                         std::move(max_effort), std::move(damping), std::move(friction),
                                         std::move(armature)));
          },
          FEATHERSTORM_JOINT_ARGUMENTS)
      .def_ro("name", &JointSpec::name)
      .def_prop_ro("type", [](const JointSpec& j) { return type_name(j.type); })
      .def_rw("parent", &JointSpec::parent)
      .def_rw("child", &JointSpec::child);

  auto builder = nb::borrow<nb::class_<ModelBuilder>>(module.attr("RobotBuilder"));
  builder
      .def(
          "add_link",
          [](ModelBuilder& b, const std::string& name, const MassProperties& a) { b.add_link(link(name, a)); },
          nb::arg("name"), nb::arg("shape"), "A link with the mass of a shape of featherstorm.inertia.")
      .def_prop_ro("link_names",
                   [](const ModelBuilder& b) {
                     std::vector<std::string> names;
                     for (const LinkSpec& l : b.links()) names.push_back(l.name);
                     return names;
                   })
      .def_prop_ro("joint_names",
                   [](const ModelBuilder& b) {
                     std::vector<std::string> names;
                     for (const JointSpec& j : b.joints()) names.push_back(j.name);
                     return names;
                   })
      .def("merged", &merged, nb::arg("other"), nb::arg("joint"), nb::arg("prefix") = "",
           "Both robots as a new one. `joint` leads from a link or frame of this robot (\"\" is the world) to the root "
           "link of the other. `prefix` is put before the names of the other's links, joints and frames. Gravity is "
           "that of this robot.")
      .def(
          "cut",
          [](const ModelBuilder& b, const std::string& joint) {
            CutRobot c = cut(b, joint);
            return nb::make_tuple(std::move(c.rest), std::move(c.part), std::move(c.joint));
          },
          nb::arg("joint"),
          "(rest, part, joint): the robot without the part beyond a joint, that part, and the joint between them. "
          "rest.merged(part, joint) is the original robot.")
      .def("rerooted", &rerooted, nb::arg("link"),
           "The robot with another root link. Joints between the old root and the new one are reversed and keep "
           "their coordinates.")
      .def("replaced", &replaced, nb::arg("joint"),
           "The robot with `joint` instead of the joint with the same name; an empty parent or child is that of the "
           "old joint.")
      .def("locked", &locked, nb::arg("joint"), nb::arg("q"),
           "The robot with the joint fixed at position q, a list of its numbers.")
      .def("reordered", &reordered, nb::arg("joints"),
           "The robot with its joints in this order, which contains every name once.");
  auto robot = nb::borrow<nb::class_<Robot>>(module.attr("Robot"));
  robot.def(
      "description", &description,
      "A RobotBuilder that builds the robot again. Each body becomes one link with the inertia of all links merged "
      "into it; the other links become frames.");
}

}  // namespace featherstorm
