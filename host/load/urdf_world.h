// The world of a URDF's robot: what its <collision> elements touch, limits and dry friction of its joints, equalities that hold
// its mimic joints, drives.
//
// MuJoCo's compiler reads URDF as well; the world here is the one that it makes of the same file, with its defaults for what a
// URDF cannot say (friction 1, solref, solimp, pyramids, a timestep of 2 ms).
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
  Placement<double> X = identity_placement<double>();  // axes that it has here, in those of the mesh
  std::vector<Vec3d> corner;                           // [m]
  std::vector<HullPolygon<double>> polygon;
  // Of each corner those at the other ends of its edges; empty: as the polygons have them, which may be of faces nearly in one plane.
  std::vector<std::vector<int>> neighbour{};
};
// Reads a mesh, whose coordinates are multiplied by `scale`, and finds its hull. Throws std::exception where it cannot.
using HullReader = std::function<MeshHull(const std::filesystem::path& file, const Vec3d& scale)>;

struct UrdfWorld {
  bool ground = false;  // a horizontal plane at z = 0, "ground"
  // Of each joint with one freedom that mimics no other: controls are efforts, within its limit.
  bool motors = false;
  double timestep = 0.002;                        // [s]
  std::vector<std::filesystem::path> packages{};  // folders of packages, for meshes (host/urdf/mesh_file.h)
  HullReader hull{};                              // of meshes; none: they touch nothing, with a notice
};

// How the world is made of a file.
struct UrdfWorldSource {
  const Urdf& urdf;                     // with its collisions
  const std::vector<UrdfBody>& bodies;  // of it
  std::filesystem::path file;           // meshes are looked for from here on
  std::string name;                     // of the file, for messages
  bool strict = false;                  // a mesh that touches nothing is an error
};

// The robot of a URDF with its world. The bodies of the world are the links that move; a geom has the name of its <collision> element,
// else of its link, from the second one of a link on with a number.
// Errors: Error for a planar joint, and for what is left out where `strict`.
Robot with_urdf_world(const Robot& robot, const UrdfWorldSource& source, const UrdfWorld& world);

}  // namespace featherstorm
