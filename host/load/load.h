// Loads a robot by built-in name or from a file.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/model/builder.h"
#include "host/load/load_urdf.h"
#include "host/system/installation.h"

namespace featherstorm {

struct LoadOptions {
  // adds a free joint to the root link; absent: the usual base of a built-in robot, none for a file
  std::optional<bool> floating_base{};
  UrdfOptions::Mimic mimic = UrdfOptions::Mimic::kIndependent;
  bool strict = false;  // UrdfOptions
  double armature = 0;  // of each joint with one coordinate and no armature in the file [kg m^2 | kg]
  // the contacts of the robot, and the number of sweeps over the contact rows (core/model/contacts.h)
  std::vector<ContactSpec> contacts{};
  int sweeps = 8, relax = 2;
  std::optional<UrdfWorld> world{};  // UrdfOptions
};
// `name_or_path` is a name of host/robots/robots.h or the path of a .urdf file. Throws Error; ModelError for contacts.
Robot load(const std::string& name_or_path, const LoadOptions& options = {});

}  // namespace featherstorm
