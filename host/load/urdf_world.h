// The world of a URDF's robot: contacts of its <collision> elements, limits and dry friction of its joints, equalities
// for its mimic joints, drives.
//
// MuJoCo's compiler reads URDF as well. This world equals the one that MuJoCo compiles from the same file, with
// MuJoCo's defaults for properties that a URDF cannot state (friction 1, solref, solimp, pyramids, a timestep of 2
// ms).
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "core/model/builder.h"
#include "core/world/hull.h"

namespace featherstorm {

struct Urdf;
struct UrdfBody;

// The convex hull of a mesh.
struct MeshHull {
  Placement<double> X = identity_placement<double>();  // axes of the hull in those of the mesh
  std::vector<Vec3d> corner;                           // [m]
  std::vector<HullPolygon<double>> polygon;
  // Neighbours of each corner along the edges. Empty: as in the polygons, which may join faces nearly in one plane.
  std::vector<std::vector<int>> neighbour{};
};
// Reads a mesh, multiplies its coordinates by `scale`, and computes its hull. Throws std::exception on failure.
using HullReader = std::function<MeshHull(const std::filesystem::path& file, const Vec3d& scale)>;

struct UrdfWorld {
  bool ground = false;  // a horizontal plane at z = 0, "ground"
  // Adds a motor to each joint with one coordinate that mimics no other. Controls are efforts, within the joint's
  // limit.
  bool motors = false;
  double timestep = 0.002;                        // [s]
  std::vector<std::filesystem::path> packages{};  // folders of packages, for meshes (host/urdf/mesh_file.h)
  HullReader hull{};  // reads hulls of meshes; absent: meshes have no contacts, with a notice
};

// The file from which a world is made.
struct UrdfWorldSource {
  const Urdf& urdf;                     // with its collisions
  const std::vector<UrdfBody>& bodies;  // bodies of the URDF
  std::filesystem::path file;           // meshes are searched relative to it
  std::string name;                     // the file's name for messages
  bool strict = false;                  // a mesh without contacts is an error
};

// The robot of a URDF with its world. The bodies of the world are the links that move. A geom has the name of its
// <collision> element, otherwise the name of its link, with a number from the second geom of a link on.
// Errors: Error for a planar joint; with `strict` also for anything omitted.
Robot with_urdf_world(const Robot& robot, const UrdfWorldSource& source, const UrdfWorld& world);

}  // namespace featherstorm
