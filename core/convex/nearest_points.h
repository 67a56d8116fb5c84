// Nearest points of two convex bodies that are apart: the method of Gilbert, Johnson and Keerthi.
//
// The algorithm keeps a simplex of differences w = a - b of their points, and x, the simplex's point nearest to zero.
// With w the farthest difference in direction -x, no difference is nearer than l = x . w / |x|, so the error is at most
// |x| - l. Then w becomes a corner of the simplex, and corners that the new x does not need are dropped.
#pragma once
#include "core/convex/simplex.h"

namespace featherstorm {

enum class Apart : unsigned char { Far, Near, Overlap };

// Result of the search. Far: farther than asked for. Near: at the nearest points. Overlap: zero is in the simplex or on
// it.
template <class T> struct NearestPoints {
  Apart apart;
  Simplex<T> simplex;
  Vec3<T> x;
  T least = T(-1e300);  // lower bound of the distance
};

// Lengths below this fraction of the body size are treated as zero.
template <class T> inline constexpr double nothing = 1e-13;
template <> inline constexpr double nothing<float> = 1e-5;

inline constexpr int most_simplices = 100;

// Finds the nearest points.
//
// in   far    the search stops at greater distances
// in   small   lengths below it are treated as zero
// in   enough  permitted error of the distance, which may be too great by this
template <class T>
FS_HD NearestPoints<T> nearest_points(const auto& A, const auto& B, const T& far, const T& small, const T& enough) {
  NearestPoints<T> r{Apart::Near, {}, A.X.r - B.X.r};
  Simplex<T>& s = r.simplex;
  T length = sqrt(dot(r.x, r.x));
  if (length <= small) r.x = {T(1.0), T(0.0), T(0.0)}, length = T(1.0);
  T before(1e300);
  for (int i = 0; i < most_simplices; i++) {
    const Vec3<T> n = r.x * (-rcp(length));
    const Difference<T> d = farthest_difference(A, B, n, s.n > 0 ? &s.corner[0] : nullptr);
    const T least = -dot(n, d.w);
    r.least = max(r.least, least);
    if (far < least) return r.apart = Apart::Far, r;
    if (s.n > 0 && length - least <= enough) return r;
    const Simplex<T> old = s;
    s.corner[s.n++] = d;
    const bool inside = reduce(s);
    if (inside) return r.apart = Apart::Overlap, r;
    Vec3<T> x = zero3<T>();
    for (int k = 0; k < s.n; k++) x = x + s.corner[k].w * s.weight[k];
    length = sqrt(dot(x, x));
    if (length <= small) return r.apart = Apart::Overlap, r;
    if (before <= length) {  // rounding prevents further progress
      s = old;
      return r;
    }
    before = length, r.x = x;
  }
  return r;
}

}  // namespace featherstorm
