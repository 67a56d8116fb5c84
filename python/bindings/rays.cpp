// Rays against the geoms of a model file, and its range finders, in double.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>

#include "core/joint/ball.h"
#include "host/world/ray_scene.h"
#include "python/bindings/bindings.h"
#include "python/bindings/gil.h"

namespace featherstorm {
namespace {

namespace nb = nanobind;
using nb::literals::operator""_a;

template <class T, class... Shape> using Numbers = nb::ndarray<T, Shape..., nb::c_contig, nb::device::cpu>;
using Row = Numbers<const double, nb::shape<-1, -1>>;  // (instances, n)
using Points = Numbers<const double, nb::shape<-1, -1, 3>>;

void check(bool right, const char* who) {
  if (!right) throw Error(std::string(who) + ": arrays have other shapes than the model's geoms, sites and cameras");
}

// A scene with its range finders.
struct Scene {
  explicit Scene(const MujocoTables& t) : rays(t), finders(range_finders(t)) {}
  RayScene rays;
  std::vector<RangeFinder> finders;
};

// The geoms of instance i.
struct Geoms {
  const Row &position, &rotation;
  const std::optional<Row>& size;
  bool fit(std::size_t n, int geoms) const {
    const auto is = [&](const Row& x, int width) {
      return x.shape(0) == n && x.shape(1) == static_cast<std::size_t>(width) * static_cast<std::size_t>(geoms);
    };
    return is(position, 3) && is(rotation, 9) && (!size || is(*size, 3));
  }
  PlacedGeoms of(std::size_t i) const {
    const auto row = [i](const Row& x) { return x.data() + i * x.shape(1); };
    return {row(position), row(rotation), size ? row(*size) : nullptr};
  }
};

void cast_all(const Scene& s, const Row& position, const Row& rotation, const std::optional<Row>& size,
              const std::vector<bool>& seen, const Numbers<const int, nb::shape<-1, -1>>& excluded, const Points& p,
              const Points& v, const Numbers<double, nb::shape<-1, -1>>& distance,
              const Numbers<int, nb::shape<-1, -1>>& geom, const Numbers<double, nb::shape<-1, -1, 3>>& normal) {
  const std::size_t n = p.shape(0), k = p.shape(1);
  const Geoms geoms{position, rotation, size};
  const auto fits = [&](const auto& x) { return x.shape(0) == n && x.shape(1) == k; };
  check(geoms.fit(n, s.rays.geoms()) && seen.size() == static_cast<std::size_t>(s.rays.geoms()) && fits(v) &&
            fits(distance) && fits(geom) && fits(normal) && fits(excluded),
        "cast");
  const std::vector<char> those(seen.begin(), seen.end());
  const WithoutGil released;
  for (std::size_t i = 0; i < n * k; i++) {
    const SceneHit hit = s.rays.cast(geoms.of(i / k), those, excluded.data()[i], vector_at<double>(p.data() + 3 * i, 0),
                                     vector_at<double>(v.data() + 3 * i, 0));
    distance.data()[i] = hit.distance, geom.data()[i] = hit.geom;
    for (int c = 0; c < 3; c++) normal.data()[3 * i + static_cast<std::size_t>(c)] = hit.normal(c);
  }
}

// places: positions and rotations of sites, then of cameras
void measure_all(const Scene& s, const Row& position, const Row& rotation, const std::optional<Row>& size,
                 const std::vector<std::optional<Row>>& places, const Numbers<double, nb::shape<-1, -1>>& data) {
  const std::size_t n = data.shape(0);
  const Geoms geoms{position, rotation, size};
  check(geoms.fit(n, s.rays.geoms()) && places.size() == 4, "measure");
  for (const RangeFinder& f : s.finders) {
    const std::size_t last = static_cast<std::size_t>(f.object) + 1;
    for (std::size_t k = 0; k < 2; k++) {
      const std::optional<Row>& x = places[2 * f.is_camera + k];
      check(x && x->shape(0) == n && x->shape(1) >= (k == 0 ? 3 : 9) * last &&
                data.shape(1) >= static_cast<std::size_t>(f.first + f.count),
            "measure");
    }
  }
  const WithoutGil released;
  for (std::size_t i = 0; i < n; i++)
    for (const RangeFinder& f : s.finders) {
      const Row &r = *places[2 * f.is_camera], &R = *places[2 * f.is_camera + 1];
      const double* const from = R.data() + i * R.shape(1) + 9 * f.object;
      Placement<double> X;
      for (int k = 0; k < 9; k++) X.R(k / 3, k % 3) = from[k];
      X.r = vector_at<double>(r.data() + i * r.shape(1), 3 * f.object);
      measure(f, s.rays, geoms.of(i), X, data.data() + i * data.shape(1) + f.first);
    }
}

}  // namespace

MujocoTables tables_of(const nb::dict& arrays) {
  MujocoTables t;
  for (const auto& [name, numbers] : arrays) {
    const auto array = nb::cast<Numbers<const double, nb::ndim<1>>>(numbers);
    t.set(nb::cast<std::string>(name), {array.data(), array.data() + array.shape(0)});
  }
  return t;
}

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
  module.attr("ray_tables") = nb::cast(ray_tables());
  nb::class_<Scene>(module, "RayScene",
                    "The geoms of a model file as rays see them, from the arrays `ray_tables` of a compiled model by "
                    "name, flat, as float64.")
      .def(
          "__init__", [](Scene* self, const nb::dict& tables) { new (self) Scene(tables_of(tables)); }, "tables"_a)
      .def_prop_ro("visible",
                   [](const Scene& s) { return std::vector<bool>(s.rays.visible().begin(), s.rays.visible().end()); })
      .def_prop_ro(
          "finders",
          [](const Scene& s) {
            std::vector<int> all;
            for (const RangeFinder& f : s.finders) all.push_back(f.sensor);
            return all;
          },
          "Numbers of the sensors that `measure` measures.")
      .def(
          "cast", cast_all, "position"_a, "rotation"_a, "size"_a.none(), "seen"_a, "excluded"_a, "p"_a, "v"_a,
          "distance"_a, "geom"_a, "normal"_a,
          "Cast rays p + x v (n, k, 3). Positions (n, 3 ngeom), rotations (n, 9 ngeom) and sizes (n, 3 ngeom) are those "
          "of the geoms; seen (ngeom): whether rays see them; excluded (n, k): the body whose geoms a ray does not see. "
          "Writes distances (n, k), -1 without a hit, geoms (n, k) and unit normals (n, k, 3).")
      .def("measure", measure_all, "position"_a, "rotation"_a, "size"_a.none(), "places"_a, "data"_a,
           "Write the readings of range finders into data (n, nsensordata). places: positions and rotations of sites, "
           "then of cameras, (n, 3 count) and (n, 9 count), None where no range finder needs them.");
}

}  // namespace featherstorm
