// The cheapest forms that RBDA's operation counts assume, on their own: axial screws (section A.4, Table A.5) and the
// rotations of section A.5 with what depends on the angle alone computed once. What core/ does instead is counted
// beside.
//
// A screw turns by an angle about an axis and slides by d along it; it takes forces and inertias of the turned frame to
// the fixed one, X^T f and X^T I X. A Plücker transform is three of them (z, x, z), one between Denavit-Hartenberg
// frames two (x, z).
#pragma once
#include "core/spatial/transform.h"

namespace featherstorm::testing {

// E = F G by two columns, the third is their vector product.
template <class T>
Mat3<T> product_by_columns(const Mat3<T>& F, const Mat3<T>& G) {
  Vec3<T> c[3];
  for (int j = 0; j < 2; j++) c[j] = F * Vec3<T>{G(0, j), G(1, j), G(2, j)};
  c[2] = cross(c[0], c[1]);
  return rows<T>(c[0](0), c[1](0), c[2](0), c[0](1), c[1](1), c[2](1), c[0](2), c[1](2), c[2](2));
}

// E A E^T with A = L + A33 1 + v x, where the last column of L is zero; Z = E L E^T has the trace of L.
template <class T>
Mat3<T> conjugate_by_trace(const Mat3<T>& E, const Mat3<T>& A) {
  const T l00 = A(0, 0) - A(2, 2), l11 = A(1, 1) - A(2, 2), l20 = A(2, 0) + A(0, 2), l21 = A(2, 1) + A(1, 2);
  Mat3<T> Z;
  for (int i = 0; i < 3; i++) {
    const T y0 = E(i, 0) * l00 + E(i, 1) * A(1, 0) + E(i, 2) * l20,
            y1 = E(i, 0) * A(0, 1) + E(i, 1) * l11 + E(i, 2) * l21;
    for (int j = i == 0 ? 1 : 0; j < 3; j++) Z(i, j) = y0 * E(j, 0) + y1 * E(j, 1);
  }
  Z(0, 0) = l00 + l11 - Z(1, 1) - Z(2, 2);
  T v[3];
  for (int i = 0; i < 3; i++) v[i] = E(i, 1) * A(0, 2) - E(i, 0) * A(1, 2);
  for (int i = 0; i < 3; i++) Z(i, i) = Z(i, i) + A(2, 2);
  Z(0, 1) = Z(0, 1) - v[2], Z(0, 2) = Z(0, 2) + v[1], Z(1, 0) = Z(1, 0) + v[2];
  Z(1, 2) = Z(1, 2) - v[0], Z(2, 0) = Z(2, 0) - v[1], Z(2, 1) = Z(2, 1) + v[0];
  return Z;
}
template <class T>
Sym3<T> conjugate_by_trace(const Mat3<T>& E, const Sym3<T>& A) {
  const T l00 = A.xx - A.zz, l11 = A.yy - A.zz, l20 = A.xz + A.xz, l21 = A.yz + A.yz;
  const auto y0 = [&](int i) { return E(i, 0) * l00 + E(i, 1) * A.xy + E(i, 2) * l20; };
  const auto y1 = [&](int i) { return E(i, 0) * A.xy + E(i, 1) * l11 + E(i, 2) * l21; };
  const T y10 = y0(1), y11 = y1(1), y20 = y0(2), y21 = y1(2);
  const T z10 = y10 * E(0, 0) + y11 * E(0, 1), z20 = y20 * E(0, 0) + y21 * E(0, 1), z21 = y20 * E(1, 0) + y21 * E(1, 1);
  const T z11 = y10 * E(1, 0) + y11 * E(1, 1), z22 = y20 * E(2, 0) + y21 * E(2, 1), z00 = l00 + l11 - z11 - z22;
  const auto v = [&](int i) { return E(i, 1) * A.xz - E(i, 0) * A.yz; };
  return {z00 + A.zz, z10 + v(2), z20 - v(1), z11 + A.zz, z21 + v(0), z22 + A.zz};
}

// A turn about z with the numbers that rotations of matrices need of it.
template <class T>
struct Turn {
  T c, s, s2, cs, twice_cs, one_minus;  // cos, sin, s^2, c s, 2 c s, 1 - 2 s^2
};
template <class T>
Turn<T> turn(const T& c, const T& s) {
  const T s2 = s * s, cs = c * s;
  return {c, s, s2, cs, cs + cs, T(1.0) - (s2 + s2)};
}
// The axis of a screw is coordinate `axis`; u and v are the ones after it.
template <class T>
struct Screw {
  Turn<T> R;
  T d;
  int axis;
  int u() const { return (axis + 1) % 3; }
  int v() const { return (axis + 2) % 3; }
};
template <class T>
Vec3<T> turned(const Screw<T>& X, const Vec3<T>& a) {
  const int u = X.u(), v = X.v();
  Vec3<T> b = a;
  b(u) = X.R.c * a(u) - X.R.s * a(v), b(v) = X.R.s * a(u) + X.R.c * a(v);
  return b;
}
template <class T>
Mat3<T> turned(const Screw<T>& X, const Mat3<T>& A) {
  const int u = X.u(), v = X.v(), w = X.axis;
  const T sum = A(u, v) + A(v, u), difference = A(v, v) - A(u, u);
  const T alpha = X.R.s2 * difference - X.R.cs * sum, beta = -(X.R.cs * difference + X.R.s2 * sum);
  Mat3<T> B = A;
  B(u, u) = A(u, u) + alpha, B(v, v) = A(v, v) - alpha, B(u, v) = A(u, v) + beta, B(v, u) = A(v, u) + beta;
  B(u, w) = X.R.c * A(u, w) - X.R.s * A(v, w), B(v, w) = X.R.s * A(u, w) + X.R.c * A(v, w);
  B(w, u) = X.R.c * A(w, u) - X.R.s * A(w, v), B(w, v) = X.R.s * A(w, u) + X.R.c * A(w, v);
  return B;
}
// The lower triangle is not looked at.
template <class T>
Sym3<T> turned(const Screw<T>& X, const Sym3<T>& A) {
  const int u = X.u(), v = X.v(), w = X.axis;
  const Mat3<T> a = full(A);
  const T difference = a(v, v) - a(u, u);
  const T alpha = X.R.s2 * difference - X.R.twice_cs * a(u, v);
  Mat3<T> b;
  b(w, w) = a(w, w), b(u, u) = a(u, u) + alpha, b(v, v) = a(v, v) - alpha;
  b(u, v) = b(v, u) = X.R.one_minus * a(u, v) - X.R.cs * difference;
  b(u, w) = b(w, u) = X.R.c * a(u, w) - X.R.s * a(v, w), b(v, w) = b(w, v) = X.R.s * a(u, w) + X.R.c * a(v, w);
  return upper(b);
}

// X^T f
template <class T>
Force<T> apply_transpose(const Screw<T>& X, const Force<T>& f) {
  Force<T> g{turned(X, f.n), turned(X, f.f)};
  g.n(X.u()) = g.n(X.u()) - X.d * g.f(X.v()), g.n(X.v()) = g.n(X.v()) + X.d * g.f(X.u());
  return g;
}
// X^T I X; md = m d is a constant of the model
template <class T>
RigidBodyInertia<T> apply_transpose(const Screw<T>& X, const RigidBodyInertia<T>& J, const T& md) {
  const int u = X.u(), v = X.v(), w = X.axis;
  const Vec3<T> h = turned(X, J.h);
  Vec3<T> moved = h;
  moved(w) = h(w) + md;
  Mat3<T> I = full(turned(X, J.I));
  const T e = X.d * (h(w) + moved(w)), fu = X.d * h(u), fv = X.d * h(v);
  I(u, u) = I(u, u) + e, I(v, v) = I(v, v) + e;
  I(u, w) = I(w, u) = I(u, w) - fu, I(v, w) = I(w, v) = I(v, w) - fv;
  return {J.m, moved, upper(I)};
}
// X^T I^A X
template <class T>
ArticulatedInertia<T> apply_transpose(const Screw<T>& X, const ArticulatedInertia<T>& J) {
  const int u = X.u(), v = X.v(), w = X.axis;
  const Sym3<T> M = turned(X, J.M);
  const Mat3<T> m = full(M), H = turned(X, J.H);
  const T uu = X.d * m(u, u), uv = X.d * m(u, v), uw = X.d * m(u, w), vv = X.d * m(v, v), vw = X.d * m(v, w);
  Mat3<T> G = H, I = full(turned(X, J.I));
  // H' = H + r x M with r = d along the axis
  G(u, u) = H(u, u) - uv, G(u, v) = H(u, v) - vv, G(u, w) = H(u, w) - vw;
  G(v, u) = H(v, u) + uu, G(v, v) = H(v, v) + uv, G(v, w) = H(v, w) + uw;
  // I' = I + r x H'^T + (r x H^T)^T
  const T a = X.d * (G(u, v) + H(u, v)), b = X.d * (H(u, u) - G(v, v)), c = X.d * (G(v, u) + H(v, u));
  const T e = X.d * H(w, v), f = X.d * H(w, u);
  I(u, u) = I(u, u) - a, I(v, v) = I(v, v) + c, I(u, v) = I(v, u) = I(u, v) + b;
  I(u, w) = I(w, u) = I(u, w) - e, I(v, w) = I(w, v) = I(v, w) + f;
  return {upper(I), G, M};
}

}  // namespace featherstorm::testing
