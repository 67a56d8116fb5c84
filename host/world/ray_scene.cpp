#include "host/world/ray_scene.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/collision/ray_surfaces.h"
#include "core/joint/ball.h"
#include "core/world/contacts.h"
#include "host/world/element_name.h"
#include "host/world/world_of.h"

namespace featherstorm {
namespace {

struct Triangles {
  std::vector<Vec3d> vertex;
  std::vector<int> face;  // three corners each
  double radius = 0;      // of a ball about the origin that holds all
};

Triangles triangles_of(const MujocoTables& t, int mesh) {
  Triangles r;
  const int vertex = t.integer("mesh_vertadr", mesh), face = t.integer("mesh_faceadr", mesh);
  for (int k = 0; k < t.integer("mesh_vertnum", mesh); k++) {
    r.vertex.push_back(vector_at<double>(t.row("mesh_vert", vertex + k, 3), 0));
    r.radius = std::max(r.radius, std::sqrt(dot(r.vertex.back(), r.vertex.back())) * (1 + 1e-9));
  }
  for (int k = 0; k < t.integer("mesh_facenum", mesh); k++)
    for (const double corner : t.row("mesh_face", face + k, 3)) {
      if (corner < 0 || corner >= static_cast<double>(r.vertex.size()))
        throw Error("mesh " + std::to_string(mesh) + " has no vertex " + std::to_string(static_cast<int>(corner)));
      r.face.push_back(static_cast<int>(corner));
    }
  return r;
}

bool is_visible(const MujocoTables& t, int geom) {
  const int material = t.integer("geom_matid", geom);
  return (material < 0 ? t.row("geom_rgba", geom, 4) : t.row("mat_rgba", material, 4))[3] != 0;
}

}  // namespace

struct RayScene::Implementation {
  struct Shape {
    GeomType type;
    Vec3d size;
    int body, data;
    std::string name;
  };
  std::vector<Shape> geom;
  std::vector<char> visible;
  std::map<int, Triangles> mesh;
  std::map<int, HeightField<double>> field;

  RayHit<double> hit(const Shape& g, const Vec3d& size, const Vec3d& p, const Vec3d& v) const {
    if (g.type == GeomType::Mesh) {
      const Triangles& m = mesh.at(g.data);
      const auto corner = [&](int k) { return m.vertex[static_cast<std::size_t>(k)]; };
      return ray_mesh<double>(corner, m.face.data(), static_cast<int>(m.face.size() / 3), m.radius, p, v);
    }
    if (g.type == GeomType::HeightField) return RaysOfHeightField<double>(field.at(g.data))(p, v);
    if (!has_closed_ray(g.type))
      throw Error("ray: " + g.name + " is a signed distance field, which rays do not see; exclude its group");
    return ray_geom<double>(g.type, size, p, v);
  }
};

const std::vector<std::string>& ray_tables() {
  static const std::vector<std::string> all = {
      "ngeom",           "geom_type",      "geom_size",       "geom_bodyid",    "geom_dataid",    "geom_matid",
      "geom_rgba",       "name_geomadr",   "names",           "mat_rgba",       "mesh_vert",      "mesh_vertadr",
      "mesh_vertnum",    "mesh_face",      "mesh_faceadr",    "mesh_facenum",   "hfield_size",    "hfield_nrow",
      "hfield_ncol",     "hfield_data",    "hfield_adr",      "nsensor",        "sensor_type",    "sensor_objtype",
      "sensor_objid",    "sensor_adr",     "sensor_dim",      "sensor_intprm",  "sensor_history", "sensor_cutoff",
      "sensor_datatype", "site_bodyid",    "cam_bodyid",      "cam_resolution", "cam_sensorsize", "cam_intrinsic",
      "cam_fovy",        "cam_projection", "opt.disableflags"};
  return all;
}

RayScene::RayScene(const MujocoTables& t) : self_(std::make_unique<Implementation>()) {
  for (int i = 0; i < t.integer("ngeom"); i++) {
    const auto type = static_cast<GeomType>(t.integer("geom_type", i));
    const int data = t.integer("geom_dataid", i);
    if (type == GeomType::Mesh && !self_->mesh.contains(data)) self_->mesh.emplace(data, triangles_of(t, data));
    if (type == GeomType::HeightField && !self_->field.contains(data))
      self_->field.emplace(data, height_field_of(t, data));
    self_->geom.push_back({type, vector_at<double>(t.row("geom_size", i, 3), 0), t.integer("geom_bodyid", i), data,
                           element_name(t, "geom", "name_geomadr", i)});
    self_->visible.push_back(is_visible(t, i));
  }
}
RayScene::~RayScene() = default;
RayScene::RayScene(RayScene&&) noexcept = default;

int RayScene::geoms() const { return static_cast<int>(self_->geom.size()); }
const std::vector<char>& RayScene::visible() const { return self_->visible; }

SceneHit RayScene::cast(const PlacedGeoms& placed, const std::vector<char>& seen, int excluded_body, const Vec3d& p,
                        const Vec3d& v) const {
  SceneHit nearest;
  if (!p.allFinite() || !v.allFinite()) return nearest;
  double best = far_away;
  Vec3d normal = zero3<double>();
  for (std::size_t g = 0; g < self_->geom.size(); g++) {
    const Implementation::Shape& shape = self_->geom[g];
    if (!seen[g] || shape.body == excluded_body) continue;
    const double* const R = placed.rotation + 9 * g;
    const Mat3d to_world = rows<double>(R[0], R[1], R[2], R[3], R[4], R[5], R[6], R[7], R[8]);
    const Vec3d from =
        transpose_times(to_world, Vec3d(p - vector_at<double>(placed.position, 3 * static_cast<int>(g))));
    const Vec3d size = placed.size ? vector_at<double>(placed.size, 3 * static_cast<int>(g)) : shape.size;
    const RayHit<double> hit = self_->hit(shape, size, from, transpose_times(to_world, v));
    if (!(hit.x < best)) continue;
    best = hit.x, nearest.geom = static_cast<int>(g), normal = to_world * hit.normal;
  }
  if (nearest.geom < 0) return nearest;
  const double length = std::sqrt(dot(normal, normal));
  nearest.distance = best;
  if (length > 0) nearest.normal = normal * (1 / length);
  return nearest;
}

namespace {

constexpr int of_camera = 7, range_sensor = 7, orthographic = 1, no_sensors = 1 << 13;   // mjtObj, mjtSensor, ...
enum Bit { distance_bit, direction_bit, origin_bit, point_bit, normal_bit, depth_bit };  // mjtRayDataField

void set_pixel_rays(RangeFinder& f, const MujocoTables& t) {
  const int k = f.object, width = static_cast<int>(t.row("cam_resolution", k, 2)[0]),
            height = static_cast<int>(t.row("cam_resolution", k, 2)[1]);
  const double size[2] = {static_cast<double>(width), static_cast<double>(height)}, fovy = t.real("cam_fovy", k);
  const auto [focal, middle] = lens_of(t, k);
  for (int row = 0; row < height; row++)
    for (int column = 0; column < width; column++) {
      const double pixel[2] = {column + 0.5, row + 0.5};
      double along[2];
      if (t.integer("cam_projection", k) == orthographic) {
        for (int i = 0; i < 2; i++) along[i] = (pixel[i] / (size[i] / 2) - 1) * fovy / 2;
        f.origin.push_back({along[0], -along[1], 0}), f.direction.push_back({0, 0, -1});
        continue;
      }
      for (std::size_t i = 0; i < 2; i++) along[i] = (pixel[i] - middle[i]) / focal[i];
      const Vec3d v{along[0], -along[1], -1};
      f.origin.push_back(zero3<double>()), f.direction.push_back(v * (1 / std::sqrt(dot(v, v))));
    }
}

}  // namespace

std::vector<RangeFinder> range_finders(const MujocoTables& t) {
  std::vector<RangeFinder> all;
  if (!t.has("nsensor") || (t.integer("opt.disableflags") & no_sensors) != 0) return all;
  for (int i = 0; i < t.integer("nsensor"); i++) {
    if (t.integer("sensor_type", i) != range_sensor || t.row("sensor_history", i, 2)[0] > 0) continue;
    RangeFinder f;
    f.sensor = i, f.first = t.integer("sensor_adr", i), f.count = t.integer("sensor_dim", i);
    f.object = t.integer("sensor_objid", i), f.is_camera = t.integer("sensor_objtype", i) == of_camera;
    f.body = t.integer(f.is_camera ? "cam_bodyid" : "site_bodyid", f.object);
    f.data = static_cast<int>(t.row("sensor_intprm", i, 3)[0]);
    const int type = t.integer("sensor_datatype", i);
    f.positive = type == 1;
    f.cutoff = type <= 1 ? std::max(t.real("sensor_cutoff", i), 0.0) : 0;
    if (f.is_camera) set_pixel_rays(f, t);
    else f.origin = {zero3<double>()}, f.direction = {Vec3d{0, 0, 1}};
    all.push_back(std::move(f));
  }
  return all;
}

void measure(const RangeFinder& f, const RayScene& scene, const PlacedGeoms& placed, const Placement<double>& X,
             double* data) {
  double* to = data;
  const auto put = [&](double x) {
    if (to == data + f.count) return;
    if (f.cutoff > 0) x = std::min(x, f.cutoff);
    *to++ = f.cutoff > 0 && !f.positive ? std::max(x, -f.cutoff) : x;
  };
  const auto put_vector = [&](const Vec3d& x) { put(x.x()), put(x.y()), put(x.z()); };
  for (std::size_t k = 0; k < f.origin.size(); k++) {
    const Vec3d p = X.r + X.R * f.origin[k], v = X.R * f.direction[k];
    const SceneHit hit = scene.cast(placed, scene.visible(), f.body, p, v);
    const bool met = hit.geom >= 0;
    const Vec3d none = zero3<double>(), point = met ? Vec3d(p + v * hit.distance) : none;
    const Vec3d z{X.R(0, 2), X.R(1, 2), X.R(2, 2)};
    const auto asked = [&](Bit bit) { return (f.data >> bit & 1) != 0; };
    if (asked(distance_bit)) put(hit.distance);
    if (asked(direction_bit)) put_vector(met ? v : none);
    if (asked(origin_bit)) put_vector(p);
    if (asked(point_bit)) put_vector(point);
    if (asked(normal_bit)) put_vector(hit.normal);
    // of a camera along its axis
    if (asked(depth_bit)) put(f.is_camera && met ? -dot(Vec3d(point - X.r), z) : hit.distance);
  }
}

}  // namespace featherstorm
