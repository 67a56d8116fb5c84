// The geoms of a model file as rays see them [mj_ray], and the range finders that cast rays from sites and cameras.
//
// A ray p + x v, x >= 0, meets the surface of a geom: of solids in closed form, meshes and height fields by their
// triangles. Everything is in double and in world axes.
#pragma once
#include <memory>
#include <vector>

#include "core/collision/ray.h"
#include "core/model/builder.h"
#include "host/world/mujoco_tables.h"

namespace featherstorm {

// Tables of a compiled model that rays and range finders read.
const std::vector<std::string>& ray_tables();

// Placements of the geoms of one instance, and their sizes if these differ from the file's.
struct PlacedGeoms {
  const double *position, *rotation;  // (geoms, 3) [m], (geoms, 9) row by row
  const double* size = nullptr;       // (geoms, 3) or null
};

struct SceneHit {
  double distance = -1;  // x of the nearest hit, or -1
  int geom = -1;
  Vec3d normal = zero3<double>();  // outward, of unit length
};

class RayScene {
 public:
  // Throws Error for a missing table.
  explicit RayScene(const MujocoTables& tables);
  ~RayScene();
  RayScene(RayScene&&) noexcept;

  int geoms() const;
  // Return the nearest hit of a ray. Without finite numbers a ray hits nothing.
  //
  // in   seen (geoms)   0 for geoms that the ray does not see
  // in   excluded_body  its geoms are not seen, -1: none
  // Throws Error if a signed distance field is seen.
  SceneHit cast(const PlacedGeoms& placed, const std::vector<char>& seen, int excluded_body, const Vec3d& p,
                const Vec3d& v) const;
  // Return 1 for each geom that is not transparent, else 0.
  const std::vector<char>& visible() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

// A sensor that casts rays. A site casts one along its z axis. A camera casts one through the middle of each pixel (column,
// row), row 0 at the top, along ((column + 0.5 - c_x) / f_x, -(row + 0.5 - c_y) / f_y, -1); the rays of an orthographic
// camera are parallel. Geoms of the body that carries it are not seen.
struct RangeFinder {
  int sensor = 0;
  int first = 0, count = 0;  // its numbers in sensordata
  int object = 0;            // the site or the camera
  int body = 0;              // that carries it
  bool is_camera = false;
  int data = 0;                          // bits of mjtRayDataField
  bool positive = false;                 // true if the cutoff applies only above
  double cutoff = 0;                     // 0: none
  std::vector<Vec3d> origin, direction;  // of its rays, axes of the object
};

// Return the range finders of a model, except those with a history. Throws Error for a missing table.
std::vector<RangeFinder> range_finders(const MujocoTables& tables);

// Measure a range finder.
//
// in   X                placement of its object
// out  data (f.count)   for each ray those asked for of distance, direction, origin, point, normal and depth; -1 and
//                       zeros without a hit, except for the origin
void measure(const RangeFinder& f, const RayScene& scene, const PlacedGeoms& placed, const Placement<double>& X,
             double* data);

}  // namespace featherstorm
