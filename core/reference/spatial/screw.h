// Screw form of a spatial vector: its axis, its pitch, and its parts. RBDA section 2.5, (2.10).
//
//   s^ = [s; s_O - h s] + [0; h s],   h = s . s_O / s . s        line vector along the axis + free vector parallel to
//                                     it
//
// The axis is the line { P : OP × s = s_O - h s }. A motion is a twist (s = w), a force a wrench (s = f, s_O = n). A
// free vector (s = 0: a translation, a couple) has infinite pitch and no definite axis. It consists of the free part
// alone: `is_free` holds, and the pitch and the point are 0.
#pragma once
#include "core/spatial/motion.h"

namespace featherstorm {

template <class T>
struct Screw {
  Vec3<T> direction;    // s
  Vec3<T> point;        // point of the axis nearest to the origin [m]
  T pitch;              // h [m/rad]
  Vec3<T> line_moment;  // s_O - h s
  Vec3<T> free_part;    // h s; s_O for a free vector
};
template <class T>
FS_HD Screw<T> screw(const Vec3<T>& s, const Vec3<T>& s_O) {
  const T zero(0.0), one(1.0), ss = dot(s, s);
  const auto is_free = ss <= zero;
  const T k = rcp(select(is_free, one, ss)), h = select(is_free, zero, dot(s, s_O) * k);
  Screw<T> x{s, cross(s, s_O) * k, h, s_O - s * h, s * h};
  for (int i = 0; i < 3; i++) {
    x.free_part(i) = select(is_free, s_O(i), x.free_part(i));
    x.line_moment(i) = select(is_free, zero, x.line_moment(i));
  }
  return x;
}
template <class T>
FS_HD Screw<T> screw(const Motion<T>& m) {
  return screw(m.w, m.v);
}
template <class T>
FS_HD Screw<T> screw(const Force<T>& f) {
  return screw(f.f, f.n);
}

// True for a free vector (is_free), and for a line vector. RBDA section 2.5
template <class T>
FS_HD auto is_free(const Vec3<T>& s) {
  return dot(s, s) <= T(0.0);
}
template <class T>
FS_HD auto is_line(const Vec3<T>& s, const Vec3<T>& s_O, const T& tolerance) {
  return abs(dot(s, s_O)) <= tolerance;
}

// Velocity of the body-fixed point P: v_O + w × OP. RBDA (2.1)
template <class T>
FS_HD Vec3<T> velocity_at(const Motion<T>& v, const Vec3<T>& OP) {
  return v.v + cross(v.w, OP);
}
// Moment about the point P: n_O + f × OP. RBDA (2.6)
template <class T>
FS_HD Vec3<T> moment_at(const Force<T>& f, const Vec3<T>& OP) {
  return f.n + cross(f.f, OP);
}
// Converts to the acceleration of the body-fixed point at the origin, r'' = a_O + w × v_O, and back. RBDA (2.47)-(2.50)
template <class T>
FS_HD Motion<T> classical(const Motion<T>& a, const Motion<T>& v) {
  return {a.w, a.v + cross(v.w, v.v)};
}
template <class T>
FS_HD Motion<T> spatial_of_classical(const Motion<T>& a, const Motion<T>& v) {
  return {a.w, a.v - cross(v.w, v.v)};
}

}  // namespace featherstorm
