#include "host/load/urdf_meshes.h"

#include "host/urdf/mesh_file.h"
#include "host/urdf/urdf_text.h"

namespace featherstorm {

using urdf::quote;

// True if the name, beside the URDF, is that of a pipe, a device or a folder.
bool UrdfMeshes::is_special(const std::string& name) const {
  const std::filesystem::path beside = source_.file.parent_path();
  std::error_code error;
  return std::filesystem::exists(beside / name, error) ||
         std::filesystem::exists(beside / std::filesystem::path(name).filename(), error);
}

const UrdfMeshes::Mesh* UrdfMeshes::of(const UrdfLink& link, const UrdfShape& shape) {
  const std::filesystem::path file = mesh_file(shape.file, source_.file, world_.packages);
  const std::array<double, 3> scale = {shape.size[0], shape.size[1], shape.size[2]};
  const auto [at, is_new] = mesh_.try_emplace({file.empty() ? shape.file : file.string(), scale});
  Mesh& mesh = at->second;
  if (!is_new) return mesh.number < 0 ? nullptr : &mesh;
  std::string why;
  if (file.empty()) why = is_special(shape.file) ? "it is not a regular file" : "there is no such file";
  else if (!world_.hull) why = "meshes have no contacts without a reader of hulls (UrdfWorld::hull)";
  else try {
      const MeshHull hull = world_.hull(file, shape.size);
      mesh.number = count_++, mesh.X = hull.X;
      write_hull(hull, mesh);
      return &mesh;
    } catch (const std::bad_alloc&) { throw; } catch (const std::exception& e) {
      why = e.what();
    }
  const std::string said = "link " + quote(link.name) + ": mesh " + quote(shape.file) + " touches nothing: " + why;
  if (source_.strict) urdf::fail(source_.name, shape.line, said);
  notices_.push_back(said);
  return nullptr;
}

void UrdfMeshes::write_hull(const MeshHull& hull, Mesh& mesh) {
  const auto list = [](const Vec3d& r) { return TableWriter::Numbers{r[0], r[1], r[2]}; };
  t_.add("mesh_vertadr", {double(t_.rows("mesh_vert", 3))}), t_.add("mesh_vertnum", {double(hull.corner.size())});
  t_.add("mesh_polyadr", {double(t_.rows("mesh_polyvertadr", 1))});
  t_.add("mesh_polynum", {double(hull.polygon.size())});
  for (const Vec3d& r : hull.corner) {
    t_.add("mesh_vert", list(r));
    mesh.reach = mesh.reach.cwiseMax(r.cwiseAbs());
  }
  for (const HullPolygon<double>& p : hull.polygon) {
    t_.add("mesh_polynormal", list(p.normal));
    t_.add("mesh_polyvertadr", {double(t_.rows("mesh_polyvert", 1))});
    t_.add("mesh_polyvertnum", {double(p.corner.size())});
    t_.add("mesh_polyvert", {p.corner.begin(), p.corner.end()});
  }
  // as MuJoCo stores the hull's edges (mjModel.mesh_graph), without the faces
  t_.add("mesh_graphadr", {hull.neighbour.empty() ? -1.0 : double(t_.rows("mesh_graph", 1))});
  if (hull.neighbour.empty()) return;
  std::vector<double> begins, vertices, ends;
  for (std::size_t i = 0; i < hull.neighbour.size(); i++) {
    begins.push_back(double(ends.size())), vertices.push_back(double(i));
    ends.insert(ends.end(), hull.neighbour[i].begin(), hull.neighbour[i].end()), ends.push_back(-1);
  }
  t_.add("mesh_graph", {double(begins.size()), 0});
  for (const auto* numbers : {&begins, &vertices, &ends}) t_.add("mesh_graph", *numbers);
}

}  // namespace featherstorm
