// The axes of a contact: its normal and two tangents [mju_makeFrame].
//
//   e_1 = n,   e_2 = (h - n (n . h)) / |.|,   e_3 = e_1 x e_2
//
// h is the wanted direction of tangent 1: the axis of the capsule for a plane and a capsule. For all other pairs it is
// y, or z if n is within 60 degrees of y.
#pragma once
#include "core/convex/contact_point.h"

namespace featherstorm {

template <class T> struct ContactFrame { Vec3<T> e[3]; };

// in   n  unit
// in   h  unit; tangent 1 is x if h is along n
template <class T> FS_HD ContactFrame<T> contact_frame(const Vec3<T>& n, const Vec3<T>& h) {
  const Vec3<T> x{T(1.0), T(0.0), T(0.0)}, t = direction_of(h - n * dot(n, h), x).e;
  return {{n, t, cross(n, t)}};
}
template <class T> FS_HD ContactFrame<T> contact_frame(const Vec3<T>& n) {
  const T zero(0.0), one(1.0);
  const auto far = abs(n.y()) < T(0.5);
  return contact_frame(n, Vec3<T>{zero, select(far, one, zero), select(far, zero, one)});
}

}  // namespace featherstorm
