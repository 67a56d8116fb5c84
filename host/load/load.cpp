#include "host/load/load.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "host/load/load_urdf.h"
#include "host/robots/robots.h"
#include "host/system/error.h"

namespace featherstorm {

namespace {

Robot load_robot(const std::string& name_or_path, const LoadOptions& options) {
  UrdfOptions urdf;
  urdf.mimic = options.mimic, urdf.strict = options.strict, urdf.armature = options.armature,
  urdf.world = options.world;
  if (!(options.armature >= 0) || std::isinf(options.armature))
    throw Error("armature is " + std::to_string(options.armature) + ", expected 0 or more");
  const auto robots = builtin_robots();
  const auto builtin =
      std::find_if(robots.begin(), robots.end(), [&](const auto& r) { return r.name == name_or_path; });
  if (builtin != robots.end()) {
    urdf.floating_base = options.floating_base.value_or(builtin->floating);
    return load_urdf(robot_file(name_or_path), urdf);
  }
  const std::filesystem::path path(name_or_path);
  if (!path.has_extension() && !path.has_parent_path() && !std::filesystem::exists(path)) {
    std::string names;
    for (const auto& r : robots) names += (names.empty() ? "" : ", ") + std::string(r.name);
    throw Error("'" + name_or_path + "' is neither a file nor a built-in robot; the built-in robots are " + names);
  }
  urdf.floating_base = options.floating_base.value_or(false);
  return load_urdf(path, urdf);
}

}  // namespace

Robot load(const std::string& name_or_path, const LoadOptions& options) {
  Robot robot = load_robot(name_or_path, options);
  if (!options.contacts.empty())
    robot.model.contacts = contacts_of(robot, options.contacts, options.sweeps, options.relax);
  return robot;
}

}  // namespace featherstorm
