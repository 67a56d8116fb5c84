// Where the files of a URDF's meshes are.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace featherstorm {

// The file that `name` stands for in a URDF:
//
//   package://robot_description/meshes/arm.stl   in the first of these folders that has it, itself of that name or with a folder of
//                                                that name: `packages`; those of ROS_PACKAGE_PATH, and `share` in those of
//                                                AMENT_PREFIX_PATH; the folders above the URDF
//   file:///..., meshes/arm.stl                  a path, from the URDF's folder on
//
// Else the last part of the name beside the URDF, where MuJoCo looks. Empty where there is no such file.
std::filesystem::path mesh_file(const std::string& name, const std::filesystem::path& urdf,
                                const std::vector<std::filesystem::path>& packages);

}  // namespace featherstorm
