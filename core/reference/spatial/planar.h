// Planar vectors: motion and force in the x-y plane, three numbers each. RBDA section 2.16.
//
// They are spatial quantities without coordinates 1, 2 and 6: rows and columns {3, 4, 5}.
#pragma once
#include "core/spatial/transform.h"

namespace featherstorm {

template <class T> struct PlanarMotion {
  T w, x, y;  // angular velocity about z [rad/s], velocity of the body-fixed point at the origin [m/s]
};
template <class T> struct PlanarForce {
  T n, x, y;  // moment about the origin [N m], force [N]
};
// Rotation R by theta about z, then the child's origin (x, y) in the parent, as in Placement.
template <class T> struct PlanarPlacement {
  RotationZ<T> R;
  T x, y;
};
// I = [Izz -hy hx; -hy m 0; hx 0 m]: mass, first moment m c, rotational inertia about the origin. RBDA (2.78)
template <class T> struct PlanarInertia { T m, hx, hy, I; };

template <class T> FS_HD PlanarMotion<T> operator+(const PlanarMotion<T>& a, const PlanarMotion<T>& b) {
  return {a.w + b.w, a.x + b.x, a.y + b.y};
}
template <class T> FS_HD PlanarForce<T> operator+(const PlanarForce<T>& a, const PlanarForce<T>& b) {
  return {a.n + b.n, a.x + b.x, a.y + b.y};
}
template <class T> FS_HD T dot(const PlanarMotion<T>& m, const PlanarForce<T>& f) {
  return m.w * f.n + m.x * f.x + m.y * f.y;
}

// v x m = [0 0 0; vy 0 -w; -vx w 0] m. RBDA (2.75)
template <class T> FS_HD PlanarMotion<T> cross(const PlanarMotion<T>& v, const PlanarMotion<T>& m) {
  return {T(0.0), v.y * m.w - v.w * m.y, v.w * m.x - v.x * m.w};
}
// v x* f = -(v x)^T f = [0 -vy vx; 0 0 -w; 0 w 0] f. RBDA (2.76)
template <class T> FS_HD PlanarForce<T> cross_dual(const PlanarMotion<T>& v, const PlanarForce<T>& f) {
  return {v.x * f.y - v.y * f.x, -(v.w * f.y), v.w * f.x};
}

// X m = [1 0 0; s x - c y  c s; c x + s y  -s c] m. RBDA (2.77)
template <class T> FS_HD PlanarMotion<T> apply(const PlanarPlacement<T>& X, const PlanarMotion<T>& m) {
  const T u = m.x - X.y * m.w, v = m.y + X.x * m.w;
  return {m.w, X.R.c * u + X.R.s * v, X.R.c * v - X.R.s * u};
}
// X^T f: force from child to parent
template <class T> FS_HD PlanarForce<T> apply_transpose(const PlanarPlacement<T>& X, const PlanarForce<T>& f) {
  const T x = X.R.c * f.x - X.R.s * f.y, y = X.R.s * f.x + X.R.c * f.y;
  return {f.n + X.x * y - X.y * x, x, y};
}

// I v. RBDA (2.78)
template <class T> FS_HD PlanarForce<T> operator*(const PlanarInertia<T>& J, const PlanarMotion<T>& v) {
  return {J.I * v.w + J.hx * v.y - J.hy * v.x, J.m * v.x - J.hy * v.w, J.m * v.y + J.hx * v.w};
}

// Converts a planar quantity to a spatial one in the plane z = 0, and back.
template <class T> FS_HD Motion<T> spatial(const PlanarMotion<T>& m) {
  const T o(0.0);
  return {{o, o, m.w}, {m.x, m.y, o}};
}
template <class T> FS_HD Force<T> spatial(const PlanarForce<T>& f) {
  const T o(0.0);
  return {{o, o, f.n}, {f.x, f.y, o}};
}
template <class T> FS_HD PlanarMotion<T> planar(const Motion<T>& m) { return {m.w.z(), m.v.x(), m.v.y()}; }
template <class T> FS_HD PlanarForce<T> planar(const Force<T>& f) { return {f.n.z(), f.f.x(), f.f.y()}; }
template <class T> FS_HD PlanarInertia<T> planar(const RigidBodyInertia<T>& J) {
  return {J.m, J.h.x(), J.h.y(), J.I.zz};
}

}  // namespace featherstorm
