// A convex mesh as a plane meets it: its corners, and with each the faces around it.
//
// A face that lies on a plane touches it with up to four of its corners: the lowest one and three more, its companions.
// They are the same whenever that corner is the lowest and that face looks down most, so they are chosen once, when the
// hull is made.
#pragma once
#include <vector>

#include "core/spatial/transform.h"

namespace featherstorm {

// A face beside a corner.
template <class P> struct HullFace {
  Vec3<P> normal;          // outward, unit
  int companions = 0;      // up to 3
  Vec3<P> companion[3]{};  // the other corners that touch [m]
};
template <class P> struct HullCorner {
  Vec3<P> r;  // [m]
  std::vector<HullFace<P>> face;
};
template <class P> struct Hull { std::vector<HullCorner<P>> corner; };

template <class P, class S> HullFace<P> cast(const HullFace<S>& f) {
  return {cast<P>(f.normal), f.companions, {cast<P>(f.companion[0]), cast<P>(f.companion[1]), cast<P>(f.companion[2])}};
}
template <class P, class S> Hull<P> cast(const Hull<S>& h) {
  Hull<P> r;
  for (const auto& c : h.corner) {
    r.corner.push_back({cast<P>(c.r), {}});
    for (const auto& f : c.face) r.corner.back().face.push_back(cast<P>(f));
  }
  return r;
}

// The companions of corner `first` of a polygon: the next three; of five corners and more those that make a large area,
// found as MuJoCo finds them, by moving the third, the second and the first of them on as long as each step gains.
inline HullFace<double> face_beside(const std::vector<Vec3<double>>& polygon, int first, const Vec3<double>& normal) {
  const int n = static_cast<int>(polygon.size());
  auto at = [&](int i) { return polygon[(first + i) % n]; };
  auto area = [&](int a, int b, int c) {
    const Vec3<double> x = cross(at(0) - at(b), at(a) - at(c));
    return sqrt(dot(x, x));
  };
  int i[3] = {1, 2, 3};
  double best = area(1, 2, 3);
  const auto moves_on = [&](int k) {
    i[k]++;
    const double more = area(i[0], i[1], i[2]);
    const bool gains = more > best;
    if (gains) best = more;
    else i[k]--;
    return gains;
  };
  while (n > 4 && moves_on(2))
    for (const int k : {1, 0})
      while (moves_on(k)) {}
  HullFace<double> f{normal, n < 4 ? n - 1 : 3};
  for (int k = 0; k < f.companions; k++) f.companion[k] = at(i[k]);
  return f;
}

}  // namespace featherstorm
