// Rotations of 3-vectors and the congruence R m R^T, for the shapes that occur at joints.
//
// A rotation here is active: it takes coordinates of the child to coordinates of the parent, R = E^T of RBDA.
//   RotationZ {c, s}   about z: the motion of a revolute joint
//   RotationX {c, s}   about x: the fixed tilt between two joint axes of a chain (Denavit-Hartenberg's alpha)
//   RotationZX {z, x}  about x, then about z: the fixed placement of a joint axis anywhere
//   Mat3               any
#pragma once
#include "core/spatial/vector3.h"

namespace featherstorm {

// [c -s; s c] block of a 3x3 congruence in 9 operations: with t = s (a-d) + c g, g = b + e,
//   a' = a - s t,  d' = d + s t,  b' = b + (c t - g),  e' = e + (c t - g)
template <class T> struct RotationZ { T c, s; };
template <class T> struct RotationX { T c, s; };
template <class T> struct RotationZX {
  RotationZ<T> z;
  RotationX<T> x;
};

template <class A, class B> FS_HD Vec3<Product<A, B>> rotate(const RotationZ<A>& R, const Vec3<B>& v) {
  return {R.c * v.x() - R.s * v.y(), R.s * v.x() + R.c * v.y(), Product<A, B>(v.z())};
}
template <class A, class B> FS_HD Vec3<Product<A, B>> rotate_back(const RotationZ<A>& R, const Vec3<B>& v) {
  return {R.c * v.x() + R.s * v.y(), R.c * v.y() - R.s * v.x(), Product<A, B>(v.z())};
}
template <class A, class B> FS_HD Vec3<Product<A, B>> rotate(const RotationX<A>& R, const Vec3<B>& v) {
  return {Product<A, B>(v.x()), R.c * v.y() - R.s * v.z(), R.s * v.y() + R.c * v.z()};
}
template <class A, class B> FS_HD Vec3<Product<A, B>> rotate_back(const RotationX<A>& R, const Vec3<B>& v) {
  return {Product<A, B>(v.x()), R.c * v.y() + R.s * v.z(), R.c * v.z() - R.s * v.y()};
}
template <class A, class B> FS_HD Vec3<Product<A, B>> rotate(const Mat3<A>& R, const Vec3<B>& v) { return R * v; }
template <class A, class B> FS_HD Vec3<Product<A, B>> rotate_back(const Mat3<A>& R, const Vec3<B>& v) {
  return transpose_times(R, v);
}

// R m R^T
template <class A, class B> FS_HD Mat3<Product<A, B>> conjugate(const RotationZ<A>& R, const Mat3<B>& m) {
  using T = Product<A, B>;
  const T g = m(0, 1) + m(1, 0), t = R.s * (m(0, 0) - m(1, 1)) + R.c * g, y = R.s * t, d = R.c * t - g;
  return rows<T>(m(0, 0) - y, m(0, 1) + d, R.c * m(0, 2) - R.s * m(1, 2),  //
                 m(1, 0) + d, m(1, 1) + y, R.s * m(0, 2) + R.c * m(1, 2),  //
                 R.c * m(2, 0) - R.s * m(2, 1), R.s * m(2, 0) + R.c * m(2, 1), T(m(2, 2)));
}
template <class A, class B> FS_HD Mat3<Product<A, B>> conjugate(const RotationX<A>& R, const Mat3<B>& m) {
  using T = Product<A, B>;
  const T g = m(1, 2) + m(2, 1), t = R.s * (m(1, 1) - m(2, 2)) + R.c * g, y = R.s * t, d = R.c * t - g;
  return rows<T>(T(m(0, 0)), R.c * m(0, 1) - R.s * m(0, 2), R.s * m(0, 1) + R.c * m(0, 2),  //
                 R.c * m(1, 0) - R.s * m(2, 0), m(1, 1) - y, m(1, 2) + d,                   //
                 R.s * m(1, 0) + R.c * m(2, 0), m(2, 1) + d, m(2, 2) + y);
}
template <class A, class B> FS_HD Sym3<Product<A, B>> conjugate(const RotationZ<A>& R, const Sym3<B>& m) {
  using T = Product<A, B>;
  const T t = R.s * (m.xx - m.yy) + R.c * (m.xy + m.xy), y = R.s * t;
  return {m.xx - y, R.c * t - m.xy, R.c * m.xz - R.s * m.yz, m.yy + y, R.s * m.xz + R.c * m.yz, T(m.zz)};
}
template <class A, class B> FS_HD Sym3<Product<A, B>> conjugate(const RotationX<A>& R, const Sym3<B>& m) {
  using T = Product<A, B>;
  const T t = R.s * (m.yy - m.zz) + R.c * (m.yz + m.yz), y = R.s * t;
  return {T(m.xx), R.c * m.xy - R.s * m.xz, R.s * m.xy + R.c * m.xz, m.yy - y, R.c * t - m.yz, m.zz + y};
}
template <class A, class B> FS_HD Mat3<Product<A, B>> conjugate(const Mat3<A>& R, const Mat3<B>& m) {
  Mat3<Product<A, B>> t, u;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) t(i, j) = R(i, 0) * m(0, j) + R(i, 1) * m(1, j) + R(i, 2) * m(2, j);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) u(i, j) = t(i, 0) * R(j, 0) + t(i, 1) * R(j, 1) + t(i, 2) * R(j, 2);
  return u;
}
// R s R^T for symmetric s. Subtracting s.yy from the diagonal (a congruence leaves multiples of 1 alone) and using the
// orthonormality of R would save a few operations more; the rows are kept for readability.
template <class A, class B> FS_HD Sym3<Product<A, B>> conjugate(const Mat3<A>& R, const Sym3<B>& s) {
  Mat3<Product<A, B>> t;
  for (int i = 0; i < 3; i++) {
    t(i, 0) = R(i, 0) * s.xx + R(i, 1) * s.xy + R(i, 2) * s.xz;
    t(i, 1) = R(i, 0) * s.xy + R(i, 1) * s.yy + R(i, 2) * s.yz;
    t(i, 2) = R(i, 0) * s.xz + R(i, 1) * s.yz + R(i, 2) * s.zz;
  }
  auto at = [&](int i, int j) { return t(i, 0) * R(j, 0) + t(i, 1) * R(j, 1) + t(i, 2) * R(j, 2); };
  return {at(0, 0), at(0, 1), at(0, 2), at(1, 1), at(1, 2), at(2, 2)};
}

// Two rotations in sequence: a congruence costs less than half of that by a full matrix.
template <class A, class B> FS_HD Vec3<Product<A, B>> rotate(const RotationZX<A>& R, const Vec3<B>& v) {
  return rotate(R.z, rotate(R.x, v));
}
template <class A, class B> FS_HD Vec3<Product<A, B>> rotate_back(const RotationZX<A>& R, const Vec3<B>& v) {
  return rotate_back(R.x, rotate_back(R.z, v));
}
template <class A, class Matrix> FS_HD auto conjugate(const RotationZX<A>& R, const Matrix& m) {
  return conjugate(R.z, conjugate(R.x, m));
}

template <class T> FS_HD Mat3<T> matrix(const RotationZ<T>& R) {
  const T o(0.0), l(1.0);
  return rows<T>(R.c, -R.s, o, R.s, R.c, o, o, o, l);
}
template <class T> FS_HD Mat3<T> matrix(const RotationX<T>& R) {
  const T o(0.0), l(1.0);
  return rows<T>(l, o, o, o, R.c, -R.s, o, R.s, R.c);
}
template <class T> FS_HD Mat3<T> matrix(const Mat3<T>& R) { return R; }
template <class T> FS_HD Mat3<T> matrix(const RotationZX<T>& R) { return matrix(R.z) * matrix(R.x); }

// The rotation about z by the angle q.
template <class T> FS_HD RotationZ<T> rotation_z(const T& q) {
  RotationZ<T> R;
  sincos(q, R.s, R.c);
  return R;
}
// Rotation about z by q plus the fixed angle of `zero`.
template <class T, class P> FS_HD RotationZ<T> operator*(const RotationZ<T>& R, const RotationZ<P>& zero) {
  return {R.c * zero.c - R.s * zero.s, R.s * zero.c + R.c * zero.s};
}

}  // namespace featherstorm
