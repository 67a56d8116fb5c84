// Touch: sum of the normal forces of a body's contacts whose line of force meets the zone of a site [mjSENS_TOUCH].
//
// The line starts at the contact and runs along the normal, away from the body's own surface. A zone is tested as the
// intersection of intervals of the line: inside a ball, an infinite cylinder, a slab.
#pragma once
#include "core/spatial/vector3.h"

namespace featherstorm {

// Interval of a line p + x v: first <= x <= last; empty if first > last.
template <class T> struct Stretch { T first, last; };

inline constexpr double all_the_way = 1e15;  // beyond all geometry

// Interval with a x^2 + 2 b x + c <= 0
template <class T> FS_HD Stretch<T> within_quadric(const T& a, const T& b, const T& c) {
  const T zero(0.0), one(1.0), far(all_the_way), square = b * b - a * c;
  const auto steep = T(1e-15) < a;
  const T root = sqrt(max(square, zero)), over = rcp(select(steep, a, one));
  // a line along the axis is inside everywhere or nowhere
  const Stretch<T> along{select(c <= zero, -far, far), select(c <= zero, far, -far)};
  const auto misses = square < zero;
  return {select(steep, select(misses, far, (-b - root) * over), along.first),
          select(steep, select(misses, -far, (-b + root) * over), along.last)};
}

// Interval with |p + x v| <= half
template <class T> FS_HD Stretch<T> within_slab(const T& p, const T& v, const T& half) {
  const T one(1.0), far(all_the_way);
  const auto crosses = T(1e-15) < abs(v);
  const auto inside = abs(p) <= half;
  const T over = rcp(select(crosses, v, one)), a = (-half - p) * over, b = (half - p) * over;
  return {select(crosses, min(a, b), select(inside, -far, far)), select(crosses, max(a, b), select(inside, far, -far))};
}

template <class T> FS_HD Stretch<T> shared(const Stretch<T>& a, const Stretch<T>& b) {
  return {max(a.first, b.first), min(a.last, b.last)};
}
template <class T> FS_HD T is_ahead(const Stretch<T>& s) {
  const T zero(0.0), one(1.0);
  return select(s.first <= s.last, select(zero <= s.last, one, zero), zero);
}

// Returns 1 if the line meets the zone, else 0.
//
// in   sensor  with the zone's shape [mjtGeom] and size
// in   p, v    the line in the zone's axes
template <class T> FS_HD T meets_zone(const auto& sensor, const Vec3<T>& p, const Vec3<T>& v) {
  enum { sphere = 2, capsule, ellipsoid, cylinder, box };  // mjtGeom
  const T a(sensor.size[0]), b(sensor.size[1]), c(sensor.size[2]);
  const auto ball = [](const Vec3<T>& r, const Vec3<T>& d, const T& radius) {
    return within_quadric(dot(d, d), dot(d, r), dot(r, r) - radius * radius);
  };
  const auto slab = [&](int k, const T& half) { return within_slab(T(p(k)), T(v(k)), half); };
  switch (sensor.shape) {
    case sphere: return is_ahead(ball(p, v, a));
    case ellipsoid: {
      const Vec3<T> scale{rcp(a), rcp(b), rcp(c)};
      const auto scaled = [&](const Vec3<T>& r) {
        return Vec3<T>{r.x() * scale.x(), r.y() * scale.y(), r.z() * scale.z()};
      };
      return is_ahead(ball(scaled(p), scaled(v), T(1.0)));
    }
    case box: return is_ahead(shared(slab(0, a), shared(slab(1, b), slab(2, c))));
    default: break;
  }
  const T z(0.0);
  const Stretch<T> pipe = within_quadric<T>(v.x() * v.x() + v.y() * v.y(), v.x() * p.x() + v.y() * p.y(),
                                            p.x() * p.x() + p.y() * p.y() - a * a);
  const T body = is_ahead(shared(pipe, slab(2, b)));
  if (sensor.shape == cylinder) return body;
  const Vec3<T> end{z, z, b};
  return max(body, max(is_ahead(ball(Vec3<T>(p - end), v, a)), is_ahead(ball(Vec3<T>(p + end), v, a))));
}

}  // namespace featherstorm
