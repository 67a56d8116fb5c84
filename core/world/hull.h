// A convex mesh: its corners and faces, as a plane meets them and as other convex shapes do.
//
// A face that lies on a plane touches it with up to four of its corners: the lowest one and three more, its companions.
// They are the same whenever that corner is the lowest and that face looks down most, so they are chosen once, when the
// hull is made.
#pragma once
#include <set>
#include <vector>

#include "core/spatial/transform.h"

namespace featherstorm {

// A face beside a corner.
template <class P> struct HullFace {
  int polygon = 0;         // which it is
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
  std::vector<int> neighbour;        // corners at the other ends of a corner's edges, one corner after the other
  std::vector<int> first_neighbour;  // (corners + 1) where those of each begin
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

// Three corners after corner 0 of a polygon, at(i), that make a large area with it, found as MuJoCo finds them: by moving the
// third, the second and the first of them on as long as each step gains.
template <class T> struct WideCorners { int i[3] = {1, 2, 3}; };
template <class T> FS_HD WideCorners<T> wide_corners(int n, auto&& at) {
  const auto area = [&](int a, int b, int c) {
    const Vec3<T> x = cross(Vec3<T>(at(0) - at(b)), Vec3<T>(at(a) - at(c)));
    return sqrt(dot(x, x));
  };
  WideCorners<T> w;
  int (&i)[3] = w.i;
  T best = area(1, 2, 3);
  const auto moves_on = [&](int k) {
    i[k]++;
    const T more = area(i[0], i[1], i[2]);
    const bool gains = best < more;
    if (gains) best = more;
    else i[k]--;
    return gains;
  };
  while (n > 4 && moves_on(2))
    for (const int k : {1, 0})
      while (moves_on(k)) {}
  return w;
}

// The companions of corner `first` of a polygon: the next three; of five corners and more those of wide_corners.
inline HullFace<double> face_beside(const std::vector<Vec3<double>>& polygon, int first, const Vec3<double>& normal) {
  const int n = static_cast<int>(polygon.size());
  const auto at = [&](int i) -> const Vec3<double>& { return polygon[static_cast<std::size_t>((first + i) % n)]; };
  const WideCorners<double> w = wide_corners<double>(n, at);
  HullFace<double> f{0, normal, n < 4 ? n - 1 : 3};
  for (int k = 0; k < f.companions; k++) f.companion[k] = at(w.i[k]);
  return f;
}

// Of corners and polygons: the faces beside each corner, neighbours and reach.
inline Hull<double> hull_from(const std::vector<Vec3<double>>& corners,
                              const std::vector<HullPolygon<double>>& polygons) {
  Hull<double> h;
  h.polygon = polygons;
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
  for (const std::set<int>& b : beside) {
    h.first_neighbour.push_back(static_cast<int>(h.neighbour.size()));
    h.neighbour.insert(h.neighbour.end(), b.begin(), b.end());
  }
  h.first_neighbour.push_back(static_cast<int>(h.neighbour.size()));
  return h;
}

}  // namespace featherstorm
