// A sphere and another sphere, a capsule, a cylinder or a box: one contact, at the point of the other nearest to the
// centre.
#pragma once
#include "core/convex/contact_point.h"

namespace featherstorm {

// in   size_a, size_b  radius
// out  out (1)
template <class T, class P>
FS_HD void sphere_sphere(const Placement<T>& a, const Vec3<P>& size_a, const Placement<T>& b, const Vec3<P>& size_b,
                         ContactPoint<T>* out) {
  out[0] = ball_ball(a.r, T(size_a(0)), b.r, T(size_b(0)), across_axes(a, b));
}

// in   size_a  radius
// in   size_b  radius, half length of the axis
// out  out (1)
template <class T, class P>
FS_HD void sphere_capsule(const Placement<T>& a, const Vec3<P>& size_a, const Placement<T>& b, const Vec3<P>& size_b,
                          ContactPoint<T>* out) {
  const Vec3<T> z = axis_of(b, 2);
  const Vec3<T> nearest = b.r + z * clamp(dot(z, a.r - b.r), T(size_b(1)));
  out[0] = ball_ball(a.r, T(size_a(0)), nearest, T(size_b(0)), across_axes(a, b));
}

// With x the distance of the centre outside the mantle and y its distance beyond a cap, the nearest feature is
//   the rim     x >= 0, y >= 0   distance |(x, y)|, normal along -(x, y)
//   the mantle  x >= y           distance x
//   a cap       else             distance y
// On the rim itself the normal is that of the mantle or the cap (MuJoCo's is a cross product of the axes).
// in   size_a  radius
// in   size_b  radius, half length
// out  out (1)
template <class T, class P>
FS_HD void sphere_cylinder(const Placement<T>& a, const Vec3<P>& size_a, const Placement<T>& b, const Vec3<P>& size_b,
                           ContactPoint<T>* out) {
  const T zero(0.0), one(1.0), tiny(1e-30);
  const Vec3<T> z = axis_of(b, 2), d = a.r - b.r;
  const T along = dot(z, d);
  const Direction<T> radial = direction_of(d - z * along, -across_axes(a, b));
  const T x = radial.length - T(size_b(0)), y = abs(along) - T(size_b(1));
  const T square = x * x + y * y, length = sqrt(max(square, tiny)), inverse = rcp(length);
  const auto rim = zero <= min(x, y) && tiny <= square;
  const T mantle = select(x < y, zero, one), on_x = select(rim, x * inverse, mantle),
          on_y = select(rim, y * inverse, one - mantle);
  const Vec3<T> outward = radial.e * on_x + z * (on_y * select(zero < along, one, -one));
  const T radius(size_a(0));
  out[0] = contact_from(a.r, radius, select(rim, length, max(x, y)) - radius, -outward);
}

// Contact of a ball at r, which is c in the axes of the box. A centre inside the box leaves through the nearest face;
// ties are resolved in the order -x, x, -y, y, -z.
template <class T, class P>
FS_HD ContactPoint<T> ball_box(const Vec3<T>& r, const Vec3<T>& c, const T& radius, const Placement<T>& box,
                               const Vec3<P>& size) {
  const T zero(0.0), one(1.0), tiny(1e-30);
  Vec3<T> to_box, depth, sign;
  for (int k = 0; k < 3; k++) {
    const T s(size(k));
    to_box(k) = clamp(c(k), s) - c(k);
    depth(k) = s - abs(c(k));
    sign(k) = select(c(k) <= zero, one, -one);
  }
  const auto x_first = depth.x() <= min(depth.y(), depth.z()), y_next = depth.y() <= depth.z();
  const Vec3<T> through{select(x_first, sign.x(), zero), select(x_first, zero, select(y_next, sign.y(), zero)),
                        select(x_first, zero, select(y_next, zero, sign.z()))};
  const T square = dot(to_box, to_box), length = sqrt(max(square, tiny));
  const auto outside = tiny < square;
  const Vec3<T> normal = box.R * choose(outside, to_box * rcp(length), through);
  const T distance = select(outside, length, -min(depth.x(), min(depth.y(), depth.z())));
  return contact_from(r, radius, distance - radius, normal);
}

// in   size_a  radius
// in   size_b  half lengths
// out  out (1)
template <class T, class P>
FS_HD void sphere_box(const Placement<T>& a, const Vec3<P>& size_a, const Placement<T>& b, const Vec3<P>& size_b,
                      ContactPoint<T>* out) {
  out[0] = ball_box(a.r, transpose_times(b.R, a.r - b.r), T(size_a(0)), b, size_b);
}

}  // namespace featherstorm
