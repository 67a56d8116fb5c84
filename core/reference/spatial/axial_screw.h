// Axial screw transforms: a rotation about and a translation along one coordinate axis. RBDA section A.4, Table A.5.
// Rotations of matrices about a coordinate axis: section A.5.
//
//   scr_k(theta, d) = rot_k(theta) xlt(d e_k) = xlt(d e_k) rot_k(theta)
//
// With i, j, k cyclic the formulae are the same for the three axes. All transforms go from the old frame to the new
// one, as X m, X* f, X* I X^-1. Any Plücker transform is a product of three axial screws; two of them give a pair of
// Denavit-Hartenberg frames. The algorithms use RotationZ and RotationX (rotation.h) with the same counts. This is the
// book's own form, for comparison and for generators.
#pragma once
#include "core/spatial/inertia.h"

namespace featherstorm {

template <int axis, class T>
struct AxialScrew {
  T c, s, d;                     // cos, sin, translation [m]
  T ss, cs, two_cs, one_two_ss;  // s^2, cs, 2 cs, 1 - 2 s^2: the one-time cost 2m + 3a
};
// Builds a screw from cos theta, sin theta and d. Its inverse is that of (c, -s, -d).
template <int axis, class T>
FS_HD AxialScrew<axis, T> axial_screw(const T& c, const T& s, const T& d) {
  AxialScrew<axis, T> X;
  X.c = c, X.s = s, X.d = d, X.ss = s * s, X.cs = c * s;
  X.two_cs = X.cs + X.cs, X.one_two_ss = T(1.0) - (X.ss + X.ss);
  return X;
}
template <int axis, class T>
FS_HD AxialScrew<axis, T> axial_screw(const T& theta, const T& d) {
  T s, c;
  sincos(theta, s, c);
  return axial_screw<axis>(c, s, d);
}

// E v: 4m + 2a
template <int axis, class T>
FS_HD Vec3<T> turn(const AxialScrew<axis, T>& X, const Vec3<T>& v) {
  constexpr int i = (axis + 1) % 3, j = (axis + 2) % 3;
  Vec3<T> r = v;
  r(i) = X.c * v(i) + X.s * v(j), r(j) = X.c * v(j) - X.s * v(i);
  return r;
}
// E A E^T: 12m + 12a
template <int axis, class T>
FS_HD Mat3<T> turn(const AxialScrew<axis, T>& X, const Mat3<T>& A) {
  constexpr int i = (axis + 1) % 3, j = (axis + 2) % 3, k = axis;
  const T sum = A(i, j) + A(j, i), difference = A(j, j) - A(i, i);
  const T alpha = X.cs * sum + X.ss * difference, beta = X.cs * difference - X.ss * sum;
  Mat3<T> B;
  B(i, i) = A(i, i) + alpha, B(i, j) = A(i, j) + beta, B(i, k) = X.c * A(i, k) + X.s * A(j, k);
  B(j, i) = A(j, i) + beta, B(j, j) = A(j, j) - alpha, B(j, k) = X.c * A(j, k) - X.s * A(i, k);
  B(k, i) = X.c * A(k, i) + X.s * A(k, j), B(k, j) = X.c * A(k, j) - X.s * A(k, i), B(k, k) = A(k, k);
  return B;
}
// E A E^T of a symmetric matrix: 8m + 7a
template <int axis, class T>
FS_HD Sym3<T> turn(const AxialScrew<axis, T>& X, const Sym3<T>& S) {
  constexpr int i = (axis + 1) % 3, j = (axis + 2) % 3, k = axis;
  const Mat3<T> A = full(S);
  const T difference = A(j, j) - A(i, i);
  const T alpha = X.two_cs * A(i, j) + X.ss * difference, beta = X.cs * difference + X.one_two_ss * A(i, j);
  Mat3<T> B;
  B(i, i) = A(i, i) + alpha, B(j, j) = A(j, j) - alpha, B(k, k) = A(k, k);
  B(i, j) = B(j, i) = beta;
  B(i, k) = B(k, i) = X.c * A(i, k) + X.s * A(j, k);
  B(j, k) = B(k, j) = X.c * A(j, k) - X.s * A(i, k);
  return upper(B);
}

// X m: 10m + 6a
template <int axis, class T>
FS_HD Motion<T> apply(const AxialScrew<axis, T>& X, const Motion<T>& m) {
  constexpr int i = (axis + 1) % 3, j = (axis + 2) % 3;
  Vec3<T> v = m.v;  // v - r × w
  v(i) = v(i) + X.d * m.w(j), v(j) = v(j) - X.d * m.w(i);
  return {turn(X, m.w), turn(X, v)};
}
// X* f: 10m + 6a
template <int axis, class T>
FS_HD Force<T> apply_dual(const AxialScrew<axis, T>& X, const Force<T>& f) {
  constexpr int i = (axis + 1) % 3, j = (axis + 2) % 3;
  Vec3<T> n = f.n;  // n - r × f
  n(i) = n(i) + X.d * f.f(j), n(j) = n(j) - X.d * f.f(i);
  return {turn(X, n), turn(X, f.f)};
}
// X* I X^-1: y = h - m r, Z = I + r×h× + y×r×, then E y and E Z E^T. 16m + 15a, or 1m less if m d is known: a constant
// of the model (RBDA section 10.3.1).
template <int axis, class T>
FS_HD RigidBodyInertia<T> apply_dual(const AxialScrew<axis, T>& X, const RigidBodyInertia<T>& J, const T& md) {
  constexpr int i = (axis + 1) % 3, j = (axis + 2) % 3, k = axis;
  Vec3<T> y = J.h;
  y(k) = y(k) - md;
  Mat3<T> Z = full(J.I);
  const T a = X.d * (J.h(k) + y(k));
  Z(i, i) = Z(i, i) - a, Z(j, j) = Z(j, j) - a;
  Z(i, k) = Z(k, i) = Z(i, k) + X.d * J.h(i);
  Z(j, k) = Z(k, j) = Z(j, k) + X.d * J.h(j);
  return {J.m, turn(X, y), turn(X, upper(Z))};
}
template <int axis, class T>
FS_HD RigidBodyInertia<T> apply_dual(const AxialScrew<axis, T>& X, const RigidBodyInertia<T>& J) {
  return apply_dual(X, J, J.m * X.d);
}
// X* I^A X^-1, the rotation first: M = E M E^T, H = E H E^T, I = E I E^T, then H' = Y = H - r×M, I' = I - r×H^T + Y r×.
// 38m + 40a. In this order, zeros of I^a = I^A - I^A S (S^T I^A S)^-1 S^T I^A (row and column 3, for a joint's axis z)
// fold away in a traced program. This gives the book's 28m + 34a for scrz and 32m + 28a for scrx.
template <int axis, class T>
FS_HD ArticulatedInertia<T> apply_dual(const AxialScrew<axis, T>& X, const ArticulatedInertia<T>& J) {
  constexpr int i = (axis + 1) % 3, j = (axis + 2) % 3, k = axis;
  const Sym3<T> turned = turn(X, J.M);
  const Mat3<T> M = full(turned), H = turn(X, J.H);
  const T d_Mij = X.d * M(i, j);
  Mat3<T> Y = H, Z = full(turn(X, J.I));
  Y(i, i) = Y(i, i) + d_Mij, Y(i, j) = Y(i, j) + X.d * M(j, j), Y(i, k) = Y(i, k) + X.d * M(j, k);
  Y(j, i) = Y(j, i) - X.d * M(i, i), Y(j, j) = Y(j, j) - d_Mij, Y(j, k) = Y(j, k) - X.d * M(i, k);
  Z(i, i) = Z(i, i) + X.d * (H(i, j) + Y(i, j)), Z(j, j) = Z(j, j) - X.d * (H(j, i) + Y(j, i));
  Z(i, j) = Z(j, i) = Z(i, j) + X.d * (Y(j, j) - H(i, i));
  Z(i, k) = Z(k, i) = Z(i, k) + X.d * H(k, j);
  Z(j, k) = Z(k, j) = Z(j, k) - X.d * H(k, i);
  return {upper(Z), Y, turned};
}

}  // namespace featherstorm
