// Contact point of two geoms.
//
// The functions of this folder are named by the shapes of geom 1 and geom 2, in MuJoCo's order of types. They follow
// the conventions of MuJoCo's contacts [mjContact]. Inputs are the placements of both geoms in one frame and their
// sizes [geom_size]. Outputs are a fixed number of candidates, the slots, with MuJoCo's choice of points. A slot whose
// point MuJoCo would not make has the distance `no_contact`. The caller compares the distance with the margin. If a
// function has an argument `margin`, its choice of points depends on it.
#pragma once
#include "core/spatial/transform.h"

namespace featherstorm {

template <class T> struct ContactPoint {
  T distance;      // between the surfaces, along the normal; negative if they penetrate [m] [dist]
  Vec3<T> point;   // midpoint between the surfaces [m] [pos]
  Vec3<T> normal;  // from geom 1 to geom 2 [frame, first row]
};

// Distance in a slot without a contact [m]. The point and the normal of such a slot are finite but have no meaning.
inline constexpr double no_contact = 1e10;

// Axis k of a geom, in the frame of its placement.
template <class T> FS_HD Vec3<T> axis_of(const Placement<T>& X, int k) { return {X.R(0, k), X.R(1, k), X.R(2, k)}; }

template <class Condition, class T>
FS_HD Vec3<T> choose(const Condition& c, const Vec3<T>& a, const Vec3<T>& b) {
  return {select(c, a.x(), b.x()), select(c, a.y(), b.y()), select(c, a.z(), b.z())};
}

template <class T> FS_HD T clamp(const T& x, const T& limit) { return max(min(x, limit), -limit); }

// A length and a unit vector.
template <class T> struct Direction {
  T length;
  Vec3<T> e;
};

// Decomposes v = length e. e is `otherwise` if v is shorter than 1e-15.
template <class T> FS_HD Direction<T> direction_of(const Vec3<T>& v, const Vec3<T>& otherwise) {
  const T tiny(1e-30), square = dot(v, v), length = sqrt(max(square, tiny));
  return {length, choose(square < tiny, otherwise, v * rcp(length))};
}

// Normal of two geoms whose centres coincide: perpendicular to both z axes, or x if these are parallel.
template <class T> FS_HD Vec3<T> across_axes(const Placement<T>& a, const Placement<T>& b) {
  return direction_of(cross(axis_of(a, 2), axis_of(b, 2)), Vec3<T>{T(1.0), T(0.0), T(0.0)}).e;
}

// Contact at the midpoint between two surfaces. r is a point of geom 1 at depth `radius` below its surface.
template <class T>
FS_HD ContactPoint<T> contact_from(const Vec3<T>& r, const T& radius, const T& distance, const Vec3<T>& normal) {
  return {distance, r + normal * (radius + distance * T(0.5)), normal};
}

// Contact of two balls at a and b. The normal is `otherwise` if they are concentric.
template <class T>
FS_HD ContactPoint<T> ball_ball(const Vec3<T>& a, const T& radius_a, const Vec3<T>& b, const T& radius_b,
                                const Vec3<T>& otherwise) {
  const Direction<T> d = direction_of(b - a, otherwise);
  return contact_from(a, radius_a, d.length - radius_a - radius_b, d.e);
}

}  // namespace featherstorm
