// The built-in robots: names, files, and whether the base usually floats.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace featherstorm {

struct BuiltinRobot {
  std::string_view name;         // name typed by the user: "go2"
  std::string_view file;         // file name inside the robot directory
  std::string_view description;  // maker, kind, number of joint coordinates
  bool floating;                 // true if the base usually floats; URDF cannot state this
};

// All built-in robots, in order of the number of joint coordinates.
std::span<const BuiltinRobot> builtin_robots();

// The entry of `name`. Throws Error that lists the known names.
const BuiltinRobot& builtin_robot(std::string_view name);

// The folder of the robot files: $FEATHERSTORM_ROBOTS if it is set and not empty, else `robots` in the installation
// (installation.h), else the folder in the source tree.
std::filesystem::path robot_directory();

// The file of the built-in robot `name` in `directory`. Throws Error if the name is unknown or the file does not
// exist.
std::filesystem::path robot_file(std::string_view name, const std::filesystem::path& directory = robot_directory());

}  // namespace featherstorm
