// Robots from URDF files.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/model/builder.h"
#include "host/load/urdf_world.h"

namespace featherstorm {

struct UrdfOptions {
  bool floating_base =
      false;  // whether the root link moves freely (a free joint named "root") or is fixed to the world

  // A <mimic> joint copies another one in the real hand or gripper.
  enum class Mimic {
    kIndependent,  // the joint moves on its own, and a notice says so
    kCouple,  // the model's coupling has it, for the operations on coupled joints; all others take it as independent
    kRefuse,  // Error
  };
  Mimic mimic = Mimic::kIndependent;

  // What is odd but has a meaning (an inertia that no body has, limits out of order, a mimic of no joint) is refused instead of
  // noticed, as is a joint that may lack inertia.
  bool strict = false;

  double armature = 0;  // of each joint with one freedom whose file gives it none [kg m^2 | kg]

  // The world that the robot is to stand in; none: the tree alone, and collisions are ignored. Equalities of the world hold mimic
  // joints, which are independent in the tree.
  std::optional<UrdfWorld> world{};
};

// The robot of a URDF file. Fixed joints are merged; every link of the file stays as a frame of its name. Joints keep
// the file's order as far as depth first allows. What was ignored or looks odd is in the robot's `notices`.
//
// `continuous` is a revolute joint without limits; `floating` and `planar` joints have no limits, damping or friction;
// a velocity limit of 0 means none. <dynamics armature="..."> is the rotor inertia seen at the joint, our addition.
// Rotation angles within 1e-10 of a quarter turn are taken as exact.
//
// Errors: Error "file:line: element: reason" for a file that cannot be read, is not a URDF robot, or has no dynamics.
Robot load_urdf(const std::filesystem::path& path, const UrdfOptions& options = {});

// The same for URDF text; `name` stands for the file in messages, and for where meshes are looked for.
Robot load_urdf_text(std::string_view text, std::string_view name = "text", const UrdfOptions& options = {});

}  // namespace featherstorm
