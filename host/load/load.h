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
  // adds a free joint to the root link; absent: as usual for a built-in robot, none for a file
  std::optional<bool> floating_base{};
  UrdfOptions::Mimic mimic = UrdfOptions::Mimic::kIndependent;
  bool strict = false;  // UrdfOptions
  double armature = 0;  // of each joint with one freedom that has none of its own [kg m^2 | kg]
  // what of the robot may touch what, and how many sweeps the rows of contacts make (core/model/contacts.h)
  std::vector<ContactSpec> contacts{};
  int sweeps = 8, relax = 2;
  std::optional<UrdfWorld> world{};  // UrdfOptions
};
// `name_or_path` is a name of host/robots/robots.h or the path of a .urdf file. Throws Error; ModelError for contacts.
Robot load(const std::string& name_or_path, const LoadOptions& options = {});

}  // namespace featherstorm
