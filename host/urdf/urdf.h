// The checked contents of a URDF file: links and joints that form one tree. load_urdf turns it into a Model.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace featherstorm {

constexpr std::size_t kMaxUrdfBytes = 64u << 20;  // no robot needs more

// A <collision> element.
struct UrdfShape {
  enum class Kind { kBox, kSphere, kCylinder, kCapsule, kMesh };

  std::string name;  // "" for none
  int line;
  Kind kind = Kind::kBox;
  // Box: half sides. Sphere: radius. Cylinder, capsule: radius and half the length along z. Mesh: scale. [m]
  Eigen::Vector3d size = Eigen::Vector3d::Zero();
  std::string file = {};                                   // file of a mesh, as written in the URDF
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();  // shape axes to link axes
  Eigen::Vector3d translation = Eigen::Vector3d::Zero();   // origin of the shape in the link [m]
};

struct UrdfLink {
  std::string name;
  int line;                                           // in the file
  double mass = 0;                                    // [kg]; 0 for a link that is only a frame
  Eigen::Vector3d com = Eigen::Vector3d::Zero();      // centre of mass, link frame [m]
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  // about the centre of mass, link axes [kg m^2]
  double triangle_excess = 0;                         // excess of the largest principal moment over the sum
                                                      // of the others, relative to it; 0 for a possible body
  int joint = -1;                                     // index of the joint above, -1 for the root
  std::vector<UrdfShape> collisions{};                // in the file's order, if they are read
};

enum class UrdfJointType { kFixed, kRevolute, kContinuous, kPrismatic, kPlanar, kFloating };

struct UrdfMimic {
  int joint;  // index of the joint that this one copies: q = multiplier * q[joint] + offset
  double multiplier, offset;
};

struct UrdfJoint {
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  std::string name;
  int line;
  UrdfJointType type = UrdfJointType::kFixed;
  int parent = -1, child = -1;                             // indices of links
  Eigen::Matrix3d rotation = Eigen::Matrix3d::Identity();  // joint axes to parent link axes, R = Rz(y) Ry(p) Rx(r)
  Eigen::Vector3d translation = Eigen::Vector3d::Zero();   // joint origin in the parent link [m]
  Eigen::Vector3d axis = Eigen::Vector3d::UnitX();         // unit vector, joint frame; a planar joint's normal
  double lower = -kUnlimited, upper = kUnlimited;          // [rad or m]
  double effort = kUnlimited, velocity = kUnlimited;       // [N m or N], [rad/s or m/s]
  double damping = 0, friction = 0, armature = 0;          // [N m s/rad or N s/m], [N m or N], [kg m^2 or kg]
  std::optional<UrdfMimic> mimic = std::nullopt;
};

struct Urdf {
  std::string name;
  std::vector<UrdfLink> links;       // in the file's order
  std::vector<UrdfJoint> joints;     // in the file's order
  int root = 0;                      // index of the link that no joint moves
  std::vector<std::string> notices;  // ignored or odd elements, one sentence each
  std::vector<std::string> odd;      // the notices that strict reading refuses
};

struct UrdfReading {
  bool strict = false;      // refuses odd but meaningful input instead of giving a notice
  bool collisions = false;  // reads <collision> elements; otherwise they are ignored with one notice
};

// Reads and checks URDF text. `name` stands for the text in messages: a file name.
// Errors: Error "name:line: element: reason" for anything that is not one tree of links and joints.
Urdf read_urdf(std::string_view text, std::string_view name, const UrdfReading& reading = {});

// The same for a file. Errors: also Error for no file, a directory, a device, a xacro file, one that cannot be read.
Urdf read_urdf_file(const std::filesystem::path& path, const UrdfReading& reading = {});

// The last step of read_urdf: fills `root` and each link's `joint`, and checks that the joints make one tree.
// Errors: Error for two roots, two parents, a loop.
void check_urdf_tree(Urdf& urdf, std::string_view name);

}  // namespace featherstorm
