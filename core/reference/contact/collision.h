// Collision of two bodies at one point: closed forms. RBDA (11.55), (11.60)-(11.72), Figure 11.8.
//
//   without friction  lambda = -(1 + e) n . (v2 - v1) / n . (I1^-1 + I2^-1) n                        (11.65)
//   sticking          lambda = -(N^T (I1^-1 + I2^-1) N)^-1 (1 + E) N^T (v2 - v1),  E = diag(0, 0, e)    (11.72)
//   dv1 = -I1^-1 N lambda,  dv2 = I2^-1 N lambda
//
// n points from body 1 to body 2. The sticking form assumes that friction stops the sliding before the contact ends,
// and that there is no torsional friction and no tangential restitution. The caller must check if Coulomb's law allows
// this: |lambda_t| <= mu lambda_n. contact_impulse.h has the general case. All quantities are in one frame, about its
// origin.
//
// Rigid impacts are a model that ignores waves and the compliance of bearings (caution after RBDA (11.59)).
#pragma once
#include "core/spatial/transform.h"

namespace featherstorm {

// Inverse of a rigid body's inertia: 1/m, centre of mass, inverse of the rotational inertia about it. All zero for a
// body that cannot move.
template <class T> struct InverseInertia {
  T m;
  Vec3<T> c;
  Sym3<T> I;
};
template <class T> FS_HD InverseInertia<T> immovable() {
  const T o(0.0);
  return {o, zero3<T>(), {o, o, o, o, o, o}};
}
template <class T> FS_HD Sym3<T> inverse(const Sym3<T>& s) {
  const T xx = s.yy * s.zz - s.yz * s.yz, xy = s.xz * s.yz - s.xy * s.zz, xz = s.xy * s.yz - s.xz * s.yy;
  const T k = rcp(s.xx * xx + s.xy * xy + s.xz * xz);
  return {xx * k,
          xy * k,
          xz * k,
          (s.xx * s.zz - s.xz * s.xz) * k,
          (s.xy * s.xz - s.xx * s.yz) * k,
          (s.xx * s.yy - s.xy * s.xy) * k};
}
// in  J  inertia of a body with mass > 0
template <class T> FS_HD InverseInertia<T> inverse(const RigidBodyInertia<T>& J) {
  const T k = rcp(J.m);
  const Vec3<T> c = J.h * k;
  // Ibar = Ic + m c× c×^T
  const T xx = c.x() * J.h.x(), yy = c.y() * J.h.y(), zz = c.z() * J.h.z();
  const Sym3<T> Ic{J.I.xx - (yy + zz), J.I.xy + c.x() * J.h.y(), J.I.xz + c.x() * J.h.z(),
                   J.I.yy - (xx + zz), J.I.yz + c.y() * J.h.z(), J.I.zz - (xx + yy)};
  return {k, c, inverse(Ic)};
}
// I^-1 f
template <class T> FS_HD Motion<T> operator*(const InverseInertia<T>& J, const Force<T>& f) {
  const Vec3<T> w = J.I * (f.n - cross(J.c, f.f));
  return {w, f.f * J.m + cross(J.c, w)};
}

template <class T> struct Collision {
  Vec3<T> lambda;      // impulse on body 2, normal and tangents [N s]
  Motion<T> dv1, dv2;  // change of the velocities
};

// Collides two bodies without friction. Bodies that already separate (n . (v2 - v1) > 0) are unchanged.
//
// in   I1, I2  inverse inertias;  v1, v2  velocities before
// in   C  the point,  n  unit normal from body 1 to body 2,  e  coefficient of restitution
template <class T>
FS_HD Collision<T> collide(const InverseInertia<T>& I1, const InverseInertia<T>& I2, const Motion<T>& v1,
                           const Motion<T>& v2, const Vec3<T>& C, const Vec3<T>& n, const T& e) {
  const Force<T> N{cross(C, n), n};
  const Motion<T> a1 = I1 * N, a2 = I2 * N;
  const T zeta = min(dot(v2 - v1, N), T(0.0)), lambda = -((e + T(1.0)) * zeta * rcp(dot(a1 + a2, N)));
  return {{lambda, T(0.0), T(0.0)}, -(a1 * lambda), a2 * lambda};
}

// Collides two bodies that stick. Arguments as above; the tangents t and u complete n to orthonormal axes.
template <class T>
FS_HD Collision<T> collide_sticking(const InverseInertia<T>& I1, const InverseInertia<T>& I2, const Motion<T>& v1,
                                    const Motion<T>& v2, const Vec3<T>& C, const Vec3<T>& n, const Vec3<T>& t,
                                    const Vec3<T>& u, const T& e) {
  const Force<T> N[3] = {{cross(C, n), n}, {cross(C, t), t}, {cross(C, u), u}};
  const Motion<T> v = v2 - v1;
  const T zero(0.0), zeta = dot(v, N[0]);
  Motion<T> a1[3], a2[3];
  for (int i = 0; i < 3; i++) a1[i] = I1 * N[i], a2[i] = I2 * N[i];
  auto M = [&](int i, int j) { return dot(a1[j] + a2[j], N[i]); };
  const Sym3<T> Phi = inverse(Sym3<T>{M(0, 0), M(0, 1), M(0, 2), M(1, 1), M(1, 2), M(2, 2)});
  const Vec3<T> b{-((e + T(1.0)) * zeta), -dot(v, N[1]), -dot(v, N[2])};
  Vec3<T> lambda = Phi * b;
  const auto parts = zero < zeta;
  for (int i = 0; i < 3; i++) lambda(i) = select(parts, zero, lambda(i));
  Collision<T> c{lambda, zero_motion<T>(), zero_motion<T>()};
  for (int i = 0; i < 3; i++) c.dv1 = c.dv1 - a1[i] * lambda(i), c.dv2 = c.dv2 + a2[i] * lambda(i);
  return c;
}

}  // namespace featherstorm
