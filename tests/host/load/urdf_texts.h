// Parts of URDF files for tests of the loader.
#pragma once
#include <string>

namespace featherstorm::testing {

inline const std::string kMass =
    "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>";
inline const std::string kEnds = "<parent link='a'/><child link='b'/>";

inline std::string robot_of(const std::string& inside) { return "<robot name='r'>\n" + inside + "</robot>"; }
// Two links with mass and, on line 4, a joint of `type` between them.
inline std::string two_links(const std::string& type, const std::string& inside = "") {
  return robot_of("<link name='a'>" + kMass + "</link>\n<link name='b'>" + kMass + "</link>\n<joint name='j' type='" +
                  type + "'>" + kEnds + inside + "</joint>\n");
}

}  // namespace featherstorm::testing
