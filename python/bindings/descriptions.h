// Reads links and joints of a description from Python.
#pragma once
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "core/model/builder.h"
#include "core/model/joints.h"

namespace featherstorm {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

inline Vector list(const Vec3d& v) { return {v.x(), v.y(), v.z()}; }
inline Vec3d vector3(const Vector& v, const char* what) {
  if (v.size() != 3) throw ModelError("argument", what, "has " + std::to_string(v.size()) + " numbers, expected 3");
  return {v[0], v[1], v[2]};
}
inline Mat3d matrix3(const Matrix& rows, const char* what) {
  if (rows.size() != 3) throw ModelError("argument", what, "has " + std::to_string(rows.size()) + " rows, expected 3");
  Mat3d R;
  for (int i = 0; i < 3; i++) R.row(i) = vector3(rows[i], what);
  return R;
}

inline std::string type_name(JointType type) { return joint_traits(type).name; }
inline JointType type_of(const std::string& joint, const std::string& name) {
  for (int t = 0; t < static_cast<int>(JointType::UserDefined); t++)
    if (name == joint_traits(static_cast<JointType>(t)).name) return static_cast<JointType>(t);
  throw ModelError("joint", joint, "type '" + name + "' is unknown");
}

inline JointSpec joint_spec(std::string name, const std::string& type, std::string parent, std::string child,
                            const Matrix& rotation, const Vector& position, const Vector& axis, double parameter,
                            Vector lower, Vector upper, Vector max_velocity, Vector max_effort, Vector damping,
                            Vector friction, Vector armature) {
  JointSpec j;
  j.type = type_of(name, type);
  j.name = std::move(name), j.parent = std::move(parent), j.child = std::move(child);
  j.X = {matrix3(rotation, "rotation"), vector3(position, "position")};
  j.axis = vector3(axis, "axis");
  j.parameter = parameter;
  j.lower = std::move(lower), j.upper = std::move(upper);
  j.max_velocity = std::move(max_velocity), j.max_effort = std::move(max_effort);
  j.damping = std::move(damping), j.friction = std::move(friction), j.armature = std::move(armature);
  return j;
}
// The arguments of joint_spec with their names and defaults.
#define FEATHERSTORM_JOINT_ARGUMENTS                                                                          \
  nanobind::arg("name"), nanobind::arg("type"), nanobind::arg("parent"), nanobind::arg("child"),              \
      nanobind::arg("rotation") = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},                                    \
      nanobind::arg("position") = Vector{0, 0, 0}, nanobind::arg("axis") = Vector{0, 0, 1},                   \
      nanobind::arg("parameter") = 0.0, nanobind::arg("lower") = Vector{}, nanobind::arg("upper") = Vector{}, \
      nanobind::arg("max_velocity") = Vector{}, nanobind::arg("max_effort") = Vector{},                       \
      nanobind::arg("damping") = Vector{}, nanobind::arg("friction") = Vector{}, nanobind::arg("armature") = Vector {}

}  // namespace featherstorm
