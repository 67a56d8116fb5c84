// Robots from URDF files.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "core/model/builder.h"
#include "host/load/urdf_world.h"

namespace featherstorm {

struct UrdfOptions {
  // true: the root link moves freely, by a free joint named "root"; false: it is fixed to the world
  bool floating_base = false;

  // Treatment of <mimic> joints, which copy another joint in the real hand or gripper.
  enum class Mimic {
    kIndependent,  // the joint is independent, and a notice says so
    kCouple,       // coupled in the model for the operations on coupled joints; independent for all others
    kRefuse,       // throws Error
  };
  Mimic mimic = Mimic::kIndependent;

  // Refuses odd but meaningful input instead of giving a notice: an inertia that no physical body has, limits out of
  // order, a mimic of an unknown joint. Also refuses a joint that may lack inertia.
  bool strict = false;

  double armature = 0;  // of each joint with one coordinate and no armature in the file [kg m^2 | kg]

  // The world of the robot. Without one there is only the tree, and collisions are ignored. Equalities of the world
  // hold mimic joints, which are independent in the tree.
  std::optional<UrdfWorld> world{};
};

// Reads the robot of a URDF file. Fixed joints are merged; every link of the file stays as a frame with its name.
// Joints keep the file's order as far as depth first allows. The robot's `notices` list the ignored and the odd
// elements.
//
// `continuous` is a revolute joint without limits. `floating` and `planar` joints have no limits, damping or friction.
// A velocity limit of 0 means none. <dynamics armature="..."> is the rotor inertia seen at the joint, an extension of
// URDF. Rotation angles within 1e-10 of a quarter turn are taken as exact.
//
// Errors: Error "file:line: element: reason" for a file that cannot be read, is not a URDF robot, or has no dynamics.
Robot load_urdf(const std::filesystem::path& path, const UrdfOptions& options = {});

// The same for URDF text. Messages use `name` as the file name, and meshes are searched relative to it.
Robot load_urdf_text(std::string_view text, std::string_view name = "text", const UrdfOptions& options = {});

}  // namespace featherstorm
