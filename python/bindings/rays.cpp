// Rays against geoms, in double.
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>

#include "core/collision/ray_surfaces.h"
#include "host/system/error.h"
#include "python/bindings/bindings.h"

namespace featherstorm {
namespace {

namespace nb = nanobind;
using nb::literals::operator""_a;

template <class T, class Shape> using Numbers = nb::ndarray<T, Shape, nb::c_contig, nb::device::cpu>;
using Points = Numbers<const double, nb::shape<-1, -1, 3>>;
using Distances = Numbers<double, nb::shape<-1, -1>>;
using Normals = Numbers<double, nb::shape<-1, -1, 3>>;

Vec3<double> vector_at(const double* x) { return {x[0], x[1], x[2]}; }

// ray(instance, p, v) returns the hit of a ray. A ray whose numbers are not finite has none.
void cast_all(const Points& p, const Points& v, const Distances& distance, const Normals& normal, const auto& ray) {
  const std::size_t n = p.shape(0), k = p.shape(1);
  for (const auto* a : {v.shape_ptr(), distance.shape_ptr(), normal.shape_ptr()})
    if (a[0] != static_cast<std::int64_t>(n) || a[1] != static_cast<std::int64_t>(k))
      throw Error("rays: arrays of different shapes");
  const nb::gil_scoped_release released;
  for (std::size_t i = 0; i < n * k; i++) {
    const Vec3<double> from = vector_at(p.data() + 3 * i), along = vector_at(v.data() + 3 * i);
    RayHit<double> hit{far_away, zero3<double>()};
    if (from.allFinite() && along.allFinite()) hit = ray(i / k, from, along);
    const bool met = hit.x < far_away;
    const double length = std::sqrt(dot(hit.normal, hit.normal)), over = met && length > 0 ? 1 / length : 0.0;
    distance.data()[i] = met ? hit.x : HUGE_VAL;
    for (int c = 0; c < 3; c++) normal.data()[3 * i + static_cast<std::size_t>(c)] = hit.normal(c) * over;
  }
}

}  // namespace

void check_closed_ray(int type) {
  if (type < 0 || type > static_cast<int>(GeomType::SignedDistance) || !has_closed_ray(static_cast<GeomType>(type)))
    throw Error("ray: geom type " + std::to_string(type) +
                " has no rays in closed form, expected a plane, sphere, capsule, ellipsoid, cylinder or box");
}

void bind_rays(nb::module_& module) {
  nb::list closed;
  for (int type = 0; type <= static_cast<int>(GeomType::SignedDistance); type++)
    if (has_closed_ray(static_cast<GeomType>(type))) closed.append(type);
  module.attr("closed_rays") = nb::tuple(closed);  // numbers of mjtGeom
  module.def(
      "rays",
      [](int type, const Numbers<const double, nb::shape<-1, 3>>& size, const Points& p, const Points& v,
         const Distances& distance, const Normals& normal) {
        check_closed_ray(type);
        if (size.shape(0) != 1 && size.shape(0) != p.shape(0)) throw Error("rays: sizes of other instances");
        cast_all(p, v, distance, normal, [&](std::size_t i, const auto& from, const auto& along) {
          const double* s = size.data() + (size.shape(0) == 1 ? 0 : 3 * i);
          return ray_geom<double>(static_cast<GeomType>(type), vector_at(s), from, along);
        });
      },
      "type"_a, "size"_a, "p"_a, "v"_a, "distance"_a, "normal"_a,
      "Cast rays p + x v (n, k, 3) in the axes of a geom whose type is in closed_rays; size "
      "(n or 1, 3). Writes x (n, k), infinite without a hit, and the unit normal (n, k, 3).");
  module.def(
      "rays_of_mesh",
      [](const Numbers<const double, nb::shape<-1, 3>>& vertex, const Numbers<const int, nb::shape<-1, 3>>& face,
         const Points& p, const Points& v, const Distances& distance, const Normals& normal) {
        const auto corner = [&](int k) { return vector_at(vertex.data() + 3 * k); };
        const int vertices = static_cast<int>(vertex.shape(0)), faces = static_cast<int>(face.shape(0));
        double square = 0;
        for (int k = 0; k < vertices; k++) square = std::max(square, dot(corner(k), corner(k)));
        for (int k = 0; k < 3 * faces; k++)
          if (face.data()[k] < 0 || face.data()[k] >= vertices) throw Error("rays_of_mesh: a face has no such vertex");
        const double radius = std::sqrt(square) * (1 + 1e-9);
        cast_all(p, v, distance, normal, [&](std::size_t, const auto& from, const auto& along) {
          return ray_mesh(corner, face.data(), faces, radius, from, along);
        });
      },
      "vertex"_a, "face"_a, "p"_a, "v"_a, "distance"_a, "normal"_a, "As rays, for triangles seen from both sides.");
  module.def(
      "rays_of_height_field",
      [](const Numbers<const double, nb::shape<4>>& size, const Numbers<const double, nb::shape<-1, -1>>& heights,
         const Points& p, const Points& v, const Distances& distance, const Normals& normal) {
        const int rows = static_cast<int>(heights.shape(0)), columns = static_cast<int>(heights.shape(1));
        if (rows < 2 || columns < 2) throw Error("rays_of_height_field: expected 2 rows and 2 columns or more");
        const HeightField<double> field{
            rows, columns, size(0), size(1), size(2), size(3), {heights.data(), heights.data() + heights.size()}};
        cast_all(p, v, distance, normal,
                 [&, rays = RaysOfHeightField<double>(field)](std::size_t, const auto& from, const auto& along) {
                   return rays(from, along);
                 });
      },
      "size"_a, "heights"_a, "p"_a, "v"_a, "distance"_a, "normal"_a,
      "As rays, for a height field [hfield_size]; heights (rows along y, columns along x), 0 to 1.");
}

}  // namespace featherstorm
