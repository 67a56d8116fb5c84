// A convex mesh: its corners and faces, for contacts with planes and with other convex shapes.
//
// A face that lies on a plane touches it with up to four of its corners: the lowest one and three more, its companions.
// They are the same whenever that corner is the lowest and that face points down most. They are therefore chosen once,
// when the hull is built.
#pragma once
#include <set>
#include <type_traits>
#include <vector>

#include "core/spatial/transform.h"

namespace featherstorm {

// A face adjacent to a corner.
template <class P> struct HullFace {
  int polygon = 0;         // its index in the hull
  Vec3<P> normal;          // outward, unit
  int companions = 0;      // up to 3
  Vec3<P> companion[3]{};  // the other corners that touch [m]
};
template <class P> struct HullCorner {
  Vec3<P> r;  // [m]
  std::vector<HullFace<P>> face;
};
template <class P> struct HullPolygon {
  Vec3<P> normal;           // outward, unit
  std::vector<int> corner;  // anticlockwise, seen from outside
};
template <class P> struct Hull {
  std::vector<HullCorner<P>> corner;
  std::vector<HullPolygon<P>> polygon;
  std::vector<int> neighbour;        // for each corner in turn, the corners at the other ends of its edges
  std::vector<int> first_neighbour;  // (corners + 1) index of each corner's first neighbour
  P reach{};                         // no corner is farther from the mesh's origin [m]
};

template <class P, class S> HullFace<P> cast(const HullFace<S>& f) {
  return {f.polygon,
          cast<P>(f.normal),
          f.companions,
          {cast<P>(f.companion[0]), cast<P>(f.companion[1]), cast<P>(f.companion[2])}};
}
template <class P, class S> Hull<P> cast(const Hull<S>& h) {
  Hull<P> r;
  for (const auto& c : h.corner) {
    r.corner.push_back({cast<P>(c.r), {}});
    for (const auto& f : c.face) r.corner.back().face.push_back(cast<P>(f));
  }
  for (const auto& p : h.polygon) r.polygon.push_back({cast<P>(p.normal), p.corner});
  r.neighbour = h.neighbour, r.first_neighbour = h.first_neighbour, r.reach = P(h.reach);
  return r;
}

// Scalar of meshes and height fields in a world of P. They are never traced, so worlds share them.
template <class P> using ShapeNumber = std::conditional_t<std::is_floating_point_v<P>, P, double>;

// Four corners of a polygon, at(i), that span a large area. The search is MuJoCo's: it starts with each of the first
// `starts` corners and the three after it. It advances the last, the third and the second corner while the area grows.
template <class T> struct WideCorners { int i[4] = {0, 1, 2, 3}; };
template <class T> FS_HD WideCorners<T> wide_corners(int n, int starts, auto&& at) {
  const auto area = [&](const int (&i)[4]) {
    const Vec3<T> x = cross(Vec3<T>(at(i[0]) - at(i[2])), Vec3<T>(at(i[1]) - at(i[3])));
    return sqrt(dot(x, x));
  };
  WideCorners<T> best;
  if (n <= 4) return best;
  int i[4] = {0, 1, 2, 3};
  T most = area(i);
  const auto moves_on = [&](int k) {
    const int before = i[k];
    i[k] = (before + 1) % n;
    const T more = area(i);
    const bool gains = most < more;
    if (!gains) return i[k] = before, false;
    most = more;
    for (int j = 0; j < 4; j++) best.i[j] = i[j];
    return true;
  };
  for (; i[0] < starts; i[0]++) {
    while (moves_on(3))
      for (const int k : {2, 1})
        while (moves_on(k)) {}
    for (int k = 1; k < 4 && i[k] == i[k - 1]; k++) i[k] = (i[k] + 1) % n;
  }
  return best;
}

// Returns the face adjacent to corner `first` of a polygon. The companions are the next three corners, or the result of
// wide_corners if the polygon has five corners or more.
inline HullFace<double> face_beside(const std::vector<Vec3<double>>& polygon, int first, const Vec3<double>& normal) {
  const int n = static_cast<int>(polygon.size());
  const auto at = [&](int i) -> const Vec3<double>& { return polygon[static_cast<std::size_t>((first + i) % n)]; };
  const WideCorners<double> w = wide_corners<double>(n, 1, at);
  HullFace<double> f{0, normal, n < 4 ? n - 1 : 3};
  for (int k = 0; k < f.companions; k++) f.companion[k] = at(w.i[k + 1]);
  return f;
}

// Builds a hull from corners and polygons: finds the faces beside each corner, the neighbours and the reach.
inline Hull<double> hull_from(const std::vector<Vec3<double>>& corners,
                              const std::vector<HullPolygon<double>>& polygons) {
  Hull<double> h;
  h.polygon = polygons;
  h.corner.reserve(corners.size());
  for (const Vec3<double>& r : corners) {
    h.corner.push_back({r, {}});
    h.reach = max(h.reach, sqrt(dot(r, r)));
  }
  std::vector<std::set<int>> beside(corners.size());
  for (std::size_t p = 0; p < polygons.size(); p++) {
    const std::vector<int>& corner = polygons[p].corner;
    std::vector<Vec3<double>> r;
    for (const int c : corner) r.push_back(corners[static_cast<std::size_t>(c)]);
    for (std::size_t k = 0; k < corner.size(); k++) {
      const auto a = static_cast<std::size_t>(corner[k]), b = static_cast<std::size_t>(corner[(k + 1) % corner.size()]);
      h.corner[a].face.push_back(face_beside(r, static_cast<int>(k), polygons[p].normal));
      h.corner[a].face.back().polygon = static_cast<int>(p);
      beside[a].insert(static_cast<int>(b)), beside[b].insert(static_cast<int>(a));
    }
  }
  for (HullCorner<double>& c : h.corner) c.face.shrink_to_fit();
  for (const std::set<int>& b : beside) {
    h.first_neighbour.push_back(static_cast<int>(h.neighbour.size()));
    h.neighbour.insert(h.neighbour.end(), b.begin(), b.end());
  }
  h.first_neighbour.push_back(static_cast<int>(h.neighbour.size()));
  return h;
}

}  // namespace featherstorm
