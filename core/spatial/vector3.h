// 3-vectors and 3x3 matrices: Eigen's storage, with plain operators that return plain values.
//
// The operators are more specific than Eigen's own and are chosen before them for these sizes; no expression template is
// built, so `auto` is safe, every compiler inlines them, and the model's scalar may differ from the state's
// (float constants with a pack of floats, double constants with a tracing scalar).
#pragma once
#include <Eigen/Core>

#include "core/scalar/scalar.h"

namespace featherstorm {

template <class T> using Vec3 = Eigen::Matrix<T, 3, 1>;
template <class T> using Mat3 = Eigen::Matrix<T, 3, 3>;
template <class A, class B> using Product = decltype(std::declval<A>() * std::declval<B>());
template <class S>
concept Number = !std::is_base_of_v<Eigen::EigenBase<S>, S>;

template <class T> FS_HD Vec3<T> zero3() { return {T(0.0), T(0.0), T(0.0)}; }

template <class A, class B> FS_HD Vec3<Product<A, B>> operator+(const Vec3<A>& a, const Vec3<B>& b) {
  return {a.x() + b.x(), a.y() + b.y(), a.z() + b.z()};
}
template <class A, class B> FS_HD Vec3<Product<A, B>> operator-(const Vec3<A>& a, const Vec3<B>& b) {
  return {a.x() - b.x(), a.y() - b.y(), a.z() - b.z()};
}
template <class T> FS_HD Vec3<T> operator-(const Vec3<T>& a) { return {-a.x(), -a.y(), -a.z()}; }
template <class A, Number B> FS_HD Vec3<Product<A, B>> operator*(const Vec3<A>& a, const B& s) {
  return {a.x() * s, a.y() * s, a.z() * s};
}
template <class A, class B> FS_HD Product<A, B> dot(const Vec3<A>& a, const Vec3<B>& b) {
  return a.x() * b.x() + a.y() * b.y() + a.z() * b.z();
}
template <class A, class B> FS_HD Vec3<Product<A, B>> cross(const Vec3<A>& a, const Vec3<B>& b) {
  return {a.y() * b.z() - a.z() * b.y(), a.z() * b.x() - a.x() * b.z(), a.x() * b.y() - a.y() * b.x()};
}

// In-place sums: each number is added where it lies, so no temporary is copied.
template <class T> FS_HD void add_to(Vec3<T>& a, const Vec3<T>& b) {
  for (int i = 0; i < 3; i++) a(i) += b(i);
}
template <class T> FS_HD void add_to(Mat3<T>& a, const Mat3<T>& b) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a(i, j) += b(i, j);
}

// The matrix with these rows.
template <class T>
FS_HD Mat3<T> rows(const T& a, const T& b, const T& c, const T& d, const T& e, const T& f, const T& g, const T& h,
                   const T& i) {
  Mat3<T> m;
  m(0, 0) = a, m(0, 1) = b, m(0, 2) = c;
  m(1, 0) = d, m(1, 1) = e, m(1, 2) = f;
  m(2, 0) = g, m(2, 1) = h, m(2, 2) = i;
  return m;
}
template <class A, class B> FS_HD Vec3<Product<A, B>> operator*(const Mat3<A>& m, const Vec3<B>& v) {
  return {m(0, 0) * v.x() + m(0, 1) * v.y() + m(0, 2) * v.z(), m(1, 0) * v.x() + m(1, 1) * v.y() + m(1, 2) * v.z(),
          m(2, 0) * v.x() + m(2, 1) * v.y() + m(2, 2) * v.z()};
}
// m^T v
template <class A, class B> FS_HD Vec3<Product<A, B>> transpose_times(const Mat3<A>& m, const Vec3<B>& v) {
  return {m(0, 0) * v.x() + m(1, 0) * v.y() + m(2, 0) * v.z(), m(0, 1) * v.x() + m(1, 1) * v.y() + m(2, 1) * v.z(),
          m(0, 2) * v.x() + m(1, 2) * v.y() + m(2, 2) * v.z()};
}
template <class A, class B> FS_HD Mat3<Product<A, B>> operator*(const Mat3<A>& a, const Mat3<B>& b) {
  Mat3<Product<A, B>> m;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) m(i, j) = a(i, 0) * b(0, j) + a(i, 1) * b(1, j) + a(i, 2) * b(2, j);
  return m;
}
template <class A, class B> FS_HD Mat3<Product<A, B>> operator+(const Mat3<A>& a, const Mat3<B>& b) {
  Mat3<Product<A, B>> m;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) m(i, j) = a(i, j) + b(i, j);
  return m;
}
template <class T> FS_HD Mat3<T> transposed(const Mat3<T>& m) {
  return rows<T>(m(0, 0), m(1, 0), m(2, 0), m(0, 1), m(1, 1), m(2, 1), m(0, 2), m(1, 2), m(2, 2));
}
// m - a b^T
template <class T> FS_HD Mat3<T> minus_outer(const Mat3<T>& m, const Vec3<T>& a, const Vec3<T>& b) {
  Mat3<T> r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) r(i, j) = m(i, j) - a(i) * b(j);
  return r;
}
// [r x] m, column by column
template <class A, class B> FS_HD Mat3<Product<A, B>> cross_columns(const Vec3<A>& r, const Mat3<B>& m) {
  Mat3<Product<A, B>> t;
  for (int c = 0; c < 3; c++) {
    t(0, c) = r.y() * m(2, c) - r.z() * m(1, c);
    t(1, c) = r.z() * m(0, c) - r.x() * m(2, c);
    t(2, c) = r.x() * m(1, c) - r.y() * m(0, c);
  }
  return t;
}

// A symmetric 3x3 matrix: its six numbers.
template <class T> struct Sym3 { T xx, xy, xz, yy, yz, zz; };
template <class T> FS_HD Mat3<T> full(const Sym3<T>& s) {
  return rows<T>(s.xx, s.xy, s.xz, s.xy, s.yy, s.yz, s.xz, s.yz, s.zz);
}
template <class T> FS_HD Sym3<T> upper(const Mat3<T>& m) {
  return {m(0, 0), m(0, 1), m(0, 2), m(1, 1), m(1, 2), m(2, 2)};
}
template <class A, class B> FS_HD Vec3<Product<A, B>> operator*(const Sym3<A>& s, const Vec3<B>& v) {
  return {s.xx * v.x() + s.xy * v.y() + s.xz * v.z(), s.xy * v.x() + s.yy * v.y() + s.yz * v.z(),
          s.xz * v.x() + s.yz * v.y() + s.zz * v.z()};
}
template <class A, class B> FS_HD Sym3<Product<A, B>> operator+(const Sym3<A>& a, const Sym3<B>& b) {
  return {a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}
template <class T> FS_HD void add_to(Sym3<T>& a, const Sym3<T>& b) {
  a.xx += b.xx, a.xy += b.xy, a.xz += b.xz, a.yy += b.yy, a.yz += b.yz, a.zz += b.zz;
}
template <class A, class B> FS_HD Sym3<Product<A, B>> operator-(const Sym3<A>& a, const Sym3<B>& b) {
  return {a.xx - b.xx, a.xy - b.xy, a.xz - b.xz, a.yy - b.yy, a.yz - b.yz, a.zz - b.zz};
}
// s - a b^T where a b^T is symmetric
template <class T> FS_HD Sym3<T> minus_outer(const Sym3<T>& s, const Vec3<T>& a, const Vec3<T>& b) {
  return {s.xx - a.x() * b.x(), s.xy - a.x() * b.y(), s.xz - a.x() * b.z(),
          s.yy - a.y() * b.y(), s.yz - a.y() * b.z(), s.zz - a.z() * b.z()};
}

template <class T, class S> FS_HD Vec3<T> cast(const Vec3<S>& v) { return {T(v.x()), T(v.y()), T(v.z())}; }
template <class T, class S> FS_HD Mat3<T> cast(const Mat3<S>& m) {
  return rows<T>(T(m(0, 0)), T(m(0, 1)), T(m(0, 2)), T(m(1, 0)), T(m(1, 1)), T(m(1, 2)), T(m(2, 0)), T(m(2, 1)),
                 T(m(2, 2)));
}
template <class T, class S> FS_HD Sym3<T> cast(const Sym3<S>& s) {
  return {T(s.xx), T(s.xy), T(s.xz), T(s.yy), T(s.yz), T(s.zz)};
}

}  // namespace featherstorm
