// A plane and a round geom: sphere, capsule, ellipsoid or cylinder. The plane is z = 0 of its frame, solid below.
//
//   d = n . (r - r_plane),   distance = d - h,   h the reach of the geom towards the plane from its centre r
//
// The points lie distance / 2 above the lowest points of the geom.
#pragma once
#include "core/convex/contact_point.h"

namespace featherstorm {

// Height of a point above a plane.
template <class T> FS_HD T height_above(const Placement<T>& plane, const Vec3<T>& r) {
  return dot(axis_of(plane, 2), r - plane.r);
}
// Contact of a geom's point r, which is `distance` above the plane.
template <class T>
FS_HD ContactPoint<T> contact_above(const Placement<T>& plane, const Vec3<T>& r, const T& distance) {
  const Vec3<T> n = axis_of(plane, 2);
  return {distance, r - n * (distance * T(0.5)), n};
}
template <class T> FS_HD ContactPoint<T> plane_ball(const Placement<T>& plane, const Vec3<T>& r, const T& radius) {
  return contact_above(plane, r - axis_of(plane, 2) * radius, height_above(plane, r) - radius);
}

// in   size  radius
// out  out (1)
template <class T, class P>
FS_HD void plane_sphere(const Placement<T>& plane, const Placement<T>& sphere, const Vec3<P>& size,
                        ContactPoint<T>* out) {
  out[0] = plane_ball(plane, sphere.r, T(size(0)));
}

// in   size  radius, half length of the axis
// out  out (2)  the ends of the axis, +z first; tangents are along the axis (contact_frame.h)
template <class T, class P>
FS_HD void plane_capsule(const Placement<T>& plane, const Placement<T>& capsule, const Vec3<P>& size,
                         ContactPoint<T>* out) {
  const Vec3<T> end = axis_of(capsule, 2) * T(size(1));
  out[0] = plane_ball(plane, capsule.r + end, T(size(0)));
  out[1] = plane_ball(plane, capsule.r - end, T(size(0)));
}

// in   size  semiaxes s
// out  out (1)   h = |S n|, at -S^2 n / h; S = diag(s), n in the axes of the ellipsoid
template <class T, class P>
FS_HD void plane_ellipsoid(const Placement<T>& plane, const Placement<T>& ellipsoid, const Vec3<P>& size,
                           ContactPoint<T>* out) {
  const Vec3<T> s = cast<T>(size), n = transpose_times(ellipsoid.R, axis_of(plane, 2));
  const Vec3<T> g{s.x() * n.x(), s.y() * n.y(), s.z() * n.z()};
  const T h = sqrt(max(dot(g, g), T(1e-30))), inverse = rcp(h);
  const Vec3<T> low{s.x() * g.x(), s.y() * g.y(), s.z() * g.z()};
  out[0] = contact_above(plane, ellipsoid.r - ellipsoid.R * (low * inverse), height_above(plane, ellipsoid.r) - h);
}

// Points: the lowest point of the lower rim, the point above it on the other rim, and two that form a triangle with the
// first.
// in   size  radius, half length
// out  out (4)
template <class T, class P>
FS_HD void plane_cylinder(const Placement<T>& plane, const Placement<T>& cylinder, const Vec3<P>& size,
                          ContactPoint<T>* out) {
  const T radius(size(0)), zero(0.0), one(1.0), tiny(1e-30);
  const Vec3<T> n = transpose_times(cylinder.R, axis_of(plane, 2));
  // lower half of the axis, and its drop
  const T down = select(zero < n.z(), -T(size(1)), T(size(1))), drop = down * n.z();
  // steepest direction (u, v) of the disks, x if they are level, and their slope
  const T square = n.x() * n.x() + n.y() * n.y(), slope = sqrt(max(square, tiny)), inverse = rcp(slope);
  const T u = select(square < tiny, one, -(n.x() * inverse)), v = select(square < tiny, zero, -(n.y() * inverse));
  const T d = height_above(plane, cylinder.r), dip = select(square < tiny, zero, slope * radius);
  auto rim = [&](const T& x, const T& y, const T& z, const T& distance) {
    return contact_above(plane, cylinder.r + cylinder.R * Vec3<T>{x, y, z}, distance);
  };
  const T x = radius * u, y = radius * v, side = select(zero < n.z(), -one, one) * T(0.86602540378443865);
  out[0] = rim(x, y, down, d + drop - dip);
  out[1] = rim(x, y, -down, d - drop - dip);
  const T far = d + drop + dip * T(0.5);
  out[2] = rim(side * y - x * T(0.5), -(side * x) - y * T(0.5), down, far);
  out[3] = rim(-(side * y) - x * T(0.5), side * x - y * T(0.5), down, far);
}

}  // namespace featherstorm
