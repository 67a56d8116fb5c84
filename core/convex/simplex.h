// Point of a simplex nearest to zero, as weights of the corners.
//
//   edge a b        e = b - a:   weight of b is -(a . e) / |e|^2, between 0 and 1
//   triangle a b c  n = (b - a) x (c - a):   weight of a is n . (b x c) / |n|^2, cyclically; if one is below 0, on an
//                   edge
//   tetrahedron     zero itself, if it is inside all faces; else on one of the faces that have it outside
#pragma once
#include "core/convex/convex_body.h"

namespace featherstorm {

template <class T> struct Simplex {
  Difference<T> corner[4];
  T weight[4];
  int n = 0;
};

namespace simplex {

// Some corners of a simplex, and the point nearest to zero between them.
template <class T> struct Nearest {
  T square;  // squared distance from zero
  T weight[4];
};

template <class T> FS_HD void keep_nearer(Nearest<T>& best, const Simplex<T>& s, const T (&weight)[4]) {
  Vec3<T> x = zero3<T>();
  for (int i = 0; i < s.n; i++) x = x + s.corner[i].w * weight[i];
  const T square = dot(x, x);
  if (!(square < best.square)) return;
  best.square = square;
  for (int i = 0; i < 4; i++) best.weight[i] = weight[i];
}

template <class T> FS_HD void on_edge(const Simplex<T>& s, int i, int j, Nearest<T>& best) {
  const Vec3<T>& a = s.corner[i].w;
  const Vec3<T> e = s.corner[j].w - a;
  const T square = dot(e, e), along = -dot(a, e);
  const T t = along <= T(0.0) ? T(0.0) : square <= along ? T(1.0) : along / square;
  T weight[4] = {};
  weight[i] = T(1.0) - t, weight[j] = t;
  keep_nearer(best, s, weight);
}

template <class T> FS_HD void on_triangle(const Simplex<T>& s, int i, int j, int k, Nearest<T>& best) {
  const Vec3<T>&a = s.corner[i].w, &b = s.corner[j].w, &c = s.corner[k].w;
  const Vec3<T> n = cross(b - a, c - a);
  const T square = dot(n, n), x = dot(n, cross(b, c)), y = dot(n, cross(c, a)), z = dot(n, cross(a, b));
  if (T(0.0) < min(x, min(y, z))) {
    const T inverse = rcp(square);
    T weight[4] = {};
    weight[i] = x * inverse, weight[j] = y * inverse, weight[k] = z * inverse;
    keep_nearer(best, s, weight);
  }
  on_edge(s, i, j, best), on_edge(s, j, k, best), on_edge(s, k, i, best);
}

// Returns true if the face i j k separates zero from corner l, or if the tetrahedron is flat.
template <class T> FS_HD bool is_outside(const Simplex<T>& s, int i, int j, int k, int l) {
  const Vec3<T>& a = s.corner[i].w;
  const Vec3<T> n = cross(s.corner[j].w - a, s.corner[k].w - a);
  const T inside = dot(n, s.corner[l].w - a), zero = -dot(n, a);
  return inside <= T(0.0) ? T(0.0) <= zero : zero <= T(0.0);
}

}  // namespace simplex

// Keeps only the corners around the nearest point, with its weights. Returns true if zero is within a tetrahedron.
template <class T> FS_HD bool reduce(Simplex<T>& s) {
  simplex::Nearest<T> best{T(1e300), {}};
  if (s.n == 4) {
    bool inside = true;
    for (int l = 0; l < 4; l++) {
      const int i = (l + 1) % 4, j = (l + 2) % 4, k = (l + 3) % 4;
      if (!simplex::is_outside(s, i, j, k, l)) continue;
      inside = false;
      simplex::on_triangle(s, i, j, k, best);
    }
    if (inside) return true;
  } else if (s.n == 3) {
    simplex::on_triangle(s, 0, 1, 2, best);
  } else if (s.n == 2) {
    simplex::on_edge(s, 0, 1, best);
  } else {
    best.weight[0] = T(1.0);
  }
  int n = 0;
  for (int i = 0; i < s.n; i++) {
    if (!(T(0.0) < best.weight[i])) continue;
    s.corner[n] = s.corner[i], s.weight[n++] = best.weight[i];
  }
  s.n = n;
  return false;
}

}  // namespace featherstorm
