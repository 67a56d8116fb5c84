// Slopes of the medium's forces (fluid.h) with respect to velocity: B = d(n; f) / d(w; v) of each link, 6 x 6, not
// symmetric.
#pragma once
#include "core/passive/fluid.h"
#include "core/scalar/dual.h"

namespace featherstorm {

// Matrix that maps motions to forces: (n; f) = [nw nv; fw fv] (w; v).
template <class T> struct Resistance { Mat3<T> nw, nv, fw, fv; };

template <class T> FS_HD Resistance<T> no_resistance() {
  const T o(0.0);
  const Mat3<T> z = rows<T>(o, o, o, o, o, o, o, o, o);
  return {z, z, z, z};
}
template <class T> FS_HD Resistance<T>& operator+=(Resistance<T>& a, const Resistance<T>& b) {
  add_to(a.nw, b.nw), add_to(a.nv, b.nv), add_to(a.fw, b.fw), add_to(a.fv, b.fv);
  return a;
}
template <class T> FS_HD Force<T> operator*(const Resistance<T>& B, const Motion<T>& u) {
  return {B.nw * u.w + B.nv * u.v, B.fw * u.w + B.fv * u.v};
}
// B^T u
template <class T> FS_HD Force<T> transpose_times(const Resistance<T>& B, const Motion<T>& u) {
  return {transpose_times(B.nw, u.w) + transpose_times(B.fw, u.v),
          transpose_times(B.nv, u.w) + transpose_times(B.fv, u.v)};
}
// (B + B^T) / 2
template <class T> FS_HD Resistance<T> symmetrised(const Resistance<T>& B) {
  Resistance<T> S;
  const T half(0.5);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      S.nw(i, j) = half * (B.nw(i, j) + B.nw(j, i)), S.fv(i, j) = half * (B.fv(i, j) + B.fv(j, i));
      S.nv(i, j) = half * (B.nv(i, j) + B.fw(j, i)), S.fw(j, i) = S.nv(i, j);
    }
  return S;
}

// Computes d force(u) / du, column by column.
template <class T> FS_HD Resistance<T> resistance(const Motion<T>& u, const auto& force) {
  using D = Dual<T>;
  Resistance<T> B;
  for (int k = 0; k < 6; k++) {
    Motion<D> along;
    for (int i = 0; i < 3; i++) {
      along.w(i) = D(u.w(i), T(k == i ? 1.0 : 0.0));
      along.v(i) = D(u.v(i), T(k == i + 3 ? 1.0 : 0.0));
    }
    const Force<D> f = force(along);
    for (int i = 0; i < 3; i++) {
      (k < 3 ? B.nw : B.nv)(i, k % 3) = f.n(i).d;
      (k < 3 ? B.fw : B.fv)(i, k % 3) = f.f(i).d;
    }
  }
  return B;
}

// Transforms B to the frame in which a placement X is given: X^T B X, column by column.
template <class T, class P> FS_HD Resistance<T> apply_transpose(const Placement<P>& X, const Resistance<T>& B) {
  Resistance<T> R;
  const T o(0.0), one(1.0);
  for (int k = 0; k < 6; k++) {
    Motion<T> e = zero_motion<T>();
    for (int i = 0; i < 3; i++) e.w(i) = k == i ? one : o, e.v(i) = k == i + 3 ? one : o;
    const Force<T> f = apply_transpose(X, B * apply(X, e));
    for (int i = 0; i < 3; i++) {
      (k < 3 ? R.nw : R.nv)(i, k % 3) = f.n(i);
      (k < 3 ? R.fw : R.fv)(i, k % 3) = f.f(i);
    }
  }
  return R;
}

// Adds the medium's slopes.
//
// in      X, V (nb + 1)  placements of the bodies, and their velocities in their own axes
// in      whole (nb + 1)  1: the slopes of a body are used in full; 0: they are symmetrised
// in      drag_alone  true: ellipsoids without added mass and lift
// in-out  B (nb + 1)  of each body, its own axes: the medium's slopes are added
// Cost O(links).
template <class T>
FS_HD void add_fluid_slopes(const auto& m, const auto& w, const auto& X, const auto& V, const auto& whole, auto& B,
                            bool drag_alone = false) {
  const Vec3<T> wind = cast<T>(w.medium.wind);
  auto against = scratch<Motion<T>>(m.nb + 1);
  for (int i = 1; i <= m.nb; i++) against[i] = {V[i].w, V[i].v - transpose_times(X[i].R, wind)};
  const auto add = [&](int i, const auto& place, const auto& force) {
    const Resistance<T> own = resistance(Motion<T>(apply(place, against[i])), force);
    B[i] += apply_transpose(place, whole[i] ? own : symmetrised(own));
  };
  for (const auto& link : w.link) {
    const int i = link.inertial.body;
    if (i == 0) continue;
    if (link.in_medium) add(i, link.inertial.X, [&](const Motion<Dual<T>>& u) { return box_force(w.medium, link, u); });
    for (const auto& e : link.ellipsoid)
      add(i, e.place.X, [&](const Motion<Dual<T>>& u) { return ellipsoid_force(w.medium, e, u, drag_alone); });
  }
}

}  // namespace featherstorm
