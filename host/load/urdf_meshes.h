// The meshes of a URDF's geoms in a world's tables (urdf_world.h): the hull of each, once.
#pragma once
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "host/load/table_writer.h"
#include "host/load/urdf_world.h"
#include "host/urdf/urdf.h"

namespace featherstorm {

class UrdfMeshes {
 public:
  struct Mesh {
    int number = -1;
    Placement<double> X{};        // its hull's axes in the mesh's
    Vec3d reach = Vec3d::Zero();  // the greatest coordinates [m]
  };

  // All three must stay.
  UrdfMeshes(const UrdfWorldSource& source, const UrdfWorld& world, TableWriter& tables)
      : source_(source), world_(world), t_(tables) {}

  // That of a shape, which is a mesh; null where it cannot be had, which a notice tells. Throws Error where notices are errors.
  const Mesh* of(const UrdfLink& link, const UrdfShape& shape);

  int count() const { return count_; }
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  void write_hull(const MeshHull& hull, Mesh& mesh);

  const UrdfWorldSource& source_;
  const UrdfWorld& world_;
  TableWriter& t_;
  std::map<std::pair<std::string, std::array<double, 3>>, Mesh> mesh_;  // by file and scale
  int count_ = 0;
  std::vector<std::string> notices_;
};

}  // namespace featherstorm
