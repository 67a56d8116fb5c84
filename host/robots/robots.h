// The robots that come with featherstorm: names, files, and whether the base usually floats.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace featherstorm {

struct BuiltinRobot {
  std::string_view name;         // what the user types: "go2"
  std::string_view file;         // file name inside the robot directory
  std::string_view description;  // maker, kind, number of joint dofs
  bool floating;                 // whether the base usually floats; URDF cannot say, so load_urdf is told
};

// All built-in robots, by number of dofs.
std::span<const BuiltinRobot> builtin_robots();

// The row of `name`. Throws Error that lists the known names.
const BuiltinRobot& builtin_robot(std::string_view name);

// Where the files are: $FEATHERSTORM_ROBOTS if it is set and not empty, else `robots` in the installation (installation.h),
// else among the sources.
std::filesystem::path robot_directory();

// The file of the built-in robot `name` in `directory`. Throws Error if the name is unknown or the file is not there.
std::filesystem::path robot_file(std::string_view name, const std::filesystem::path& directory = robot_directory());

}  // namespace featherstorm
