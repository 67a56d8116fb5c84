// Plücker transforms, applied without ever forming a 6x6 matrix. RBDA (2.24)-(2.28) and Table A.4.
//
// A placement (R, r) puts a child frame into a parent: R takes child axes to parent axes (R = E^T), r is the child's
// origin in the parent. With X = X_child,parent:
//   apply             X m      motion, parent to child          apply_inverse    X^-1 m   motion, child to parent
//   apply_dual        X* f     force, parent to child           apply_transpose  X^T f    force or inertia, child to parent
// R may be any of the shapes of rotation.h.
#pragma once
#include "core/spatial/inertia.h"
#include "core/spatial/rotation.h"

namespace featherstorm {

// X m = [E 0; -E r× E] m
template <class Rotation, class P, class T>
FS_HD Motion<T> apply(const Rotation& R, const Vec3<P>& r, const Motion<T>& m) {
  return {rotate_back(R, m.w), rotate_back(R, m.v - cross(r, m.w))};
}
// X^-1 m = [E^T 0; r× E^T E^T] m
template <class Rotation, class P, class T>
FS_HD Motion<T> apply_inverse(const Rotation& R, const Vec3<P>& r, const Motion<T>& m) {
  const Vec3<T> w = rotate(R, m.w);
  return {w, rotate(R, m.v) + cross(r, w)};
}
// X* f = [E -E r×; 0 E] f
template <class Rotation, class P, class T>
FS_HD Force<T> apply_dual(const Rotation& R, const Vec3<P>& r, const Force<T>& f) {
  return {rotate_back(R, f.n - cross(r, f.f)), rotate_back(R, f.f)};
}
// X^T f = [E^T r× E^T; 0 E^T] f
template <class Rotation, class P, class T>
FS_HD Force<T> apply_transpose(const Rotation& R, const Vec3<P>& r, const Force<T>& f) {
  const Vec3<T> g = rotate(R, f.f);
  return {rotate(R, f.n) + cross(r, g), g};
}

// Shift of the frame by r, axes kept: h' = h + m r, I' = I + 2 (r.g) 1 - (r g^T + g r^T) with g = h + m r / 2.
template <class T, class P> FS_HD RigidBodyInertia<T> shift(const Vec3<P>& r, const RigidBodyInertia<T>& J) {
  const Vec3<T> mr = r * J.m, g = J.h + mr * T(0.5);
  const T gx = (r.x() + r.x()) * g.x(), gy = (r.y() + r.y()) * g.y(), gz = (r.z() + r.z()) * g.z();
  return {J.m,
          J.h + mr,
          {J.I.xx + gy + gz, J.I.xy - r.y() * g.x() - r.x() * g.y(), J.I.xz - r.z() * g.x() - r.x() * g.z(),
           J.I.yy + gx + gz, J.I.yz - r.z() * g.y() - r.y() * g.z(), J.I.zz + gx + gy}};
}
// H' = H + r× M, I' = I + r× H^T + (r× H^T)^T + r× M r×^T = I + r× H'^T + (r× H^T)^T
template <class T, class P> FS_HD ArticulatedInertia<T> shift(const Vec3<P>& r, const ArticulatedInertia<T>& J) {
  const Mat3<T> H = J.H + cross_columns(r, full(J.M));
  // only the upper triangle: row i of r× K has K's rows i+1, i+2
  auto rx = [&](const Mat3<T>& K, int i, int j) {  // (r× K^T)(i, j)
    const int a = (i + 1) % 3, b = (i + 2) % 3;
    return r(a) * K(j, b) - r(b) * K(j, a);
  };
  auto at = [&](int i, int j) { return rx(H, i, j) + rx(J.H, j, i); };
  return {J.I + Sym3<T>{at(0, 0), at(0, 1), at(0, 2), at(1, 1), at(1, 2), at(2, 2)}, H, J.M};
}

// X^T I X: inertia from child to parent.
template <class Rotation, class T> FS_HD RigidBodyInertia<T> rotate(const Rotation& R, const RigidBodyInertia<T>& J) {
  return {J.m, rotate(R, J.h), conjugate(R, J.I)};
}
template <class Rotation, class T>
FS_HD ArticulatedInertia<T> rotate(const Rotation& R, const ArticulatedInertia<T>& J) {
  return {conjugate(R, J.I), conjugate(R, J.H), conjugate(R, J.M)};
}
template <class Rotation, class P, class T>
FS_HD RigidBodyInertia<T> apply_transpose(const Rotation& R, const Vec3<P>& r, const RigidBodyInertia<T>& J) {
  return shift(r, rotate(R, J));
}
template <class Rotation, class P, class T>
FS_HD ArticulatedInertia<T> apply_transpose(const Rotation& R, const Vec3<P>& r, const ArticulatedInertia<T>& J) {
  return shift(r, rotate(R, J));
}

// A placement with a full rotation matrix, and the composition of two.
template <class T> struct Placement {
  Mat3<T> R;  // child axes in the parent: takes child coordinates to parent coordinates
  Vec3<T> r;  // child's origin in the parent [m]
};
template <class A, class B> FS_HD Placement<Product<A, B>> operator*(const Placement<A>& a, const Placement<B>& b) {
  return {a.R * b.R, a.r + a.R * b.r};
}
template <class T> FS_HD Placement<T> inverse(const Placement<T>& a) {
  return {transposed(a.R), -transpose_times(a.R, a.r)};
}
template <class T> FS_HD Placement<T> identity_placement() {
  const T o(0.0), l(1.0);
  return {rows<T>(l, o, o, o, l, o, o, o, l), zero3<T>()};
}
template <class T, class S> FS_HD Placement<T> cast(const Placement<S>& a) { return {cast<T>(a.R), cast<T>(a.r)}; }

template <class P, class Quantity> FS_HD auto apply(const Placement<P>& X, const Quantity& m) {
  return apply(X.R, X.r, m);
}
template <class P, class Quantity> FS_HD auto apply_inverse(const Placement<P>& X, const Quantity& m) {
  return apply_inverse(X.R, X.r, m);
}
template <class P, class Quantity> FS_HD auto apply_dual(const Placement<P>& X, const Quantity& f) {
  return apply_dual(X.R, X.r, f);
}
template <class P, class Quantity> FS_HD auto apply_transpose(const Placement<P>& X, const Quantity& f) {
  return apply_transpose(X.R, X.r, f);
}

}  // namespace featherstorm
