// Loads a robot by built-in name or from a file.
#pragma once
#include <optional>
#include <string>

#include "core/builder.h"
#include "host/load_urdf.h"

namespace featherstorm {

struct LoadOptions {
  // adds a free joint to the root link; absent: as usual for a built-in robot, none for a file
  std::optional<bool> floating_base;
  UrdfOptions::Mimic mimic = UrdfOptions::Mimic::kIndependent;
};
// `name_or_path` is a name of host/robots/robots.h or the path of a .urdf file. Throws Error.
Robot load(const std::string& name_or_path, const LoadOptions& options = {});

}  // namespace featherstorm
