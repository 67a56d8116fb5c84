#include "host/robots/robots.h"

#include <array>
#include <cstdlib>
#include <string>

#include "host/system/error.h"
#include "host/system/installation.h"

namespace featherstorm {

namespace {

constexpr std::array<BuiltinRobot, 11> kRobots{{
    {"cartpole", "cartpole.urdf", "cart-pole of the DeepMind Control Suite, 2 dofs", false},
    {"double_pendulum", "double_pendulum.urdf", "two-link pendulum, 2 dofs", false},
    {"ur5", "ur5.urdf", "Universal Robots UR5 arm, 6 dofs", false},
    {"iiwa14", "iiwa14.urdf", "KUKA LBR iiwa 14 arm, 7 dofs", false},
    {"panda", "panda.urdf", "Franka Emika Panda arm with hand, 9 dofs", false},
    {"go2", "go2.urdf", "Unitree Go2 quadruped, 12 dofs", true},
    {"hyq", "hyq.urdf", "IIT HyQ quadruped, 12 dofs", true},
    {"anymal_c", "anymal_c.urdf", "ANYbotics ANYmal C quadruped, 12 dofs", true},
    {"humanoid", "humanoid.urdf", "MuJoCo humanoid, 21 dofs", true},
    {"g1", "g1.urdf", "Unitree G1 humanoid, 29 dofs", true},
    {"atlas", "atlas.urdf", "Boston Dynamics Atlas (DRC) humanoid, 30 dofs", true},
}};

}  // namespace

std::span<const BuiltinRobot> builtin_robots() { return kRobots; }

const BuiltinRobot& builtin_robot(std::string_view name) {
  for (const BuiltinRobot& robot : kRobots)
    if (robot.name == name) return robot;
  std::string known;
  for (const BuiltinRobot& robot : kRobots) known += (known.empty() ? "" : ", ") + std::string(robot.name);
  throw Error("robot '" + std::string(name.substr(0, 100)) + "' is not built in; the built-in robots are " + known);
}

std::filesystem::path robot_directory() {
  if (const char* directory = std::getenv("FEATHERSTORM_ROBOTS"); directory && *directory) return directory;
  for (const std::filesystem::path& folder : installation_folders()) {
    std::error_code error;
    if (std::filesystem::is_directory(folder / "robots", error)) return folder / "robots";
  }
  return FEATHERSTORM_ROBOT_DIR;
}

std::filesystem::path robot_file(std::string_view name, const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / builtin_robot(name).file;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error))
    throw Error("robot '" + std::string(name) + "': " + file.string() +
                " does not exist; set FEATHERSTORM_ROBOTS to the directory of the built-in robots");
  return file;
}

}  // namespace featherstorm
