// Finds the files of a URDF's meshes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace featherstorm {

// Finds the file for `name` in a URDF:
//
//   package://robot_description/meshes/arm.stl   a file of the package robot_description
//   file:///..., meshes/arm.stl                  a path, relative to the URDF's folder
//
// Packages are searched in `packages`, then in the folders of ROS_PACKAGE_PATH, in `share` of the folders of
// AMENT_PREFIX_PATH, and in the folders above the URDF. A folder matches if it has the package's name or contains a
// folder of that name.
//
// If this finds nothing, the last part of the name beside the URDF, where MuJoCo searches. Empty if there is no such
// file.
std::filesystem::path mesh_file(const std::string& name, const std::filesystem::path& urdf,
                                const std::vector<std::filesystem::path>& packages);

}  // namespace featherstorm
