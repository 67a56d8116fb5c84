#include "host/urdf/mesh_file.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace featherstorm {

namespace {

using Path = std::filesystem::path;

// The folders in an environment variable, separated by colons.
std::vector<Path> folders_of(const char* variable) {
  std::vector<Path> folders;
  const char* value = std::getenv(variable);
  for (std::string_view rest = value ? value : ""; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    if (!folder.empty()) folders.emplace_back(folder);
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
  }
  return folders;
}

bool is_file(const Path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// The path `rest` of a package in one of the folders; empty if no folder has it.
Path in_package(const std::vector<Path>& folders, const Path& package, const Path& rest) {
  for (const Path& folder : folders) {
    if (is_file(folder / package / rest)) return folder / package / rest;
    const Path name = folder.has_filename() ? folder.filename() : folder.parent_path().filename();
    if (name == package && is_file(folder / rest)) return folder / rest;
  }
  return {};
}

}  // namespace

Path mesh_file(const std::string& name, const Path& urdf, const std::vector<Path>& packages) {
  std::error_code error;
  Path folder = std::filesystem::absolute(urdf, error).lexically_normal().parent_path();
  const Path beside = folder / Path(name).filename();
  for (const std::string_view scheme : {"package://", "model://"}) {
    if (!std::string_view(name).starts_with(scheme)) continue;
    const std::string inside = name.substr(scheme.size());
    const std::size_t slash = inside.find('/');
    if (slash == inside.npos || slash == 0) return {};
    std::vector<Path> folders = packages;
    for (const Path& f : folders_of("ROS_PACKAGE_PATH")) folders.push_back(f);
    for (const Path& f : folders_of("AMENT_PREFIX_PATH")) folders.push_back(f / "share");
    for (;; folder = folder.parent_path()) {
      folders.push_back(folder);
      if (folder == folder.parent_path()) break;
    }
    const Path found = in_package(folders, inside.substr(0, slash), inside.substr(slash + 1));
    return found.empty() && is_file(beside) ? beside : found;
  }
  Path path = (folder / (name.starts_with("file://") ? name.substr(7) : name)).lexically_normal();
  if (is_file(path)) return path;
  return is_file(beside) ? beside : Path();
}

}  // namespace featherstorm
