// Where two convex bodies that are apart are nearest to each other: the method of Gilbert, Johnson and Keerthi.
//
// Of the differences w = a - b of their points a simplex is kept, and x, its point nearest to zero. No difference is
// nearer than l = x . w / |x|, with w the farthest one against x, so |x| - l is what may be left. w becomes a corner of
// the simplex, and those that the new x does not need are dropped.
#pragma once
#include "core/convex/simplex.h"

namespace featherstorm {

enum class Apart : unsigned char { Far, Near, Overlap };

// How the search ended: farther than asked for, at the nearest points, or with zero in the simplex, or on it.
template <class T> struct NearestPoints {
  Apart apart;
  Simplex<T> simplex;
  Vec3<T> x;
  T least = T(-1e300);  // the distance is not less
};

// What of a length counts as none, for lengths of the size of the bodies.
template <class T> inline constexpr double nothing = 1e-13;
template <> inline constexpr double nothing<float> = 1e-5;

inline constexpr int most_simplices = 100;

// in   far    distances beyond it are not looked for
// in   small   length that counts as none
// in   enough  how much the distance may be too great
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
    if (before <= length) {  // rounding
      s = old;
      return r;
    }
    before = length, r.x = x;
  }
  return r;
}

}  // namespace featherstorm
