// Meshes of a URDF's geoms in the tables of a world (urdf_world.h). The hull of each mesh is stored once.
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
    Placement<double> X{};        // axes of the hull in those of the mesh
    Vec3d reach = Vec3d::Zero();  // largest coordinates [m]
  };

  // The arguments must outlive this object.
  UrdfMeshes(const UrdfWorldSource& source, const UrdfWorld& world, TableWriter& tables)
      : source_(source), world_(world), t_(tables) {}

  // The mesh of a shape; null, with a notice, if it cannot be read. Throws Error in strict mode instead.
  const Mesh* of(const UrdfLink& link, const UrdfShape& shape);

  int count() const { return count_; }
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  bool is_special(const std::string& name) const;
  void write_hull(const MeshHull& hull, Mesh& mesh);

  const UrdfWorldSource& source_;
  const UrdfWorld& world_;
  TableWriter& t_;
  std::map<std::pair<std::string, std::array<double, 3>>, Mesh> mesh_;  // by file and scale
  int count_ = 0;
  std::vector<std::string> notices_;
};

}  // namespace featherstorm
