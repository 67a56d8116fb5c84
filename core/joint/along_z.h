// Sparse 3-vectors: (0 0 z) and 0, with only the products that the sweeps need.
#pragma once
#include "core/spatial/motion.h"
#include "core/spatial/rotation.h"

namespace featherstorm {

template <class T> struct AlongZ { T z; };
struct NoVector {};

template <class T> FS_HD Vec3<T> operator+(const Vec3<T>& a, const AlongZ<T>& b) { return {a.x(), a.y(), a.z() + b.z}; }
template <class T> FS_HD Vec3<T> operator+(const Vec3<T>& a, NoVector) { return a; }
// a + b x c
template <class T> FS_HD Vec3<T> add_cross(const Vec3<T>& a, const Vec3<T>& b, const AlongZ<T>& c) {
  return {a.x() + b.y() * c.z, a.y() - b.x() * c.z, a.z()};
}
template <class T> FS_HD Vec3<T> add_cross(const Vec3<T>& a, const Vec3<T>&, NoVector) { return a; }
template <class T> FS_HD Vec3<T> add_cross(const Vec3<T>& a, const Vec3<T>& b, const Vec3<T>& c) {
  return a + cross(b, c);
}
template <class T> FS_HD AlongZ<T> twice(const AlongZ<T>& a) { return {a.z + a.z}; }
template <class T> FS_HD Vec3<T> twice(const Vec3<T>& a) { return a + a; }
FS_HD NoVector twice(NoVector a) { return a; }

// The product of a fixed placement's rotation and a joint's, as a full matrix.
template <class A, class B> FS_HD Mat3<Product<A, B>> matrix_times(const RotationX<A>& a, const Mat3<B>& b) {
  Mat3<Product<A, B>> m;
  for (int j = 0; j < 3; j++) {
    m(0, j) = b(0, j);
    m(1, j) = a.c * b(1, j) - a.s * b(2, j);
    m(2, j) = a.s * b(1, j) + a.c * b(2, j);
  }
  return m;
}
template <class A, class B> FS_HD Mat3<Product<A, B>> matrix_times(const RotationZX<A>& a, const Mat3<B>& b) {
  const Mat3<Product<A, B>> t = matrix_times(a.x, b);
  Mat3<Product<A, B>> m;
  for (int j = 0; j < 3; j++) {
    m(0, j) = a.z.c * t(0, j) - a.z.s * t(1, j);
    m(1, j) = a.z.s * t(0, j) + a.z.c * t(1, j);
    m(2, j) = t(2, j);
  }
  return m;
}

}  // namespace featherstorm
