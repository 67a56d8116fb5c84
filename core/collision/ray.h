// Rays against geoms in closed form, with the results of mj_ray, and intervals of lines in convex solids.
//
// A line is p + x v, p and v (3) in the geom's axes. Inside a solid it is first <= x <= last, the intersection of its
// intervals inside a ball, an infinite cylinder or a slab. A ray meets the solid at the least x >= 0, from inside as well
// as from outside.
#pragma once
#include "core/spatial/vector3.h"
#include "core/world/contacts.h"

namespace featherstorm {

// Interval of a line: first <= x <= last; empty if first > last.
template <class T> struct Interval { T first, last; };

inline constexpr double far_away = 1e15;  // beyond all geometry

// Interval with a x^2 + 2 b x + c <= 0
template <class T> FS_HD Interval<T> within_quadric(const T& a, const T& b, const T& c) {
  const T zero(0.0), one(1.0), far(far_away), square = b * b - a * c;
  const auto steep = T(1e-15) < a;
  const T root = sqrt(max(square, zero)), over = rcp(select(steep, a, one));
  // a line along the axis is inside everywhere or nowhere
  const Interval<T> along{select(c <= zero, -far, far), select(c <= zero, far, -far)};
  const auto misses = square < zero;
  return {select(steep, select(misses, far, (-b - root) * over), along.first),
          select(steep, select(misses, -far, (-b + root) * over), along.last)};
}

// Interval with |p + x v| <= half
template <class T> FS_HD Interval<T> within_slab(const T& p, const T& v, const T& half) {
  const T one(1.0), far(far_away);
  const auto crosses = T(1e-15) < abs(v);
  const auto inside = abs(p) <= half;
  const T over = rcp(select(crosses, v, one)), a = (-half - p) * over, b = (half - p) * over;
  return {select(crosses, min(a, b), select(inside, -far, far)), select(crosses, max(a, b), select(inside, far, -far))};
}

// Interval inside a ball about the origin.
template <class T> FS_HD Interval<T> within_ball(const Vec3<T>& p, const Vec3<T>& v, const T& radius) {
  return within_quadric<T>(dot(v, v), dot(v, p), dot(p, p) - radius * radius);
}
// Interval inside an infinite cylinder about z.
template <class T> FS_HD Interval<T> within_pipe(const Vec3<T>& p, const Vec3<T>& v, const T& radius) {
  return within_quadric<T>(v.x() * v.x() + v.y() * v.y(), v.x() * p.x() + v.y() * p.y(),
                           p.x() * p.x() + p.y() * p.y() - radius * radius);
}

template <class T> FS_HD Interval<T> intersection(const Interval<T>& a, const Interval<T>& b) {
  return {max(a.first, b.first), min(a.last, b.last)};
}
// Union of intervals that overlap, or of which one is empty.
template <class T> FS_HD Interval<T> united(const Interval<T>& a, const Interval<T>& b) {
  const T far(far_away);
  const auto some = a.first <= a.last;
  return {min(select(some, a.first, far), b.first), max(select(some, a.last, -far), b.last)};
}

// Returns 1 if a part of an interval has x >= 0, else 0.
template <class T> FS_HD T is_ahead(const Interval<T>& s) {
  const T zero(0.0), one(1.0);
  return select(s.first <= s.last, select(zero <= s.last, one, zero), zero);
}

// x_k y_k
template <class T> FS_HD Vec3<T> scaled(const Vec3<T>& x, const Vec3<T>& y) {
  return {x.x() * y.x(), x.y() * y.y(), x.z() * y.z()};
}
template <class T> FS_HD Vec3<T> reciprocals(const Vec3<T>& x) { return {rcp(x.x()), rcp(x.y()), rcp(x.z())}; }

// Interval inside a sphere, capsule, ellipsoid, cylinder or box. size (3) [geom_size]
template <class T>
FS_HD Interval<T> within_solid(GeomType type, const Vec3<T>& size, const Vec3<T>& p, const Vec3<T>& v) {
  const auto slab = [&](int k, const T& half) { return within_slab<T>(p(k), v(k), half); };
  switch (type) {
    case GeomType::Sphere: return within_ball<T>(p, v, size.x());
    case GeomType::Ellipsoid: {
      const Vec3<T> over = reciprocals(size);
      return within_ball(scaled(p, over), scaled(v, over), T(1.0));
    }
    case GeomType::Box: return intersection(slab(0, size.x()), intersection(slab(1, size.y()), slab(2, size.z())));
    default: break;
  }
  const Interval<T> body = intersection(within_pipe<T>(p, v, size.x()), slab(2, size.y()));
  if (type == GeomType::Cylinder) return body;
  const Vec3<T> end{T(0.0), T(0.0), size.y()};
  const Vec3<T> below = p + end, above = p - end;
  return united(united(body, within_ball<T>(above, v, size.x())), within_ball<T>(below, v, size.x()));
}

// The first hit of a ray: its x, at least far_away without a hit, and the outward normal there, not of unit length.
template <class T> struct RayHit {
  T x;
  Vec3<T> normal;
};

// A plane, seen from above only, within a rectangle of half lengths size[0], size[1] unless these are zero.
template <class T> FS_HD RayHit<T> ray_plane(const Vec3<T>& size, const Vec3<T>& p, const Vec3<T>& v) {
  const T zero(0.0), far(far_away);
  const auto falls = v.z() < T(-1e-15);
  T x = -p.z() * rcp(select(falls, v.z(), T(-1.0)));
  for (int k = 0; k < 2; k++) {
    const T outside = select(zero < size(k), select(abs(p(k) + x * v(k)) <= size(k), zero, far), zero);
    x = max(x, select(zero <= x, outside, far));
  }
  return {select(falls, x, far), {zero, zero, T(1.0)}};
}

// The normal of a solid at s = p + x v, where the ray enters (side -1) or leaves it (side 1).
template <class T>
FS_HD Vec3<T> solid_normal(GeomType type, const Vec3<T>& size, const Vec3<T>& v, const Vec3<T>& s, const T& side) {
  const T zero(0.0), one(1.0);
  const auto sign = [&](const T& y) { return select(y < zero, -one, one); };
  switch (type) {
    case GeomType::Sphere: return s;
    case GeomType::Capsule: return {s.x(), s.y(), s.z() - max(min(s.z(), size.y()), -size.y())};
    case GeomType::Ellipsoid: {
      const Vec3<T> over = reciprocals(size);
      return scaled(scaled(s, over), over);
    }
    default: break;
  }
  // of the faces that the ray crosses, the one nearest to s; of a cylinder: its side, then its ends
  const bool box = type == GeomType::Box;
  const T far(far_away), across = box ? zero : T(sqrt(s.x() * s.x() + s.y() * s.y()));
  T least = box ? far : T(abs(across - size.x()));
  Vec3<T> n{s.x(), s.y(), zero};
  for (int k = box ? 0 : 2; k < 3; k++) {
    const T away = select(T(1e-15) < abs(v(k)), abs(abs(s(k)) - (box ? size(k) : size.y())), far);
    const auto nearer = away < least;
    least = min(away, least);
    for (int i = 0; i < 3; i++) n(i) = select(nearer, i == k ? T(side * sign(v(k))) : zero, n(i));
  }
  return n;
}

// False for meshes, height fields and signed distance fields (ray_surfaces.h).
FS_HD bool has_closed_ray(GeomType type) {
  return type == GeomType::Plane || (type >= GeomType::Sphere && type <= GeomType::Box);
}
// A ray against a plane or a convex solid.
template <class T>
FS_HD RayHit<T> ray_geom(GeomType type, const Vec3<T>& size, const Vec3<T>& p, const Vec3<T>& v) {
  if (type == GeomType::Plane) return ray_plane(size, p, v);
  const T zero(0.0), one(1.0), far(far_away);
  const Interval<T> inside = within_solid(type, size, p, v);
  const auto enters = zero <= inside.first;
  const T x = select(enters, inside.first, inside.last);
  const T met = select(inside.first <= inside.last, select(zero <= x, x, far), far);
  const T at = select(met < far, met, zero);
  return {met, solid_normal(type, size, v, Vec3<T>(p + v * at), T(select(enters, -one, one)))};
}

}  // namespace featherstorm
